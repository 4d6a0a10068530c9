package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"deed.example/deed"
)

const (
	leastAhead = 30 * time.Second // less would expire while we settle
	mostAhead  = 65 * time.Minute // some clients sign an hour, and clocks differ
)

// Check implements deed.Settler. One call asks the chain for its clock, for what
// the payer has, for what became of the nonce, and for what the transfer itself
// would do. The last is the honest answer: it knows wallets made of code, black
// lists, and all that we do not.
func (s *Settler) Check(ctx context.Context, a deed.Authorization) error {
	auth, err := read(a)
	if err != nil {
		return err
	}
	if err := s.checkForm(auth); err != nil {
		return err
	}
	questions := pack(batchABI, "aggregate3", []member{
		{s.Multicall, true, pack(batchABI, "getCurrentBlockTimestamp")},
		{s.USDC, true, pack(tokenABI, "authorizationState", auth.from, auth.nonce)},
		{s.USDC, true, pack(tokenABI, "balanceOf", auth.from)},
		{s.USDC, true, auth.call()},
	})
	answers, err := s.askBatch(ctx, questions, contractGas, "latest")
	if err != nil {
		return fmt.Errorf("check the payment of %s: %w", a.Payer, err)
	}
	var numbers [3]*big.Int // time, state, balance
	for i := range numbers {
		if numbers[i], err = answers[i].number(); err != nil {
			return fmt.Errorf("check the payment of %s: %w", a.Payer, err)
		}
	}
	if err := checkTime(a, numbers[0].Int64()); err != nil {
		return err
	}
	if numbers[1].Sign() != 0 {
		return invalid("it was used or cancelled before")
	}
	return checkTransfer(a, answers[3], numbers[2])
}

// checkTime judges the window by the chain's clock.
func checkTime(a deed.Authorization, now int64) error {
	switch {
	case a.ValidAfter >= now:
		return invalid("it is not valid yet")
	case a.ValidBefore <= now:
		return invalid("it has expired")
	case a.ValidBefore < now+int64(leastAhead/time.Second):
		return invalid("it expires too soon: sign at least %d seconds ahead", leastAhead/time.Second)
	case a.ValidBefore > now+int64(mostAhead/time.Second):
		return invalid("it expires too late: sign at most %d minutes ahead", mostAhead/time.Minute)
	}
	return nil
}

// checkTransfer reads why the transfer would fail, in the words of the token.
func checkTransfer(a deed.Authorization, o outcome, balance *big.Int) error {
	if o.Success {
		return nil
	}
	reason := o.reason()
	has := func(part string) bool { return strings.Contains(reason, part) }
	switch {
	case has("paused"):
		return errors.New("the token is paused by its issuer")
	case has("blacklisted"):
		return invalid("the issuer of USDC has barred the wallet")
	case has("used or canceled"):
		return invalid("it was used or cancelled before")
	case has("expired"):
		return invalid("it has expired")
	case has("not yet valid"):
		return invalid("it is not valid yet")
	case has("signature"):
		return invalid("its signature is not the payer's")
	case balance.Cmp(big.NewInt(int64(a.Amount))) < 0:
		return deed.Errorf(deed.CodePaymentInsufficient, "the wallet %s has %s USDC, and %s are asked",
			a.Payer, deed.USDC(balance.Int64()), a.Amount)
	}
	return invalid("the chain refuses the transfer")
}
