// Package registrartest holds the suites that every registrar.Registrar, registrar.Manager
// and registrar.Inventory passes: Run for new names, Renewals, Transfers, Manager and
// Inventory. A backend runs those whose contracts it keeps.
//
// They ask for each answer of the contract, break the registry in every way that
// its backend can be broken (not done, done but the reply lost, done later,
// parked, done for somebody else) and race it. Throughout, one reference acts
// once at most, and a name is ours only when a separate look-up says so.
package registrartest

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A Fault is a way to break a registry, by its name in the sandbox.
type Fault string

// The faults that the suite asks for.
const (
	Down         Fault = "down"
	Slow         Fault = "slow" // for longer than any test takes
	Refuse       Fault = "refuse"
	LostReply    Fault = "lost_reply"
	Late         Fault = "late"
	Parked       Fault = "parked"
	Taken        Fault = "taken"
	WrongAccount Fault = "wrong_account"
)

// A Bench is a fresh registrar and the hands that break it and move its clock.
type Bench struct {
	Registrar registrar.Registrar
	Reserved  deed.Name        // one that nobody can buy
	Now       func() time.Time // the registry's clock
	Advance   func(d time.Duration)
	Late      time.Duration // by then a late order is executed

	// Break breaks the next calls that the fault hits, so many of them. A
	// backend that cannot be broken that way skips the test.
	Break func(t *testing.T, f Fault, times int)

	Manager   registrar.Manager
	Inventory registrar.Inventory
	GraceDays int // of the suite's names

	// Elsewhere registers a name at another registrar, unlocked and old enough to
	// be transferred, and returns its code. Leave lets that registrar ask for a
	// name of ours. Decide lets the losing side end a pending transfer. A suite
	// that needs a hand which is nil skips.
	Elsewhere func(t *testing.T, n deed.Name) deed.Secret
	Leave     func(n deed.Name, code deed.Secret) error
	Decide    func(n deed.Name, approve bool) error
}

// The names and references of the suite.
const (
	name  deed.Name = "suite-one.com"
	other deed.Name = "suite-two.com"
	ref             = "order-1"
	rival           = "order-2"
)

// Run runs the suite for new names. open returns a fresh bench for each case.
func Run(t *testing.T, open func(t *testing.T) Bench) {
	for title, f := range map[string]func(*testing.T, Bench){
		"available, then taken":            available,
		"reserved":                         reserved,
		"done with its dates":              dates,
		"the same reference twice":         twice,
		"a reference is for one order":     oneOrder,
		"another reference is refused":     refusedForGood,
		"failed, not done":                 notDone,
		"failed, but done":                 butDone,
		"failed, and the name was taken":   lostRefusal,
		"refused by the registry":          refuse,
		"taken by somebody":                taken,
		"late":                             late,
		"late, and somebody was faster":    lateLoses,
		"late, and nobody looks":           lateWins,
		"late, and cancelled":              lateCancelled,
		"late, and cancelled too late":     cancelledTooLate,
		"parked, and cancelled":            parked,
		"nothing to cancel":                nothingToCancel,
		"somebody else's account":          wrongAccount,
		"order faults leave checks alone":  checksGoOn,
		"two callers race":                 func(t *testing.T, b Bench) { raced(t, b, 2) },
		"32 callers race":                  func(t *testing.T, b Bench) { raced(t, b, 32) },
		"32 callers race for a known name": racedAgain,
		"32 callers with one reference":    racedTogether,
		"cancel races with a late order":   racedCancel,
		"a caller who is gone":             gone,
		"a caller who leaves a slow reply": slow,
	} {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

func (b Bench) register(t *testing.T, reference string, n deed.Name) error {
	t.Helper()
	return b.Registrar.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: n, Years: 1})
}

// registered orders a name and fails unless that works.
func (b Bench) registered(t *testing.T, reference string, n deed.Name) {
	t.Helper()
	if err := b.register(t, reference, n); err != nil {
		t.Fatalf("register %s as %s: %v", n, reference, err)
	}
	b.wantOrder(t, reference, n, registrar.OrderDone)
}

// wantOrder compares what became of an order, and looks for dates that cannot be.
func (b Bench) wantOrder(t *testing.T, reference string, n deed.Name, want registrar.OrderState) registrar.OrderStatus {
	t.Helper()
	got, err := b.Registrar.Order(t.Context(), reference, n)
	if err != nil || got.State != want {
		t.Fatalf("order %s: got %q, %v, want %q", reference, got.State, err, want)
	}
	if done := got.State == registrar.OrderDone; got.Created.IsZero() == done || got.Expires.IsZero() == done {
		t.Errorf("order %s is %s with dates %s and %s", reference, got.State, got.Created, got.Expires)
	}
	return got
}

func (b Bench) wantAvailable(t *testing.T, n deed.Name, want bool, reason string) {
	t.Helper()
	got, err := b.Registrar.Available(t.Context(), n)
	if err != nil || got.Available != want || got.Reason != reason {
		t.Errorf("%s: got %+v, %v, want %t %q", n, got, err, want, reason)
	}
}

// wantCode compares the code of a final answer.
func wantCode(t *testing.T, err error, want deed.Code) {
	t.Helper()
	if got := deed.CodeOf(err); got != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// wantUnknown fails unless the error leaves open what happened.
func wantUnknown(t *testing.T, err error) {
	t.Helper()
	if _, coded := errors.AsType[*deed.Error](err); err == nil || coded {
		t.Errorf("got %v, want an error without a code", err)
	}
}

// leave returns a context that has ended.
func leave(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
