package registrartest

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// An operation is an order on a registry that is ready for it: a renewal or a
// transfer. The cases that apply to every kind of order are run with an operation.
type operation struct {
	Env
	kind   registrar.Order      // the order without its reference
	placed registrar.OrderState // of the order when the registry has accepted it
	taken  deed.Code            // the error when another account has the name or is faster
	second deed.Code            // the error of a second order like it

	// applied reports whether the order has had its effect, once.
	applied func(t *testing.T) bool
}

// place places the order under a reference.
func (a operation) place(ctx context.Context, reference string) error {
	o := a.kind
	o.Reference = reference
	return a.Registrar.Place(ctx, o)
}

// succeeds places the order and fails unless that works.
func (a operation) succeeds(t *testing.T) {
	t.Helper()
	if err := a.place(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	a.wantOrder(t, ref, name, a.placed)
	a.wantApplied(t, true)
}

func (a operation) wantApplied(t *testing.T, want bool) {
	t.Helper()
	if got := a.applied(t); got != want {
		t.Errorf("applied: got %t, want %t", got, want)
	}
}

// actions are the cases for every kind of order.
var actions = cases[operation]{
	"": {
		"placed":                                func(t *testing.T, a operation) { a.succeeds(t) },
		"the same reference twice":              opRepeated,
		"32 callers with one reference":         opConcurrentSameReference,
		"failed, not done":                      opDown,
		"failed, but done":                      opLost,
		"refused by the registry":               func(t *testing.T, a operation) { a.denied(t, Refuse, deed.CodeRegistrationFailed) },
		"another caller was faster":             func(t *testing.T, a operation) { a.denied(t, Taken, a.taken) },
		"a canceled caller":                     opCanceled,
		"a caller canceled during a slow reply": opSlow,
	},
	ByReference: {
		"another reference is refused":         opSecondReference,
		"32 callers with their own references": opRaced,
		"late":                                 opLate,
		"late, and cancelled":                  opLateCancelled,
		"parked, and cancelled":                opParked,
		"another account":                      opWrongAccount,
	},
	ByState: {
		"another reference has no effect":      opSecondOrder,
		"32 callers with their own references": opRacedOnce,
		"late, and placed again":               opLateAgain,
		"another account":                      opWrongAccountAbsent,
	},
}

func runOperations(t *testing.T, kind Idempotency, open func(t *testing.T) Env, ready func(*testing.T, Env) operation) {
	for title, f := range actions.of(kind) {
		t.Run(title, func(t *testing.T) { f(t, ready(t, open(t))) })
	}
}

func opRepeated(t *testing.T, a operation) {
	a.succeeds(t)
	first := a.wantOrder(t, ref, name, registrar.OrderDone)
	for _, later := range []time.Duration{0, time.Hour, 40 * 24 * time.Hour} {
		a.Advance(later)
		if err := a.place(t.Context(), ref); err != nil {
			t.Errorf("%s later: %v", later, err)
		}
		if again := a.wantOrder(t, ref, name, registrar.OrderDone); again != first {
			t.Errorf("got %+v after %+v, want no change", again, first)
		}
	}
	wantCode(t, a.Registrar.Cancel(t.Context(), a.order(ref, name)), deed.CodeNotFound)
}

func opSecondReference(t *testing.T, a operation) {
	if err := a.place(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		wantCode(t, a.place(t.Context(), rival), a.second)
		a.wantOrder(t, rival, name, registrar.OrderAbsent)
	}
	a.wantApplied(t, true)
}

func opConcurrentSameReference(t *testing.T, a operation) {
	for i, err := range together(32, func(int) error { return a.place(t.Context(), ref) }) {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	a.wantApplied(t, true)
}

func opRaced(t *testing.T, a operation) {
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
	a.wantApplied(t, true)
}

func opDown(t *testing.T, a operation) {
	a.Break(t, Down, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.succeeds(t)
}

func opLost(t *testing.T, a operation) {
	a.Break(t, LostReply, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.wantOrder(t, ref, name, a.placed)
	a.succeeds(t)
}

// denied orders twice: an error with a code is final, so the order is never
// executed.
func (a operation) denied(t *testing.T, f Fault, want deed.Code) {
	a.Break(t, f, a.refusals())
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

func opLate(t *testing.T, a operation) {
	a.Break(t, Late, 1)
	for range 2 { // it is not placed twice
		wantUnknown(t, a.place(t.Context(), ref))
		a.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	a.Advance(a.Late)
	a.wantOrder(t, ref, name, a.placed)
	a.succeeds(t)
}

func opLateCancelled(t *testing.T, a operation) {
	a.Break(t, Late, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.cancelled(t)
}

func opParked(t *testing.T, a operation) {
	a.Break(t, Parked, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.Advance(2 * a.Late)
	a.wantOrder(t, ref, name, registrar.OrderParked)
	a.cancelled(t)
}

// cancelled cancels the order permanently.
func (a operation) cancelled(t *testing.T) {
	t.Helper()
	for range 2 { // a caller that lost the first reply retries
		if err := a.Registrar.Cancel(t.Context(), a.order(ref, name)); err != nil {
			t.Fatal(err)
		}
		a.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	if err := a.place(t.Context(), ref); err == nil {
		t.Error("a cancelled order was placed again")
	}
	a.Advance(2 * a.Late)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.wantApplied(t, false)
}

// A registry may even report success; only the lookup counts.
func opWrongAccount(t *testing.T, a operation) {
	a.Break(t, WrongAccount, 1)
	_ = a.place(t.Context(), ref) // whatever it returns
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	wantCode(t, a.place(t.Context(), ref), deed.CodeRegistrationFailed)
	a.wantApplied(t, false)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
}

func opCanceled(t *testing.T, a operation) {
	wantUnknown(t, a.place(canceledContext(t), ref))
	a.succeeds(t)
}

// The caller leaves before the registry has started: it never executes the order.
func opSlow(t *testing.T, a operation) {
	a.Break(t, Slow, 1)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- a.place(ctx, ref) }()
	a.received()
	cancel()
	wantUnknown(t, <-result)
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.succeeds(t)
}

// A second order that wants what the first has done may be refused or be a success,
// but has no effect of its own.
func opSecondOrder(t *testing.T, a operation) {
	a.succeeds(t)
	if err := a.place(t.Context(), rival); err != nil {
		wantFinal(t, err)
	}
	a.wantApplied(t, true)
}

func opRacedOnce(t *testing.T, a operation) {
	winners := 0
	for _, err := range together(32, func(i int) error { return a.place(t.Context(), ref+"-"+string(rune('a'+i))) }) {
		if err == nil {
			winners++
			continue
		}
		wantFinal(t, err)
	}
	if winners == 0 {
		t.Error("got no winner")
	}
	a.wantApplied(t, true)
}

// Placed again, an order of which nothing is seen is executed, and the late one has no
// effect any more.
func opLateAgain(t *testing.T, a operation) {
	a.Break(t, Late, 1)
	wantUnknown(t, a.place(t.Context(), ref))
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	if err := a.place(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	a.Advance(2 * a.Late)
	a.wantOrder(t, ref, name, a.placed)
	a.succeeds(t)
}

func opWrongAccountAbsent(t *testing.T, a operation) {
	a.Break(t, WrongAccount, 1)
	_ = a.place(t.Context(), ref) // whatever it returns
	a.wantOrder(t, ref, name, registrar.OrderAbsent)
	a.wantApplied(t, false)
}

// wantFinal fails unless the error has a code.
func wantFinal(t *testing.T, err error) {
	t.Helper()
	if _, coded := errors.AsType[*deed.Error](err); !coded {
		t.Errorf("got %v, want an error with a code", err)
	}
}
