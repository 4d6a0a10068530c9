package settletest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"deed.example/deed/internal/settle"
)

func (b Bench) stuck(t *testing.T, a settle.Authorization) {
	t.Helper()
	moved := b.Moved()
	txHash, err := b.Settler.Settle(t.Context(), a)
	if !errors.Is(err, settle.ErrUnsettleable) && !errors.Is(err, settle.ErrReverted) || settle.Refused(err) || b.Moved() != moved {
		t.Errorf("got %q, %v and %d more transfers, want that it is stuck", txHash, err, b.Moved()-moved)
	}
}

// A payer without money is told apart from one who can never pay, and pays when
// the money is back.
func stuck(t *testing.T, b Bench) {
	a := b.Pay("1")
	b.Drain()
	b.stuck(t, a)
	b.stuck(t, a)
	b.Fill()
	if b.settled(t, a); b.Moved() != 1 {
		t.Errorf("got %d transfers, want 1", b.Moved())
	}
}

// What is abandoned is not sent again, also when it could be; what the payer or
// a stranger makes of it is seen.
func abandoned(t *testing.T, b Bench) {
	moves, expires := b.Pay("1"), b.Pay("2")
	b.Drain()
	for _, a := range []settle.Authorization{moves, expires} {
		b.stuck(t, a)
		for range 2 {
			if err := b.Settler.Abandon(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.Fill()
	b.stuck(t, moves)
	want := b.Stranger(moves)
	if got := b.settled(t, moves); got != want {
		t.Errorf("got %s, want the stranger's %s", got, want)
	}
	b.Expire()
	b.refused(t, expires)
}

// What a transaction of ours may still carry cannot be abandoned.
func carried(t *testing.T, b Bench) {
	a := b.Pay("1")
	b.cut(t, false, func(ctx context.Context) (string, error) { return b.Settler.Settle(ctx, a) })
	if err := b.Settler.Abandon(t.Context(), a); err == nil {
		t.Error("it was abandoned")
	}
	if b.settled(t, a); b.Moved() != 1 {
		t.Errorf("got %d transfers, want 1", b.Moved())
	}
}

// Of settling and abandoning at once, one wins.
func abandonRaced(t *testing.T, b Bench) {
	var wg sync.WaitGroup
	all, gone, settled := make([]settle.Authorization, 16), make([]bool, 16), make([]bool, 16)
	for i := range all {
		all[i] = b.Pay(fmt.Sprint(i))
		wg.Go(func() { gone[i] = b.Settler.Abandon(t.Context(), all[i]) == nil })
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
