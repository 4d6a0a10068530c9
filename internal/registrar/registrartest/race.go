package registrartest

import (
	"fmt"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// raced lets callers, each with a reference of its own, buy one name at once.
// All of them look first, as buyers do; without that, one whose connection is
// open already would be home before the others have left.
func raced(t *testing.T, b Bench, callers int) {
	for i, err := range together(callers, func(int) error { _, err := b.Registrar.Available(t.Context(), name); return err }) {
		if err != nil {
			t.Errorf("caller %d looks: %v", i, err)
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

// racedAgain races for a name that the registry has met before.
func racedAgain(t *testing.T, b Bench) {
	b.Break(t, Refuse, 1)
	wantCode(t, b.register(t, "order-before", name), deed.CodeRegistrationFailed)
	raced(t, b, 32)
}

func racedTogether(t *testing.T, b Bench) {
	for i, err := range together(32, func(int) error { return b.register(t, ref, name) }) {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

// racedCancel cancels a late order while others look whether it is done. Both
// agree in the end: it was cancelled, or it was too late for that.
func racedCancel(t *testing.T, b Bench) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	cancelled := together(8, func(i int) error {
		switch i {
		case 0:
			b.Advance(b.Late)
			return nil
		case 1, 2:
			return b.Registrar.Cancel(t.Context(), ref)
		}
		_, err := b.Registrar.Order(t.Context(), ref, name)
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

// together runs f so many times at once and returns what each said.
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
