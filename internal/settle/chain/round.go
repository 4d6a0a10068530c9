package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

const (
	maxStates = 3 * maxBatch    // in one call
	stateGas  = 30_000          // to read one
	maxPause  = 1 * time.Minute // between two attempts
)

// round advances every wait by one step. It returns the newest block, and whether
// it sent something, so that it is worth running the next round at once.
func (l *lane) round(ctx context.Context) (head *block, sent bool) {
	waits := l.snapshot()
	l.current = &roundState{prepared: l.prepare(ctx, waits), mined: map[common.Address]uint64{}}
	defer l.current.prepared.ready() // no read outlives its round
	head, err := l.c.block(ctx, "latest")
	if err != nil {
		note(fmt.Errorf("read the newest block: %w", err), waits...)
		l.publish(ctx, waits, nil)
		return nil, false
	}
	l.s.feeCache.observeHead(head)
	groups := map[uint64][]*wait{} // by the required depth
	for _, w := range waits {
		if w.seen != head.Hash || !w.again.IsZero() && !l.s.Now().Before(w.again) {
			groups[l.s.Network.Finality.Depth(w.amount)] = append(groups[l.s.Network.Finality.Depth(w.amount)], w)
			w.found, w.again = nil, time.Time{}
		}
	}
	for depth, group := range groups {
		signed, err := l.advanceGroup(ctx, head, depth, group)
		note(err, group...)
		sent = sent || signed && err == nil
		for _, w := range group {
			if errors.Is(w.found, errWaiting) || w.found == nil {
				w.seen = head.Hash
			}
		}
	}
	err = l.endSending(ctx)
	// Signed transactions are sent until they are mined, also after an error above. Those
	// that nobody waits for are sent by Tick.
	if l.current.blocked || slices.ContainsFunc(waits, l.mayBeUnsent) {
		err = errors.Join(err, l.push(ctx, l.current.mined))
	}
	if sent {
		l.s.step("after send")
	}
	l.publish(ctx, waits, err)
	return head, sent && ctx.Err() == nil
}

// snapshot returns the current waits, including all that joined until now.
func (l *lane) snapshot() (waits []*wait) {
	select {
	case <-l.joined:
	default:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.waiting {
		waits = append(waits, w)
	}
	return waits
}

// publish makes the reasons of this round visible to callers whose context ends.
func (l *lane) publish(ctx context.Context, waits []*wait, err error) {
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range waits {
		w.cause = errors.Join(w.found, err)
	}
}

// advanceGroup runs a round for the waits of one depth.
func (l *lane) advanceGroup(ctx context.Context, head *block, depth uint64, group []*wait) (signed bool, err error) {
	final, err := l.finalNumber(ctx, head, depth)
	if err != nil {
		return false, fmt.Errorf("find the final block: %w", err)
	}
	v := &view{head: head, final: final, receipts: map[string]*receipt{}, counts: map[deed.Wallet]uint64{}, failures: map[string]progress{}}
	l.readOwnReceipts(ctx, v, group)
	group = slices.DeleteFunc(slices.Clone(group), func(w *wait) bool { return l.proveLast(ctx, v, w) })
	if len(group) == 0 {
		return false, ctx.Err()
	}
	if v.sent, err = l.readSent(ctx, group); err != nil {
		return false, err
	}
	for len(group) > 0 && ctx.Err() == nil {
		n := min(len(group), maxStates)
		some, err := l.advance(ctx, v, group[:n])
		if err != nil {
			return signed, err
		}
		signed, group = signed || some, group[n:]
	}
	return signed, ctx.Err()
}

// states reads the states of nonces in the final block.
func (r *reader) states(ctx context.Context, v *view, nonces []scanKey) (used []bool, err error) {
	var members []batchCall
	for _, n := range nonces {
		members = append(members, batchCall{r.s.token, true, pack(tokenABI, "authorizationState", n.owner, n.nonce)})
	}
	q := callMsg{to: r.s.multicall, gas: stateGas * uint64(len(members)+1)}
	results, err := r.c.callBatch(ctx, q, members, number(v.final))
	if err != nil {
		return nil, fmt.Errorf("read the states of nonces: %w", err)
	}
	for _, a := range results {
		n, err := a.number()
		if err != nil {
			return nil, fmt.Errorf("read the states of nonces: %w", err)
		}
		used = append(used, n.Sign() != 0)
	}
	return used, nil
}

// errWaiting is wrapped by reasons that go away with time.
var errWaiting = errors.New("waiting for the chain")

// progress is how far our transactions for a purpose have come.
type progress int

const (
	neverSent progress = iota
	abandoned          // no process signs for it any more
	inFlight           // our transaction may still be mined
	failed             // our transaction is final and did not make the transfer
	starved            // likewise, and it had no gas left for all of its transfers
	displaced          // a foreign transaction has our nonce
)

// progressOf returns the progress of a purpose whose nonce is unused in the final
// block.
func (r *reader) progressOf(ctx context.Context, v *view, sent []settle.Transaction) (progress, error) {
	if len(sent) == 0 {
		return neverSent, nil
	}
	last := sent[len(sent)-1]
	if last.Hash == "" {
		return abandoned, nil
	}
	if r.s.Now().Before(last.SignedAt.Add(min(1+v.depth(), 8) * r.s.Network.BlockTime)) {
		return inFlight, nil // it cannot be final yet: save the request
	}
	n, err := r.countOf(ctx, v, last.From)
	if err != nil || last.Nonce >= n {
		return inFlight, err
	}
	for _, t := range sent {
		if t.Attempt != last.Attempt {
			continue
		}
		found, err := r.receiptOf(ctx, v, t.Hash)
		if err != nil {
			return inFlight, err
		}
		if found != nil {
			return r.failure(ctx, v, t, found)
		}
	}
	return displaced, nil
}

// withReorgMargin returns a lower block, because a reorganisation may replace the
// blocks between them.
func withReorgMargin(n uint64) uint64 {
	const margin = 64
	if n < margin {
		return 0
	}
	return n - margin
}

// retryDelay returns how long to wait before the next attempt.
func retryDelay(attempt int) time.Duration {
	return min(time.Second<<min(attempt, 10), maxPause)
}
