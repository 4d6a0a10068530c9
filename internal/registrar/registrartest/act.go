package registrartest

import (
	"context"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// An act is an order on a registry that is ready for it: a renewal or a
// transfer. What holds for every kind of order is asked of an act.
type act struct {
	Bench
	order  registrar.Order      // without its reference
	placed registrar.OrderState // of the order when the registry has taken it
	taken  deed.Code            // what the registry says when somebody else has the name or is faster
	second deed.Code            // what it says to a second order like it

	// acted says whether the order has had its effect, once.
	acted func(t *testing.T) bool
}

// place places the order under a reference.
func (a act) place(ctx context.Context, reference string) error {
	o := a.order
	o.Reference = reference
	return a.Registrar.Place(ctx, o)
}

// succeeds places the order and fails unless that works.
func (a act) succeeds(t *testing.T) {
	t.Helper()
	if err := a.place(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	a.wantOrder(t, ref, name, a.placed)
	a.wantActed(t, true)
}

func (a act) wantActed(t *testing.T, want bool) {
	t.Helper()
	if got := a.acted(t); got != want {
		t.Errorf("acted: got %t, want %t", got, want)
	}
}

// actions are the cases of every kind of order.
var actions = map[string]func(*testing.T, act){
	"placed":                           func(t *testing.T, a act) { a.succeeds(t) },
	"the same reference twice":         actTwice,
	"another reference is refused":     actAgain,
	"32 callers with one reference":    actTogether,
	"32 callers, each with their own":  actRaced,
	"failed, not done":                 actDown,
	"failed, but done":                 actLost,
	"refused by the registry":          func(t *testing.T, a act) { a.denied(t, Refuse, deed.CodeRegistrationFailed) },
	"somebody was faster":              func(t *testing.T, a act) { a.denied(t, Taken, a.taken) },
	"late":                             actLate,
	"late, and cancelled":              actLateCancelled,
	"parked, and cancelled":            actParked,
	"somebody else's account":          actWrongAccount,
	"a caller who is gone":             actGone,
	"a caller who leaves a slow reply": actSlow,
}

func runActs(t *testing.T, open func(t *testing.T) Bench, ready func(*testing.T, Bench) act) {
	for title, f := range actions {
		t.Run(title, func(t *testing.T) { f(t, ready(t, open(t))) })
	}
}

func actTwice(t *testing.T, a act) {
	a.succeeds(t)
	first, err := a.Registrar.Order(t.Context(), ref, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, time.Hour, 40 * 24 * time.Hour} {
		a.Advance(later)
		if err := a.place(t.Context(), ref); err != nil {
			t.Errorf("%s later: %v", later, err)
		}
		if again := a.wantOrder(t, ref, name, registrar.OrderDone); again != first {
			t.Errorf("got %+v after %+v, want no change", again, first)
		}
	}
	wantCode(t, a.Registrar.Cancel(t.Context(), ref), deed.CodeNotFound)
}

func actAgain(t *testing.T, a act) {
	if err := a.place(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wantCode(t, a.place(t.Context(), rival), a.second)
		a.wantOrder(t, rival, name, registrar.OrderAbsent)
	}
	a.wantActed(t, true)
}

func actTogether(t *testing.T, a act) {
	for i, err := range together(32, func(int) error { return a.place(t.Context(), ref) }) {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	a.wantActed(t, true)
}

func actRaced(t *testing.T, a act) {
	references := make([]string, 32)
	for i := range references {
		references[i] = ref + "-" + string(rune('a'+i))
	}
	winners := 0
	for i, err := range together(32, func(i int) error { return a.place(t.Context(), references[i]) }) {
		want := registrar.OrderAbsent
		if err == nil {
			winners++
			want = a.placed
		} else {
			wantCode(t, err, a.second)
		}
		a.wantOrder(t, references[i], name, want)
	}
	if winners != 1 {
		t.Errorf("got %d winners, want 1", winners)
	}
	a.wantActed(t, true)
}

func actDown(t *testing.T, a act) {
	a.Break(t, Down, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.succeeds(t)
}

func actLost(t *testing.T, a act) {
	a.Break(t, LostReply, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.wantOrder(t, ref, name, a.placed)
	a.succeeds(t)
}

// denied asks twice: a coded answer is final, so the order is never executed.
func (a act) denied(t *testing.T, f Fault, want deed.Code) {
	a.Break(t, f, 1)
	for range 2 {
		wantCode(t, a.place(t.Context(), rival), want)
		a.wantOrder(t, rival, name, registrar.OrderAbsent)
	}
	a.succeeds(t)
	a.Break(t, f, 1)
	if err := a.place(t.Context(), ref); err != nil {
		t.Errorf("an order that is done was refused: %v", err)
	}
}

func actLate(t *testing.T, a act) {
	a.Break(t, Late, 1)
	for range 2 { // it is not placed a second time
		wantUnknown(t, a.place(t.Context(), ref))
		a.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	a.Advance(a.Late)
	a.wantOrder(t, ref, name, a.placed)
	a.succeeds(t)
}

func actLateCancelled(t *testing.T, a act) {
	a.Break(t, Late, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.cancelled(t)
}

func actParked(t *testing.T, a act) {
	a.Break(t, Parked, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.Advance(2 * a.Late)
	a.wantOrder(t, ref, name, registrar.OrderParked)
	a.cancelled(t)
}

// cancelled takes the order back, for good.
func (a act) cancelled(t *testing.T) {
	t.Helper()
	for range 2 { // a caller who lost the first reply asks again
		if err := a.Registrar.Cancel(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		a.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	if err := a.place(t.Context(), ref); err == nil {
		t.Error("a cancelled order was placed again")
	}
	a.Advance(2 * a.Late)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.wantActed(t, false)
}

// A registry may even say that all went well; only the look-up counts.
func actWrongAccount(t *testing.T, a act) {
	a.Break(t, WrongAccount, 1)
	_ = a.place(t.Context(), ref) // whatever it says
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	wantCode(t, a.place(t.Context(), ref), deed.CodeRegistrationFailed)
	a.wantActed(t, false)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
}

func actGone(t *testing.T, a act) {
	wantUnknown(t, a.place(leave(t), ref))
	a.succeeds(t)
}

// The caller leaves while the registry is thinking. It has not begun, and never will.
func actSlow(t *testing.T, a act) {
	a.Break(t, Slow, 1)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- a.place(ctx, ref) }()
	cancel()
	wantUnknown(t, <-result)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.succeeds(t)
}
