package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// maxAttempts limits how often one payment is sent when foreign transactions take
// our nonces.
const maxAttempts = 5

// Settle implements settle.Settler.
func (s *Settler) Settle(ctx context.Context, a settle.Authorization) (txHash string, err error) {
	auth, err := s.parseForTreasury(ctx, a)
	if err != nil {
		return "", err
	}
	purpose := auth.purpose(s.token)
	// Two payments signed with one nonce are two waits, of which one can be settled.
	key := fmt.Sprintf("%s %x %x %s", purpose, auth.typedData(s.Network.Domain()).Digest(), auth.sig, auth.deploy)
	return s.payments.await(ctx, &wait{key: key, purpose: purpose, amount: a.Amount, auth: auth})
}

// parseForTreasury parses an authorization that pays to a treasury that we use or
// have used.
func (s *Settler) parseForTreasury(ctx context.Context, a settle.Authorization) (*authorization, error) {
	auth, err := s.parseAuthorization(a)
	if err != nil {
		return nil, err
	}
	if a.Asset != s.Network.Asset() {
		// Not a refusal: the money may have moved on that chain.
		return nil, fmt.Errorf("settle the payment of %s: it is on chain %d with the token %s, and this is %s", a.Payer, a.Asset.ChainID, a.Asset.Token, s.Network.CAIP2())
	}
	isOurs, err := s.isTreasury(ctx, auth.to)
	if err != nil {
		return nil, err
	}
	if !isOurs || auth.from == auth.to {
		// Not a refusal: a node with a new treasury may start later.
		return nil, fmt.Errorf("settle %s of %s: it pays to %s, which is not one of our treasuries", a.Nonce, a.Payer, a.PayTo)
	}
	return auth, nil
}

// Abandon implements settle.Abandoner.
func (s *Settler) Abandon(ctx context.Context, a settle.Authorization) error {
	auth, err := s.parseForTreasury(ctx, a)
	if err != nil {
		return err
	}
	purpose := auth.purpose(s.token)
	sent, err := s.Store.Sent(ctx, walletAt(s.gasWallet()), []string{purpose})
	if err != nil {
		return err
	}
	attempt := 1
	if all := sent.For[purpose]; len(all) > 0 {
		last := all[len(all)-1]
		if last.Hash == "" {
			return nil // it is abandoned already
		}
		attempt = last.Attempt + 1
		if err := s.reads.cannotMove(ctx, auth, last); err != nil {
			return fmt.Errorf("abandon %s: %w", purpose, err)
		}
	}
	return s.Store.Abandon(ctx, purpose, attempt)
}

// cannotMove fails unless our last transaction for a payment is final and has not
// moved the money.
func (r *reader) cannotMove(ctx context.Context, a *authorization, last settle.Transaction) error {
	head, err := r.c.block(ctx, "latest")
	if err != nil {
		return err
	}
	final, err := r.finalNumber(ctx, head, r.s.Network.Finality.Depth(a.Amount))
	if err != nil {
		return err
	}
	v := &view{head: head, final: final, counts: map[deed.Wallet]uint64{}}
	n, err := r.countOf(ctx, v, last.From)
	if err != nil {
		return err
	}
	if last.Nonce >= n {
		return fmt.Errorf("transaction %s may still be mined", last.Hash)
	}
	used, err := r.states(ctx, v, []scanKey{{a.from, a.nonce}})
	if err != nil {
		return err
	}
	if used[0] {
		return errors.New("its nonce is used: settle it to learn the outcome")
	}
	return nil
}

// pay sets the outcome of the payments that the final block decides, and signs
// transactions for the others that need one.
func (l *lane) pay(ctx context.Context, v *view, payments []*wait) (signed bool, err error) {
	used, err := l.used(ctx, v, payments)
	if err != nil {
		return false, err
	}
	var pending []*transferAttempt
	for _, w := range payments {
		expired, err := l.hasPassed(ctx, v, w.auth.ValidBefore)
		switch {
		case used[w]:
			note(l.prove(ctx, v, w), w)
		case err != nil:
			note(err, w)
		case expired:
			// Block times never decrease, so the token accepts it in no later block.
			l.resolve(w, "", invalid("it expired before it was settled"))
		default:
			if _, read := used[w]; read {
				w.low = withReorgMargin(v.final)
			}
			t, err := l.nextAttempt(ctx, v, w)
			note(err, w)
			if t != nil {
				pending = append(pending, t)
			}
		}
	}
	return l.plan(ctx, pending)
}

// proveLast sets the outcome of a payment that the last transaction of this process for it has
// settled in the final block, and reports whether it has. If not, or if this process has
// signed none, the store and the chain decide.
func (l *lane) proveLast(ctx context.Context, v *view, w *wait) bool {
	return l.mayBeFinal(v, w) && l.proveOwn(ctx, v, w, []settle.Transaction{w.own})
}

// mayBeFinal reports whether the transaction that this process signed last for a payment
// may be in the final block.
func (l *lane) mayBeFinal(v *view, w *wait) bool {
	return w.own.Hash != "" && w.refund.PaymentID == "" && !l.s.Now().Before(w.own.SignedAt.Add((v.depth()-1)*l.s.Network.BlockTime))
}

// readOwnReceipts reads the receipts that proveLast needs for the waits.
func (l *lane) readOwnReceipts(ctx context.Context, v *view, waits []*wait) {
	var hashes []string
	for _, w := range waits {
		if l.mayBeFinal(v, w) && !slices.Contains(hashes, w.own.Hash) {
			hashes = append(hashes, w.own.Hash)
		}
	}
	l.readReceipts(ctx, v, hashes)
}

// proveOwn sets the outcome of a payment that one of our transactions has settled in the
// final block, and reports whether one has.
func (l *lane) proveOwn(ctx context.Context, v *view, w *wait, sent []settle.Transaction) bool {
	hash, err := l.ownProof(ctx, v, sent, func(r *receipt) bool {
		return l.s.spends(r, w.auth.from, w.auth.nonce, w.amount, l.s.own.Load().treasuries)
	})
	if err != nil || hash == "" {
		return false
	}
	l.resolve(w, hash, nil)
	return true
}

// used returns which payments have a used nonce in the final block. It is not read for
// one that we have not sent: the simulation shows whether it can be.
func (l *lane) used(ctx context.Context, v *view, payments []*wait) (map[*wait]bool, error) {
	var nonces []scanKey
	var asked []*wait
	for _, w := range payments {
		if len(v.sent[w.purpose]) > 0 || w.used || int64(v.head.Time) >= w.auth.ValidBefore {
			nonces = append(nonces, scanKey{w.auth.from, w.auth.nonce})
			asked = append(asked, w)
		}
	}
	used := map[*wait]bool{}
	if len(asked) == 0 {
		return used, nil
	}
	states, err := l.states(ctx, v, nonces)
	if err != nil {
		return nil, err
	}
	for i, w := range asked {
		used[w] = states[i]
	}
	return used, nil
}

// prove sets the outcome of a payment whose nonce is used in the final block: by
// our transaction, by a third party's, or for something else.
func (l *lane) prove(ctx context.Context, v *view, w *wait) error {
	if l.proveOwn(ctx, v, w, v.sent[w.purpose]) {
		return nil
	}
	treasuries := l.s.own.Load().treasuries
	u, err := l.spentOn(ctx, w.auth.from, w.auth.nonce, w.low, v.final, treasuries)
	if err != nil {
		return err
	}
	switch {
	case u.cancelled:
		l.resolve(w, "", invalid("the payer cancelled it"))
	case u.paid(w.amount, treasuries):
		l.resolve(w, u.txHash, nil)
	default:
		l.resolve(w, "", invalid("its nonce was spent on another transfer"))
	}
	return nil
}

// nextAttempt returns the next attempt of a payment whose nonce is unused, or nil
// when there is nothing to sign.
func (l *lane) nextAttempt(ctx context.Context, v *view, w *wait) (*transferAttempt, error) {
	sent := v.sent[w.purpose]
	where, err := l.progressOf(ctx, v, sent)
	if err != nil {
		return nil, err
	}
	switch where {
	case neverSent:
		return &transferAttempt{wait: w, attempt: 1}, nil
	case abandoned:
		l.resolve(w, "", fmt.Errorf("%s was abandoned: %w", w.purpose, settle.ErrUnsettleable))
		return nil, nil
	case inFlight:
		last := sent[len(sent)-1]
		w.again = l.s.Now().Add(2 * l.s.Network.BlockTime)
		return nil, fmt.Errorf("%w: transaction %s is not final yet", errWaiting, last.Hash)
	case failed:
		l.resolve(w, "", fmt.Errorf("%s: %w", w.purpose, settle.ErrReverted))
		return nil, nil
	case starved:
		w.alone, w.reverted = true, true
	}
	last := sent[len(sent)-1]
	if last.Attempt >= maxAttempts {
		l.resolve(w, "", fmt.Errorf("%s: foreign transactions took its nonce %d times: %w", w.purpose, last.Attempt, settle.ErrUnsettleable))
		return nil, nil
	}
	return &transferAttempt{wait: w, attempt: last.Attempt + 1}, nil
}

// stuck sets the outcome of a payment that would fail now and that is in no
// transaction of ours.
func (l *lane) stuck(w *wait, reason string) {
	if reason == "" {
		reason = "the chain gives no reason"
	}
	outcome := settle.ErrUnsettleable
	if w.reverted {
		outcome = settle.ErrReverted
	}
	l.resolve(w, "", fmt.Errorf("%s: %s: %w", w.purpose, reason, outcome))
}

// due reports whether the delay after the last attempt is over.
func (l *lane) due(last settle.Transaction) (bool, time.Time) {
	at := last.SignedAt.Add(retryDelay(last.Attempt))
	return !l.s.Now().Before(at), at
}
