package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
)

const (
	minValidity = 30 * time.Second // less would expire while we settle
	maxValidity = 65 * time.Minute // some clients sign an hour, and clocks differ
)

// Check implements settle.Verifier. The transfer is simulated with the fees and the
// sender that we would use. The simulation is authoritative: it covers contract wallets,
// blacklists and every other rule of the token.
//
// When it succeeds, nothing else needs to be read for a payer without other open
// payments. Otherwise one batched call reads the chain's time, the payer's balance and
// the states of the open nonces, and simulates the transfer.
func (s *Settler) Check(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	auth, err := s.parseAuthorization(a)
	if err != nil {
		return settle.Funds{}, err
	}
	if err := s.checkForm(auth); err != nil {
		return settle.Funds{}, err
	}
	if err := s.Client.canDecide(); err != nil {
		return settle.Funds{}, checkError(auth, err)
	}
	// Our clock does not decide what is refused, but whether the chain's time is read.
	if len(open) == 0 && auth.deploy == nil && checkTime(a, s.Now().Unix()) == nil {
		if ok, err := s.succeeds(ctx, auth); ok || err != nil {
			return settle.Funds{Balance: a.Amount}, err
		}
	}
	return s.check(ctx, auth, open, checkTime)
}

// succeeds reports whether the transfer would succeed now, but not why not.
func (s *Settler) succeeds(ctx context.Context, a *authorization) (bool, error) {
	offer, err := s.reads.fees(ctx)
	if err != nil {
		return false, checkError(a, err)
	}
	q := callMsg{from: s.gasWallet(), to: s.token, data: a.call(), gas: batchGas + contractGas, fees: offer}
	result, err := s.Client.ethCall(ctx, q, "latest")
	if _, refused := errors.AsType[*RemoteError](err); refused && !isBusy(err) {
		return false, nil
	}
	if err != nil {
		return false, checkError(a, err)
	}
	return len(result) == 0, nil // the method returns nothing
}

// check does what Check says, with everything read in one batch; inTime compares the
// validity period with the chain's time.
func (s *Settler) check(ctx context.Context, auth *authorization, open []string, inTime func(a settle.Authorization, now int64) error) (settle.Funds, error) {
	deploy, err := s.deploymentOf(ctx, auth)
	if err != nil {
		return settle.Funds{}, err
	}
	members, err := s.checkCalls(auth, open)
	if err != nil {
		return settle.Funds{}, checkError(auth, err)
	}
	members = append(members, s.simulated(auth, deploy)) // last: it changes what the others would say
	offer, err := s.reads.fees(ctx)
	if err != nil {
		return settle.Funds{}, checkError(auth, err)
	}
	gas := contractGas + stateGas*uint64(len(members))
	if deploy != nil {
		gas += deployGas
	}
	results, err := s.Client.callBatch(ctx, callMsg{from: s.gasWallet(), to: s.multicall, gas: gas, fees: offer}, members, "latest")
	if err != nil {
		return settle.Funds{}, checkError(auth, err)
	}
	last := len(results) - 1
	ok, reason := transferResult(deploy, results[last])
	read, err := readCheck(open, results[:last])
	if err != nil {
		return settle.Funds{}, checkError(auth, err)
	}
	if !ok && read.used {
		return settle.Funds{}, s.evaluateUsed(ctx, auth, read.head)
	}
	if err := inTime(auth.Authorization, read.now); err != nil {
		return settle.Funds{}, err
	}
	if !ok {
		return settle.Funds{}, checkTransfer(auth.Authorization, reason, read.funds.Balance)
	}
	read.funds.Deploys = deploy != nil
	return read.funds, nil
}

func checkError(a *authorization, err error) error {
	return fmt.Errorf("check the payment of %s: %w", a.Payer, err)
}

// checkCalls returns the calls that a check makes before it simulates the transfer.
func (s *Settler) checkCalls(a *authorization, open []string) ([]batchCall, error) {
	calls := []batchCall{
		{s.multicall, true, pack(batchABI, "getCurrentBlockTimestamp")},
		{s.multicall, true, pack(batchABI, "getBlockNumber")},
		{s.token, true, pack(tokenABI, "balanceOf", a.from)},
		{s.token, true, pack(tokenABI, "authorizationState", a.from, a.nonce)},
	}
	for _, text := range open {
		nonce, err := parseNonce(text)
		if err != nil {
			return nil, err
		}
		calls = append(calls, batchCall{s.token, true, pack(tokenABI, "authorizationState", a.from, nonce)})
	}
	return calls, nil
}

// checkResults is what checkCalls read.
type checkResults struct {
	now   int64  // the chain's time
	head  uint64 // the number of the chain's last block
	used  bool   // the authorization is used or cancelled
	funds settle.Funds
}

// readCheck reads the results of checkCalls.
func readCheck(open []string, results []callResult) (r checkResults, err error) {
	numbers := make([]*big.Int, len(results))
	for i := range numbers {
		if numbers[i], err = results[i].number(); err != nil {
			return r, err
		}
	}
	r = checkResults{now: numbers[0].Int64(), head: numbers[1].Uint64(), used: numbers[3].Sign() != 0}
	r.funds = settle.Funds{Balance: toUSDC(numbers[2]), Used: map[string]bool{}}
	for i, nonce := range open {
		if numbers[4+i].Sign() != 0 {
			r.funds.Used[nonce] = true
		}
	}
	return r, nil
}

// evaluateUsed returns the error for an authorization that was used before we
// received it.
func (s *Settler) evaluateUsed(ctx context.Context, a *authorization, head uint64) error {
	own, err := s.wallets(ctx)
	if err != nil {
		return err
	}
	u, err := s.reads.spentOn(ctx, a.from, a.nonce, 0, head, own.treasuries)
	switch {
	case err != nil:
		return fmt.Errorf("find what the nonce of %s was used for: %w", a.Payer, err)
	case u.paid(a.Amount, own.treasuries):
		return fmt.Errorf("transaction %s: %w", u.txHash, settle.ErrAlreadyPaid)
	case u.cancelled:
		return spentError("it was cancelled before")
	}
	return spentError("its nonce was used for another transfer before")
}

// toUSDC returns a balance as USDC, and the largest amount for one that does not
// fit.
func toUSDC(n *big.Int) deed.USDC {
	if !n.IsInt64() {
		return network.AnyAmount
	}
	return deed.USDC(n.Int64())
}

// checkTime compares the validity period with the chain's time.
func checkTime(a settle.Authorization, now int64) error {
	switch {
	case a.ValidAfter >= now:
		return invalidFor(settle.ErrNotYet, "it is not valid yet")
	case a.ValidBefore <= now:
		return invalidFor(settle.ErrValidBefore, "it has expired")
	case a.ValidBefore < now+int64(minValidity/time.Second):
		return invalidFor(settle.ErrValidBefore, "it expires too soon: sign at least %d seconds ahead", minValidity/time.Second)
	case a.ValidBefore > now+int64(maxValidity/time.Second):
		return invalidFor(settle.ErrValidBefore, "it expires too late: sign at most %d minutes ahead", maxValidity/time.Minute)
	}
	return nil
}

// checkTransfer returns why the simulated transfer failed, from the token's
// revert reason.
func checkTransfer(a settle.Authorization, reason string, balance deed.USDC) error {
	has := func(part string) bool { return strings.Contains(reason, part) }
	switch {
	case has("paused"):
		return errors.New("the token is paused by its issuer")
	case has("blacklisted"):
		return invalid("the issuer of USDC has barred the wallet")
	case has("used or canceled"):
		return invalid("it was used or cancelled before")
	case has("expired"):
		return invalidFor(settle.ErrValidBefore, "it has expired")
	case has("not yet valid"):
		return invalidFor(settle.ErrNotYet, "it is not valid yet")
	case has("deploy"):
		return invalid("%s", reason)
	case has("signature"):
		return invalidFor(settle.ErrSignature, "its signature is not the payer's")
	case balance < a.Amount:
		none := &deed.Error{Code: deed.CodePaymentInsufficient, Message: fmt.Sprintf("the wallet %s has %s USDC, and the price is %s", a.Payer, balance, a.Amount)}
		if has("exceeds balance") { // the token checks everything else before
			none.Err = settle.ErrNoFunds
		}
		return none
	}
	return invalid("the chain refuses the transfer")
}
