// Package registrartest has the conformance suites of registrar.Registrar,
// registrar.Manager and registrar.Inventory: Run for new names, Renewals,
// Transfers, Manager, Deletions and Inventory. A backend runs All.
//
// Backends are idempotent in different ways, and each runs the suites for its own.
// With references (ByReference) every order has an outcome of its own, which stays.
// Without them (ByState) an order is recognised by the state of the name: two orders
// that want the same have one effect, a late one cannot be cancelled, and what has
// been undone can be ordered again. Most cases are the same for both.
//
// They check each result of the contract, break the registry in every way that its
// backend supports (not done, done but the reply lost, done later, parked, done for
// another account) and race it. In all cases one reference has at most one effect,
// and a name is in the account only when a separate lookup says so.
package registrartest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// All runs every suite. Inventory is skipped for a backend that lists no names.
func All(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	for suite, run := range map[string]func(*testing.T, Idempotency, func(*testing.T) Env){
		"register": Run,
		"renew":    Renewals,
		"transfer": Transfers,
		"manager":  Manager,
		"delete":   Deletions,
	} {
		t.Run(suite, func(t *testing.T) { run(t, kind, open) })
	}
	t.Run("inventory", func(t *testing.T) {
		if open(t).Inventory == nil {
			t.Skip("this backend lists no names")
		}
		Inventory(t, kind, open)
	})
}

// A Fault is a failure of a registry, by its name in the sandbox.
type Fault string

// The faults that the suite uses.
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

// An Env is a fresh registrar with the functions to break it and to move its clock.
type Env struct {
	Registrar registrar.Registrar
	Reserved  deed.Name        // a name that cannot be bought
	Now       func() time.Time // the registry's clock
	Advance   func(d time.Duration)
	Late      time.Duration // after which a late order is executed

	// Break breaks the next calls that the fault affects, times of them. A backend
	// that does not support the fault skips the test.
	Break func(t *testing.T, f Fault, times int)

	Manager   registrar.Manager
	Inventory registrar.Inventory
	GraceDays int // of the suite's names

	// Elsewhere registers a name at another registrar, unlocked and old enough for
	// a transfer, and returns its code. Leave starts a transfer to that registrar.
	// Decide lets the losing registrar end a pending transfer. A suite that needs
	// one that is nil skips.
	Elsewhere func(t *testing.T, n deed.Name) deed.Secret
	Leave     func(n deed.Name, code deed.Secret) error
	Decide    func(n deed.Name, approve bool) error

	// Received returns when the registry has received a call that the fault Slow
	// holds. It is needed if a caller that leaves early sends nothing.
	Received func()

	kind Idempotency
	sent *sync.Map // reference → registrar.Order, as it was last placed
}

// An Idempotency is how a backend knows that an order was executed.
type Idempotency string

// The kinds of idempotency.
const (
	ByReference Idempotency = "by reference"
	ByState     Idempotency = "by the state of the name"
)

// cases are cases of a suite by their title: those for all kinds of idempotency, and
// those for one.
type cases[T any] map[Idempotency]map[string]func(*testing.T, T)

// of returns the cases for a kind of idempotency.
func (c cases[T]) of(kind Idempotency) map[string]func(*testing.T, T) {
	all := maps.Clone(c[""])
	maps.Copy(all, c[kind])
	return all
}

// The names and references of the suite.
const (
	name  deed.Name = "suite-one.com"
	other deed.Name = "suite-two.com"
	ref             = "order-1"
	rival           = "order-2"
)

// Run runs the suite for new names. open returns a fresh Env for each case.
func Run(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	for title, f := range registrations.of(kind) {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

var registrations = cases[Env]{
	"": {
		"available, then taken":                 available,
		"reserved":                              reserved,
		"done with its dates":                   dates,
		"the same reference twice":              twice,
		"another reference is refused":          secondReferenceRefused,
		"failed, not done":                      notDone,
		"failed, but done":                      doneReplyLost,
		"failed, and the name was taken":        lostRefusal,
		"refused by the registry":               refuse,
		"taken by another account":              taken,
		"late, and another caller was faster":   lateLoses,
		"late, without a lookup":                lateWins,
		"late, and cancelled too late":          cancelledTooLate,
		"nothing to cancel":                     nothingToCancel,
		"another account":                       wrongAccount,
		"order faults do not affect checks":     checksUnaffected,
		"two callers race":                      func(t *testing.T, b Env) { raced(t, b, 2) },
		"32 callers race":                       func(t *testing.T, b Env) { raced(t, b, 32) },
		"32 callers race for a known name":      racedAgain,
		"32 callers with one reference":         racedSameReference,
		"cancel races with a late order":        racedCancel,
		"a canceled caller":                     callerCanceled,
		"a caller canceled during a slow reply": slow,
	},
	ByReference: {
		"a reference is for one order": oneOrder,
		"late":                         late,
		"late, and cancelled":          lateCancelled,
		"parked, and cancelled":        parked,
	},
	ByState: {
		"late, and placed again": lateAgain,
	},
}

// recorded returns Envs that remember the orders that are placed, because a lookup
// needs the whole order.
func recorded(kind Idempotency, open func(t *testing.T) Env) func(t *testing.T) Env {
	return func(t *testing.T) Env {
		b := open(t)
		b.kind = kind
		b.sent = &sync.Map{}
		b.Registrar = recorder{b.Registrar, b}
		return b
	}
}

type recorder struct {
	registrar.Registrar
	env Env
}

// Place places the order, submitted when it was first placed.
func (r recorder) Place(ctx context.Context, o registrar.Order) error {
	o.Submitted = r.env.Now()
	if before, ok := r.env.sent.Load(o.Reference); ok && before.(registrar.Order).Name == o.Name {
		o.Submitted = before.(registrar.Order).Submitted
	}
	r.env.sent.Store(o.Reference, o)
	return r.Registrar.Place(ctx, o)
}

// order returns the order of the name that was placed under the reference. If there
// is none, it returns a registration.
func (b Env) order(reference string, n deed.Name) registrar.Order {
	if o, ok := b.sent.Load(reference); ok {
		if o := o.(registrar.Order); o.Name == n {
			return o
		}
	}
	return registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: n, Years: 1, Submitted: b.Now()}
}

func (b Env) register(t *testing.T, reference string, n deed.Name) error {
	t.Helper()
	return b.Registrar.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: n, Years: 1})
}

// registered orders a name and fails unless that works.
func (b Env) registered(t *testing.T, reference string, n deed.Name) {
	t.Helper()
	if err := b.register(t, reference, n); err != nil {
		t.Fatalf("register %s as %s: %v", n, reference, err)
	}
	b.wantOrder(t, reference, n, registrar.OrderDone)
}

// wantOrder compares the state of an order, and checks its dates for consistency. It
// returns the status without the name, which may change after the order is done.
func (b Env) wantOrder(t *testing.T, reference string, n deed.Name, want registrar.OrderState) registrar.OrderStatus {
	t.Helper()
	got, err := b.Registrar.Order(t.Context(), b.order(reference, n))
	if err != nil || got.State != want {
		t.Fatalf("order %s: got %q, %v, want %q", reference, got.State, err, want)
	}
	if done := got.State == registrar.OrderDone; got.Created.IsZero() == done || got.Expires.IsZero() == done {
		t.Errorf("order %s is %s with dates %s and %s", reference, got.State, got.Created, got.Expires)
	}
	if got.Holding != nil && (got.State != registrar.OrderDone || got.Holding.Name != n) {
		t.Errorf("order %s of %s is %s with the name %+v", reference, n, got.State, *got.Holding)
	}
	got.Holding = nil
	return got
}

func (b Env) wantAvailable(t *testing.T, n deed.Name, want bool, reason string) {
	t.Helper()
	got, err := b.Registrar.Available(t.Context(), n)
	if err != nil || got.Available != want || got.Reason != reason {
		t.Errorf("%s: got %+v, %v, want %t %q", n, got, err, want, reason)
	}
	b.wantSameInBulk(t, n, got)
}

// wantSameInBulk checks the name together with others, if the backend can. Its
// availability must be the same.
func (b Env) wantSameInBulk(t *testing.T, n deed.Name, want registrar.Availability) {
	t.Helper()
	r := b.Registrar
	if wrapped, ok := r.(recorder); ok {
		r = wrapped.Registrar
	}
	bulk, ok := r.(registrar.BulkChecker)
	if !ok {
		return
	}
	all, err := bulk.AvailableAll(t.Context(), []deed.Name{"suite-never-sold.com", n, "suite-unknown.com"})
	if got := all[n]; err != nil || len(all) != 3 || got != want || !all["suite-unknown.com"].Available {
		t.Errorf("%s among others: got %+v of %d, %v, want %+v", n, got, len(all), err, want)
	}
}

// wantCode compares the code of a final error.
func wantCode(t *testing.T, err error, want deed.Code) {
	t.Helper()
	if got := deed.CodeOf(err); got != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// wantUnknown fails unless the outcome is unknown.
func wantUnknown(t *testing.T, err error) {
	t.Helper()
	if _, coded := errors.AsType[*deed.Error](err); err == nil || coded {
		t.Errorf("got %v, want an error without a code", err)
	}
}

// canceledContext returns a context that is done.
func canceledContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
