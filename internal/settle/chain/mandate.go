package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// CheckSigned implements settle.MandateVerifier. The transfer cannot be simulated
// before its time, so the signature is checked as the token does it: by the wallet's
// code if it has any (ERC-1271), else by its key.
func (s *Settler) CheckSigned(ctx context.Context, a settle.Authorization) error {
	if err := s.checkAsset(a); err != nil {
		return err
	}
	auth, err := s.parseForTreasury(ctx, a) // a former one is as good
	if err == nil {
		err = checkSignatureForm(auth)
	}
	if err != nil {
		return err
	}
	members := []batchCall{{s.token, true, pack(tokenABI, "authorizationState", auth.from, auth.nonce)}}
	results, err := s.Client.callBatch(ctx, callMsg{from: s.gasWallet(), to: s.multicall, gas: 2 * stateGas}, members, "latest")
	if err != nil {
		return fmt.Errorf("check the mandate of %s: %w", a.Payer, err)
	}
	used, err := results[0].number()
	if err != nil {
		return fmt.Errorf("check the mandate of %s: %w", a.Payer, err)
	}
	if used.Sign() != 0 {
		return spentError("its nonce was used or cancelled before")
	}
	signed, err := s.signedByWallet(ctx, auth)
	if err != nil {
		return fmt.Errorf("check the signature of %s: %w", a.Payer, err)
	}
	if !signed {
		return invalidFor(settle.ErrSignature, "its signature is not the payer's")
	}
	return nil
}

// signedByWallet reports whether the token would accept the signature.
func (s *Settler) signedByWallet(ctx context.Context, a *authorization) (bool, error) {
	code, err := s.Client.hasCode(ctx, []common.Address{a.from})
	if err != nil {
		return false, err
	}
	if code[0] {
		return s.Client.checkContractWallet(ctx, a.Payer, a.typedData(s.Network.Domain()).Digest(), a.sig)
	}
	return a.signedByKey(s.Network.Domain()), nil
}

// CheckDue implements settle.MandateVerifier.
func (s *Settler) CheckDue(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	auth, err := s.parseForTreasury(ctx, a)
	if err != nil {
		return settle.Funds{}, err
	}
	return s.check(ctx, auth, open, checkMandateTime)
}

// checkMandateTime is checkTime for an authorization that may be valid for months.
func checkMandateTime(a settle.Authorization, now int64) error {
	if a.ValidBefore > now+int64(maxValidity.Seconds()) {
		a.ValidBefore = now + int64(maxValidity.Seconds())
	}
	return checkTime(a, now)
}

// spentError refuses an authorization whose nonce is used.
func spentError(message string) error {
	return invalidFor(settle.ErrSpent, "%s", message)
}
