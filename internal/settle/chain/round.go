package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
)

const (
	maxStates = 200             // that one call asks for
	stateGas  = 30_000          // to look at one
	maxPause  = 1 * time.Minute // between two attempts
)

// round brings everything that waits one step on. It reports whether it sent
// something, so that looking again at once is worth while.
func (s *Settler) round(ctx context.Context) (sent bool) {
	groups := map[uint64][]*wait{} // by how deep they must lie
	s.mu.Lock()
	for _, w := range s.waiting {
		depth := s.Depth(w.amount)
		groups[depth] = append(groups[depth], w)
		w.found = nil
	}
	s.mu.Unlock()
	for _, waits := range groups {
		progress, err := s.roundOf(ctx, waits)
		if err != nil {
			note(err, waits...)
		}
		sent = sent || progress && err == nil
	}
	// Whatever is signed is sent until it is mined, also after an error above.
	err := s.Tick(ctx)
	if sent {
		s.step("after send")
	}
	if ctx.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.waiting {
		w.cause = errors.Join(w.found, err)
	}
	return sent
}

// roundOf does the work of a round for those of one depth.
func (s *Settler) roundOf(ctx context.Context, waits []*wait) (planned bool, err error) {
	final, err := s.final(ctx, waits[0].amount)
	if err != nil {
		return false, fmt.Errorf("look for the final block: %w", err)
	}
	var purposes []string
	var payments, refunds []*wait
	for _, w := range waits {
		purposes = append(purposes, w.purpose)
		if w.auth != nil {
			payments = append(payments, w)
		} else {
			refunds = append(refunds, w)
		}
	}
	sent, err := s.Store.Sent(ctx, purposes)
	if err != nil {
		return false, err
	}
	v := &view{final: final, sent: sent, receipts: map[string]*receipt{}}
	for some := range slices.Chunk(payments, maxStates) {
		progress, err := s.pay(ctx, v, some)
		if err != nil {
			return planned, err
		}
		planned = planned || progress
	}
	for _, w := range refunds {
		progress, err := s.giveBack(ctx, v, w)
		if err != nil {
			note(err, w)
		}
		planned = planned || progress
	}
	return planned, nil
}

// A view is what one round sees.
type view struct {
	final    *block
	sent     map[string][]deed.Transaction
	receipts map[string]*receipt // canonical and final ones, by hash; nil where there is none
}

// receiptOf returns the final receipt of a transaction, or nil.
func (s *Settler) receiptOf(ctx context.Context, v *view, hash string) (*receipt, error) {
	if r, known := v.receipts[hash]; known {
		return r, nil
	}
	r, err := s.Client.canonicalReceipt(ctx, hashOf(hash), v.final)
	if err == nil {
		v.receipts[hash] = r
	}
	return r, err
}

// pay answers the payments whose fate is sealed in the final block, and signs
// for those that want it.
func (s *Settler) pay(ctx context.Context, v *view, payments []*wait) (planned bool, err error) {
	var calls [][]byte
	for _, w := range payments {
		calls = append(calls, pack(tokenABI, "authorizationState", w.auth.from, w.auth.nonce))
	}
	states, err := s.askBatch(ctx, batch(s.USDC, calls...), stateGas*uint64(len(calls)+1), v.final.ref())
	if err != nil {
		return false, fmt.Errorf("ask for the nonces: %w", err)
	}
	var unused []*wait
	for i, w := range payments {
		state, err := states[i].number()
		switch {
		case err != nil:
			note(err, w)
		case state.Sign() != 0:
			if err := s.prove(ctx, v, w); err != nil {
				note(err, w)
			}
		case int64(v.final.Time) >= w.auth.ValidBefore:
			// No later block has an earlier time, so the token takes it in none.
			s.answer(w, "", invalid("it expired before it was settled"))
		default:
			w.from, w.bounded = below(uint64(v.final.Number)), true
			unused = append(unused, w)
		}
	}
	return s.plan(ctx, v, unused)
}

// below leaves room for blocks that a reorganisation may replace.
func below(n uint64) uint64 {
	const room = 64
	if n < room {
		return 0
	}
	return n - room
}

// pause returns how long to wait before the next attempt.
func pause(attempt int) time.Duration {
	return min(time.Second<<min(attempt, 10), maxPause)
}

var errUnseen = errors.New("the nonce is used, and the chain does not say by what")
