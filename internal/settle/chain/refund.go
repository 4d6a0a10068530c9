package chain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/settle"
)

// refundPrefix returns the first part of the preimage of a refund's nonce.
func refundPrefix(label string) []byte {
	if label == "" {
		return crypto.Keccak256([]byte("deed refund"))
	}
	return crypto.Keccak256([]byte("deed refund " + label))
}

// refundValidBefore is the end of a refund's authorization, in 2106. A refund
// stays due until it is paid, and the nonce makes it payable once.
const refundValidBefore = math.MaxUint32

// RefundNonce returns the nonce of the authorization that a refund is made by.
// It is derived from what the payer signed, and from nothing of ours, so that the
// token itself forbids to pay it twice, whatever our database remembers:
//
//	keccak256(keccak256("deed refund") || chain id || token || payer || payer's nonce)
//
// Each part has 32 bytes; the id and the two addresses are padded on the left. The
// refund of a part has its label after "deed refund", separated by a space.
func RefundNonce(label string, chainID uint64, token, payer common.Address, nonce common.Hash) common.Hash {
	return crypto.Keccak256Hash(refundPrefix(label), word(new(big.Int).SetUint64(chainID)),
		common.LeftPadBytes(token[:], 32), common.LeftPadBytes(payer[:], 32), nonce[:])
}

// Refund implements settle.Refunder. For a refund that would fail now it returns
// at once, without waiting for the context to end.
func (s *Settler) Refund(ctx context.Context, r settle.Refund) (txHash string, err error) {
	w, err := s.refundWait(ctx, r)
	if err != nil {
		return "", fmt.Errorf("refund %s: %w", r.PaymentID, err)
	}
	return s.refunds.await(ctx, w)
}

// refundWait signs the authorization of a refund. Signing it does not commit us:
// the nonce can be used once, and the signature is stored before it is sent.
func (s *Settler) refundWait(ctx context.Context, r settle.Refund) (*wait, error) {
	if r.Amount <= 0 || !isWallet(r.Payer) || !slices.Contains(settle.RefundLabels, r.Label) {
		return nil, fmt.Errorf("a refund of %d to %q is invalid", r.Amount, r.Payer)
	}
	payer := addressOf(r.Payer)
	nonce, err := parseNonce(r.Nonce)
	if err != nil {
		return nil, err
	}
	if payer == s.refundWallet() {
		return nil, errors.New("the refund wallet cannot pay itself")
	}
	auth := &authorization{
		Authorization: settle.Authorization{Asset: s.Network.Asset(), Payer: walletAt(s.refundWallet()), PayTo: r.Payer, Amount: r.Amount, ValidBefore: refundValidBefore},
		from:          s.refundWallet(), to: payer, nonce: RefundNonce(r.Label, s.Network.ChainID, s.token, payer, nonce),
	}
	if auth.sig, err = s.RefundSigner.SignTypedData(ctx, auth.typedData(s.Network.Domain())); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if !auth.signedByKey(s.Network.Domain()) {
		return nil, fmt.Errorf("the signer of %s returned a signature of another key", s.RefundSigner.Address())
	}
	purpose := strings.TrimSuffix(fmt.Sprintf("refund %x %s %s %s", s.token, r.Payer, r.Nonce, r.Label), " ")
	return &wait{key: fmt.Sprintf("%s %d %s", purpose, r.Amount, r.PaymentID), purpose: purpose, amount: r.Amount, auth: auth, refund: r}, nil
}

// refund sets the outcome of the refunds that the final block shows, and signs
// transactions for the others.
func (l *lane) refund(ctx context.Context, v *view, refunds []*wait) (signed bool, err error) {
	own, err := l.s.wallets(ctx)
	if err != nil {
		return false, err
	}
	payers, err := l.paidBy(ctx, v, refunds, own.refunds)
	if err != nil {
		return false, err
	}
	var pending []*transferAttempt
	for i, w := range refunds {
		if payers[i] != nil {
			note(l.proveRefund(ctx, v, w, *payers[i]), w)
			continue
		}
		w.low = withReorgMargin(v.final)
		t, err := l.nextRefundAttempt(ctx, v, w)
		note(err, w)
		if t != nil {
			pending = append(pending, t)
		}
	}
	return l.planRefunds(ctx, v, pending, own.refunds)
}

// paidBy returns, for each refund, which of our wallets has used its nonce in the
// final block. It may be an earlier wallet.
func (l *lane) paidBy(ctx context.Context, v *view, refunds []*wait, wallets []common.Address) ([]*common.Address, error) {
	payers := make([]*common.Address, len(refunds))
	for _, wallet := range wallets {
		var nonces []scanKey
		for _, w := range refunds {
			nonces = append(nonces, scanKey{wallet, w.auth.nonce})
		}
		used, err := l.states(ctx, v, nonces)
		if err != nil {
			return nil, err
		}
		for i := range refunds {
			if used[i] {
				payers[i] = &wallet
			}
		}
	}
	return payers, nil
}

// proveRefund sets the outcome of a refund whose nonce is used in the final
// block.
func (l *lane) proveRefund(ctx context.Context, v *view, w *wait, wallet common.Address) error {
	payee := []common.Address{w.auth.to}
	hash, err := l.ownProof(ctx, v, v.sent[w.purpose], func(r *receipt) bool { return l.s.spends(r, wallet, w.auth.nonce, w.amount, payee) })
	if err == nil && hash != "" {
		l.resolve(w, hash, nil)
		return nil
	}
	u, err := l.spentOn(ctx, wallet, w.auth.nonce, 0, v.final, payee)
	if err != nil {
		return err
	}
	if !u.paid(w.amount, payee) {
		l.resolve(w, "", fmt.Errorf("%s: transaction %s has used its nonce for %s to %s: investigate it", w.purpose, u.txHash, u.amount, walletAt(u.to)))
		return nil
	}
	l.resolve(w, u.txHash, nil)
	return nil
}

// nextRefundAttempt returns the next attempt of a refund whose nonce is unused,
// or nil when there is nothing to sign.
func (l *lane) nextRefundAttempt(ctx context.Context, v *view, w *wait) (*transferAttempt, error) {
	if w.refund.Label == "" { // no part was ever refunded by a plain transfer
		if done, err := l.finishTransfer(ctx, v, w); done || err != nil {
			return nil, err
		}
	}
	sent := v.sent[w.purpose]
	where, err := l.progressOf(ctx, v, sent)
	if err != nil {
		return nil, err
	}
	if where == neverSent {
		return &transferAttempt{wait: w, attempt: 1, plain: true}, nil
	}
	last := sent[len(sent)-1]
	if where == inFlight {
		w.again = l.s.Now().Add(2 * l.s.Network.BlockTime)
		return nil, fmt.Errorf("%w: transaction %s is not final yet", errWaiting, last.Hash)
	}
	if ok, at := l.due(last); !ok {
		w.again = at
		return nil, fmt.Errorf("%w: transaction %s did not pay it, and it is retried at %s", errWaiting, last.Hash, at.UTC())
	}
	return &transferAttempt{wait: w, attempt: last.Attempt + 1, plain: true}, nil
}

// planRefunds signs transactions for refunds, with many in each. A refund that
// would fail does not affect the others.
func (l *lane) planRefunds(ctx context.Context, v *view, pending []*transferAttempt, wallets []common.Address) (signed bool, err error) {
	pending, err = l.unpaid(ctx, v, onePerPurpose(pending), wallets)
	if err == nil {
		pending, err = l.onlyRefunds(ctx, v, pending, wallets)
	}
	if err != nil {
		return false, err
	}
	fails := func(w *wait, reason string) {
		l.resolve(w, "", fmt.Errorf("%s: the refund would fail now: %s", w.purpose, reason))
	}
	attempts := map[int][]*transferAttempt{}
	for _, t := range pending {
		attempts[t.attempt] = append(attempts[t.attempt], t)
	}
	for _, group := range attempts {
		for some := range slices.Chunk(group, maxBatch) {
			ok, err := l.signAttempts(ctx, some, fails)
			if err != nil {
				return signed, err
			}
			signed = signed || ok
		}
	}
	return signed, nil
}

// unpaid skips the refunds that one of our wallets has paid in a block that is
// not final yet.
func (l *lane) unpaid(ctx context.Context, v *view, pending []*transferAttempt, wallets []common.Address) ([]*transferAttempt, error) {
	if len(pending) == 0 || v.final == uint64(v.head.Number) {
		return pending, nil
	}
	var waits []*wait
	for _, t := range pending {
		waits = append(waits, t.wait)
	}
	latest := *v
	latest.final = uint64(v.head.Number)
	payers, err := l.paidBy(ctx, &latest, waits, wallets)
	if err != nil {
		return nil, err
	}
	var left []*transferAttempt
	for i, t := range pending {
		if payers[i] != nil {
			note(fmt.Errorf("%w: it is paid, and not final yet", errWaiting), t.wait)
			continue
		}
		left = append(left, t)
	}
	return left, nil
}
