package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/signer"
)

// maxSentAt limits how many transactions we remember as sent.
const maxSentAt = 4096

// maxVersions limits how many versions of one transaction there are, each with a higher
// fee: the last fee is eleven times the first.
const maxVersions = 20

// maxFills limits how many nonces are filled at once, because each costs gas: only foreign
// transactions that were dropped leave such nonces.
const maxFills = 1000

// Tick sends every signed transaction that is not mined, and raises the fee of
// those that are stuck. It may be called at any time, by any number of processes,
// because a nonce is mined once. A worker calls it for transactions that no
// caller waits for. It calls the chain only when the store has a transaction that
// is not final.
func (s *Settler) Tick(ctx context.Context) error {
	if _, err := s.wallets(ctx); err != nil {
		return err
	}
	return errors.Join(s.payments.tick(ctx), s.refunds.tick(ctx))
}

// tick sends again what was sent before, and stores which nonces are final.
func (l *lane) tick(ctx context.Context) error {
	err := l.push(ctx, nil)
	for _, from := range l.signers() {
		waiting, storeErr := l.s.Store.Unmined(ctx, walletAt(from), l.finalNonceOf(from))
		if storeErr != nil {
			return errors.Join(err, storeErr)
		}
		if len(waiting) == 0 {
			continue
		}
		final, finalErr := l.lastFinal(ctx)
		if finalErr != nil {
			return errors.Join(err, finalErr)
		}
		n, countErr := l.c.count(ctx, from, number(final))
		if countErr != nil {
			return errors.Join(err, countErr)
		}
		l.setFinalNonce(from, n)
	}
	return err
}

// signers returns the wallets that sign in this lane, or have signed in it.
// Transactions of an earlier wallet are still sent, but their fee cannot be
// raised.
func (l *lane) signers() []common.Address {
	if l.role == roleRefund {
		return l.s.own.Load().refunds
	}
	return l.s.own.Load().gas
}

// push sends the unmined transactions of the lane's wallets. Which transactions
// are mined is read from the chain and never stored, so a reorganisation needs no
// special case: what it dropped is unmined again. mined has the transaction
// counts that this round has read.
func (l *lane) push(ctx context.Context, mined map[common.Address]uint64) error {
	var errs []error
	for _, from := range l.signers() {
		errs = append(errs, l.pushFrom(ctx, from, mined))
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// sendMeanwhile sends what this round has signed in the background, while the round
// simulates and signs more.
func (l *lane) sendMeanwhile(ctx context.Context) {
	if len(l.current.unsent) == 0 || !l.sending.TryLock() {
		return // nothing is signed, or the last ones are still being sent
	}
	list := l.current.unsent
	l.current.unsent = nil
	go func() {
		defer l.sending.Unlock()
		l.sendError = errors.Join(l.sendError, l.deliverAll(ctx, list))
	}()
}

// endSending waits for what sendMeanwhile began, sends the rest, and returns the errors.
func (l *lane) endSending(ctx context.Context) error {
	l.sending.Lock()
	defer l.sending.Unlock()
	err := errors.Join(l.sendError, l.deliverAll(ctx, l.current.unsent))
	l.sendError, l.current.unsent = nil, nil
	return err
}

// deliverAll sends transactions for the first time.
func (l *lane) deliverAll(ctx context.Context, list []settle.Transaction) error {
	var errs []error
	for _, t := range list {
		l.noteSent(t.Hash)
		errs = append(errs, l.deliver(ctx, t.Raw))
	}
	return errors.Join(errs...)
}

// mayBeUnsent reports whether a wait may need a transaction to be sent: all but those that
// were sent for a moment ago.
func (l *lane) mayBeUnsent(w *wait) bool {
	if w.resolved() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, sent := l.sentAt[w.own.Hash]
	return !sent || time.Since(at) >= l.resendAfter()
}

func (l *lane) pushFrom(ctx context.Context, from common.Address, counted map[common.Address]uint64) error {
	mined, known := counted[from]
	final := l.finalNonceOf(from)
	waiting, err := l.s.Store.Unmined(ctx, walletAt(from), max(mined, final))
	if err != nil || !l.anyDue(waiting) {
		return err
	}
	if !known {
		if mined, err = l.c.count(ctx, from, "latest"); err != nil {
			return err
		}
	}
	mined = max(mined, final) // an endpoint may lag behind
	waiting = slices.DeleteFunc(waiting, func(t settle.Transaction) bool { return t.Nonce < mined && l.noteSent(t.Hash) })
	if len(waiting) > 0 && waiting[0].Nonce > mined+maxFills {
		return fmt.Errorf("the chain has %d transactions of %s, and the next one in the database has nonce %d: if that remains, an endpoint has returned a wrong count before: use another wallet", mined, from, waiting[0].Nonce)
	}
	var errs []error
	for next := mined; len(waiting) > 0 && ctx.Err() == nil; next++ {
		if waiting[0].Nonce > next {
			errs = append(errs, l.fill(ctx, from, next))
			continue
		}
		n := 1
		for n < len(waiting) && waiting[n].Nonce == waiting[0].Nonce {
			n++
		}
		errs = append(errs, l.pushOne(ctx, from, waiting[:n]))
		waiting = waiting[n:]
	}
	return errors.Join(errs...)
}

// resendAfter is how long to wait before a transaction is sent again.
func (l *lane) resendAfter() time.Duration { return 3 * l.s.Network.BlockTime }

// anyDue reports whether one of the transactions should be sent, or sent again.
func (l *lane) anyDue(waiting []settle.Transaction) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sentAt) > maxSentAt {
		clear(l.sentAt) // each is sent once more than necessary
	}
	for _, t := range waiting {
		if at, sent := l.sentAt[t.Hash]; !sent || time.Since(at) >= l.resendAfter() {
			return true
		}
	}
	return false
}

func (l *lane) noteSent(hash string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sentAt[hash] = time.Now()
	return true
}

// fill sends an empty transaction to ourselves with the nonce of a foreign
// transaction that was dropped. Nothing above that nonce could be mined
// otherwise.
func (l *lane) fill(ctx context.Context, from common.Address, nonce uint64) error {
	if from != l.address() {
		return fmt.Errorf("nonce %d of %s is missing, and its key is not here", nonce, from)
	}
	offer, err := l.fees(ctx)
	if err != nil {
		return err
	}
	t, err := l.signed(ctx, signer.Transaction{Nonce: nonce, MaxFee: offer.limit, MaxPriorityFee: offer.tip, Gas: 21_000, To: walletAt(from)})
	if err != nil {
		return err
	}
	if err := l.s.Store.StoreReplacement(ctx, t); err != nil {
		return err
	}
	l.s.Log.Warn("a foreign transaction of our wallet was dropped: its nonce is filled", "wallet", from.Hex(), "nonce", nonce)
	return l.deliver(ctx, t.Raw)
}

// pushOne sends the transaction with the highest fee of those that share a nonce.
func (l *lane) pushOne(ctx context.Context, from common.Address, versions []settle.Transaction) error {
	var best *types.Transaction
	last := versions[len(versions)-1]
	for _, t := range versions {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(t.Raw); err != nil {
			return fmt.Errorf("read transaction %s: %w", t.Hash, err)
		}
		if best == nil || tx.GasFeeCap().Cmp(best.GasFeeCap()) > 0 {
			best = tx
		}
		l.noteSent(t.Hash)
	}
	raised := higher(best.GasFeeCap(), new(big.Int))
	stuck := !l.s.Now().Before(last.SignedAt.Add(l.s.BumpAfter))
	if stuck && len(versions) < maxVersions && raised.Cmp(l.s.maxFee()) <= 0 && from == l.address() {
		replacement, err := l.raiseFee(ctx, best)
		if err != nil {
			return fmt.Errorf("raise the fee of %s: %w", best.Hash(), err)
		}
		return l.deliver(ctx, replacement)
	}
	raw, err := best.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encode transaction %s: %w", best.Hash(), err)
	}
	return l.deliver(ctx, raw)
}

// deliver sends a transaction. The response of the endpoint proves nothing, so it
// decides nothing: the logs do. Errors are returned for logging, except for the
// usual ones.
func (l *lane) deliver(ctx context.Context, raw []byte) error {
	err := l.c.send(ctx, raw)
	if e, ok := errors.AsType[*RemoteError](err); ok {
		for _, usual := range []string{"already known", "nonce too low", "underpriced"} {
			if strings.Contains(e.Message, usual) {
				return nil
			}
		}
	}
	if err != nil {
		return fmt.Errorf("send a transaction: %w", err)
	}
	return nil
}

// raiseFee signs the same transaction with a fee that replaces the old one, and
// stores it. Nodes require a tenth more; we offer an eighth.
func (l *lane) raiseFee(ctx context.Context, old *types.Transaction) (raw []byte, err error) {
	offer, err := l.fees(ctx)
	if err != nil {
		return nil, err
	}
	replacement, err := l.signed(ctx, signer.Transaction{
		Nonce: old.Nonce(), Gas: old.Gas(), To: walletAt(*old.To()), Data: old.Data(),
		MaxPriorityFee: higher(old.GasTipCap(), offer.tip), MaxFee: higher(old.GasFeeCap(), offer.limit),
	})
	if err != nil {
		return nil, err
	}
	l.noteSent(replacement.Hash)
	return replacement.Raw, l.s.Store.StoreReplacement(ctx, replacement)
}

// higher returns the wanted fee, but at least an eighth more than the old one.
func higher(old, wanted *big.Int) *big.Int {
	least := new(big.Int).Div(old, big.NewInt(8))
	least.Add(least, old).Add(least, big.NewInt(1))
	if least.Cmp(wanted) > 0 {
		return least
	}
	return wanted
}
