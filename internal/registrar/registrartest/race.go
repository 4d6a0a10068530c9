package registrartest

import (
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// raced lets callers, each with its own reference, register one name concurrently.
// All of them check the availability first, as buyers do; otherwise a caller whose
// connection is already open would be done before the others start.
func raced(t *testing.T, b Env, callers int) {
	for i, err := range together(callers, func(int) error { _, err := b.Registrar.Available(t.Context(), name); return err }) {
		if err != nil {
			t.Errorf("caller %d checks: %v", i, err)
		}
	}
	errs := together(callers, func(i int) error { return b.register(t, fmt.Sprint("order-", i), name) })
	winners := 0
	for i, err := range errs {
		want := registrar.OrderAbsent
		if err == nil {
			winners++
			want = registrar.OrderDone
		} else {
			wantCode(t, err, deed.CodeDomainUnavailable)
		}
		b.wantOrder(t, fmt.Sprint("order-", i), name, want)
	}
	if winners != 1 {
		t.Errorf("got %d winners, want 1", winners)
	}
}

// racedAgain races for a name that the registry has seen before.
func racedAgain(t *testing.T, b Env) {
	b.Break(t, Refuse, 1)
	wantCode(t, b.register(t, "order-before", name), deed.CodeRegistrationFailed)
	raced(t, b, 32)
}

func racedSameReference(t *testing.T, b Env) {
	for i, err := range together(32, func(int) error { return b.register(t, ref, name) }) {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

// racedCancel cancels a late order while others look it up. Both agree in the end:
// it was cancelled, or it was too late.
func racedCancel(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	cancelled := together(8, func(i int) error {
		switch i {
		case 0:
			b.Advance(b.Late)
			return nil
		case 1, 2:
			return b.Registrar.Cancel(t.Context(), b.order(ref, name))
		}
		_, err := b.Registrar.Order(t.Context(), b.order(ref, name))
		return err
	})
	want := registrar.OrderDone
	for i, err := range cancelled {
		switch {
		case i != 1 && i != 2 && err != nil:
			t.Errorf("caller %d: %v", i, err)
		case (i == 1 || i == 2) && err == nil:
			want = registrar.OrderAbsent
		case i == 1 || i == 2:
			wantCode(t, err, deed.CodeNotFound)
		}
	}
	b.wantOrder(t, ref, name, want)
}

// together runs f this many times concurrently and returns the errors.
func together(callers int, f func(i int) error) []error {
	errs := make([]error, callers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}
