package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

const (
	maxStates = 200             // that one call asks for
	stateGas  = 30_000          // to look at one
	maxPause  = 1 * time.Minute // between two attempts
)

// round brings everything that waits one step on. It reports the newest block,
// and whether it sent something, so that looking again at once is worth while.
func (l *lane) round(ctx context.Context) (head *block, sent bool) {
	waits := l.snapshot()
	l.mined = nil
	head, err := l.c.block(ctx, "latest")
	if err != nil {
		note(fmt.Errorf("look at the chain: %w", err), waits...)
		l.publish(ctx, waits, nil)
		return nil, false
	}
	l.s.feeCache.observeHead(head)
	groups := map[uint64][]*wait{} // by how deep they must lie
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
	// Whatever is signed is sent until it is mined, also after an error above.
	err = l.push(ctx, l.mined)
	if sent {
		l.s.step("after send")
	}
	l.publish(ctx, waits, err)
	return head, sent && ctx.Err() == nil
}

// snapshot returns those who wait. All who have come are among them.
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

// publish lets those who leave say what they waited for.
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

// advanceGroup does the work of a round for those of one depth.
func (l *lane) advanceGroup(ctx context.Context, head *block, depth uint64, group []*wait) (signed bool, err error) {
	final, err := l.finalNumber(ctx, head, depth)
	if err != nil {
		return false, fmt.Errorf("look for the final block: %w", err)
	}
	var purposes []string
	for _, w := range group {
		purposes = append(purposes, w.purpose)
		if w.refund.PaymentID != "" {
			purposes = append(purposes, l.s.transferPurpose(w.refund))
		}
	}
	sent, err := l.s.Store.Sent(ctx, purposes)
	if err != nil {
		return false, err
	}
	v := &view{head: head, final: final, sent: sent, receipts: map[string]*receipt{}, counts: map[deed.Wallet]uint64{}}
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

// states asks for the state of nonces in the final block.
func (r *reader) states(ctx context.Context, v *view, nonces []scanKey) (used []bool, err error) {
	var calls [][]byte
	for _, n := range nonces {
		calls = append(calls, pack(tokenABI, "authorizationState", n.owner, n.nonce))
	}
	q := callMsg{to: r.s.multicall, data: batch(r.s.token, calls...), gas: stateGas * uint64(len(calls)+1)}
	answers, err := r.c.callBatch(ctx, q, number(v.final))
	if err != nil {
		return nil, fmt.Errorf("ask for the nonces: %w", err)
	}
	for _, a := range answers {
		n, err := a.number()
		if err != nil {
			return nil, fmt.Errorf("ask for the nonces: %w", err)
		}
		used = append(used, n.Sign() != 0)
	}
	return used, nil
}

// errWaiting is in what stands in the way when only time does.
var errWaiting = errors.New("it waits for the chain")

// A standing is how far our own transactions for a purpose have come.
type progress int

const (
	neverSent progress = iota
	abandoned          // and nobody signs for it any more
	inFlight           // one of ours may still be mined
	failed             // ours is final and did not do what it was for
	displaced          // a foreign transaction has the nonce of ours
)

// standingOf tells how far a purpose has come whose nonce is unused in the final
// block.
func (r *reader) progressOf(ctx context.Context, v *view, sent []settle.Transaction) (progress, error) {
	if len(sent) == 0 {
		return neverSent, nil
	}
	last := sent[len(sent)-1]
	if last.Hash == "" {
		return abandoned, nil
	}
	deep := 2 + time.Duration(uint64(v.head.Number)-min(v.final, uint64(v.head.Number)))
	if r.s.Now().Before(last.SignedAt.Add(min(deep, 8) * r.s.Network.BlockTime)) {
		return inFlight, nil // it cannot be final yet, and asking costs
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
			return failed, nil
		}
	}
	return displaced, nil
}

// below leaves room for blocks that a reorganisation may replace.
func withReorgMargin(n uint64) uint64 {
	const margin = 64
	if n < margin {
		return 0
	}
	return n - margin
}

// pause returns how long to wait before the next attempt.
func retryDelay(attempt int) time.Duration {
	return min(time.Second<<min(attempt, 10), maxPause)
}
