package settletest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"deed.example/deed/internal/settle"
)

func (b Fixture) stuck(t *testing.T, a settle.Authorization) {
	t.Helper()
	moved := b.Moved()
	txHash, err := b.Settler.Settle(t.Context(), a)
	if !errors.Is(err, settle.ErrUnsettleable) && !errors.Is(err, settle.ErrReverted) || settle.Refused(err) || b.Moved() != moved {
		t.Errorf("got %q, %v and %d more transfers, want that it is stuck", txHash, err, b.Moved()-moved)
	}
}

// A payment without funds is stuck, not refused, and is settled when the payer has
// funds again.
func stuck(t *testing.T, b Fixture) {
	a := b.Pay("1")
	b.Drain()
	b.stuck(t, a)
	b.stuck(t, a)
	b.Fill()
	if b.settled(t, a); b.Moved() != 1 {
		t.Errorf("got %d transfers, want 1", b.Moved())
	}
}

// An abandoned payment is not sent again, even when it could be; its settlement by a
// third party and its expiry are still seen.
func abandoned(t *testing.T, b Fixture) {
	moves, expires := b.Pay("1"), b.Pay("2")
	b.Drain()
	for _, a := range []settle.Authorization{moves, expires} {
		b.stuck(t, a)
		for range 2 {
			if err := b.Chain.Abandon(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.Fill()
	b.stuck(t, moves)
	want := b.ThirdParty(moves)
	if got := b.settled(t, moves); got != want {
		t.Errorf("got %s, want the third party's %s", got, want)
	}
	b.Expire()
	b.refused(t, expires)
}

// A payment that one of our transactions may still settle cannot be abandoned.
func carried(t *testing.T, b Fixture) {
	a := b.Pay("1")
	b.cut(t, false, func(ctx context.Context) (string, error) { return b.Settler.Settle(ctx, a) })
	if err := b.Chain.Abandon(t.Context(), a); err == nil {
		t.Error("it was abandoned")
	}
	if b.settled(t, a); b.Moved() != 1 {
		t.Errorf("got %d transfers, want 1", b.Moved())
	}
}

// When a payment is settled and abandoned at once, one of them succeeds.
func abandonRaced(t *testing.T, b Fixture) {
	var wg sync.WaitGroup
	all, gone, settled := make([]settle.Authorization, 16), make([]bool, 16), make([]bool, 16)
	for i := range all {
		all[i] = b.Pay(fmt.Sprint(i))
		wg.Go(func() { gone[i] = b.Chain.Abandon(t.Context(), all[i]) == nil })
		wg.Go(func() {
			_, err := b.Settler.Settle(t.Context(), all[i])
			if settled[i] = err == nil; err != nil && !errors.Is(err, settle.ErrUnsettleable) {
				t.Errorf("payment %d: got %v", i, err)
			}
		})
	}
	wg.Wait()
	want := 0
	for i := range gone {
		if gone[i] == settled[i] {
			t.Errorf("payment %d: abandoned is %v, settled is %v", i, gone[i], settled[i])
		}
		if settled[i] {
			want++
		} else {
			b.stuck(t, all[i])
		}
	}
	if b.Moved() != want {
		t.Errorf("got %d transfers, want %d", b.Moved(), want)
	}
}
