package registrartest

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

const day = 24 * time.Hour

// Renewals runs the suite for renewals. The Env has a Manager.
func Renewals(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	runOperations(t, kind, open, renewing)
	for title, f := range renewals.of(kind) {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

var renewals = cases[Env]{
	"": {
		"from another expiry":        renewFromElsewhere,
		"a name of another account":  renewOtherAccount,
		"never past ten years":       renewTooFar,
		"in grace":                   renewInGrace,
		"restored from redemption":   renewRestores,
		"too late in pending delete": renewTooLate,
	},
	ByReference: {
		"several renewals":     renewAgain,
		"repeated years later": renewYearsLater,
	},
	ByState: {
		"several renewals": renewInTurn,
	},
}

// renewing returns a renewal by a year of a name in the account.
func renewing(t *testing.T, b Env) operation {
	b.registered(t, "order-0", name)
	from := b.holding(t, name).Expires
	return operation{
		Env:    b,
		kind:   b.renewal("", from),
		placed: registrar.OrderDone,
		taken:  deed.CodeNotFound,
		second: deed.CodeValidation,
		applied: func(t *testing.T) bool {
			t.Helper()
			got := b.holding(t, name).Expires
			if !got.Equal(from) && !got.Equal(from.AddDate(1, 0, 0)) {
				t.Errorf("expired %s before and %s after, want no year or one", from, got)
			}
			return !got.Equal(from)
		},
	}
}

func (b Env) renewal(reference string, from time.Time) registrar.Order {
	return registrar.Order{Kind: registrar.OrderRenew, Reference: reference, Name: name, Years: 1, From: from}
}

// holding returns the registry's data of the name.
func (b Env) holding(t *testing.T, n deed.Name) lifecycle.Holding {
	t.Helper()
	h, err := b.Manager.Holding(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (b Env) wantNotInAccount(t *testing.T, n deed.Name) {
	t.Helper()
	h, err := b.Manager.Holding(t.Context(), n)
	if deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %+v, %v, want a name that is not in the account", h, err)
	}
}

// bought registers the name and returns its expiry.
func (b Env) bought(t *testing.T) time.Time {
	t.Helper()
	b.registered(t, "order-0", name)
	return b.holding(t, name).Expires
}

// until moves the clock to the time.
func (b Env) until(at time.Time) { b.Advance(at.Sub(b.Now())) }

func renewFromElsewhere(t *testing.T, b Env) {
	from := b.bought(t)
	for i, wrong := range []time.Time{{}, from.Add(-time.Second), from.AddDate(1, 0, 0)} {
		reference := ref + string(rune('a'+i))
		for range 2 {
			wantCode(t, b.Registrar.Place(t.Context(), b.renewal(reference, wrong)), deed.CodeValidation)
		}
		b.wantNotDone(t, reference)
	}
	if got := b.holding(t, name).Expires; !got.Equal(from) {
		t.Errorf("expires %s, want %s", got, from)
	}
}

func renewOtherAccount(t *testing.T, b Env) {
	wantCode(t, b.Registrar.Place(t.Context(), b.renewal(ref, b.Now())), deed.CodeNotFound)
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.wantAvailable(t, name, true, "")
}

// Two renewals have both an effect, each done with the resulting expiry.
func renewAgain(t *testing.T, b Env) {
	from := b.bought(t)
	for i := range 3 {
		reference := ref + string(rune('a'+i))
		if err := b.Registrar.Place(t.Context(), b.renewal(reference, from.AddDate(i, 0, 0))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		got := b.wantOrder(t, ref+string(rune('a'+i)), name, registrar.OrderDone)
		if want := from.AddDate(i+1, 0, 0); !got.Expires.Equal(want) {
			t.Errorf("renewal %d left %s, want %s", i+1, got.Expires, want)
		}
	}
	first := b.wantOrder(t, "order-0", name, registrar.OrderDone)
	if !first.Expires.Equal(from) {
		t.Errorf("the registration left %s, want %s", first.Expires, from)
	}
}

// Each renewal is done when it has been placed, and not before.
func renewInTurn(t *testing.T, b Env) {
	from := b.bought(t)
	for i := range 3 {
		reference, start := ref+string(rune('a'+i)), from.AddDate(i, 0, 0)
		before, err := b.Registrar.Order(t.Context(), b.renewal(reference, start))
		if err != nil || before.State != registrar.OrderAbsent {
			t.Errorf("renewal %d before it is placed: got %+v, %v", i+1, before, err)
		}
		for range 2 {
			if err := b.Registrar.Place(t.Context(), b.renewal(reference, start)); err != nil {
				t.Fatal(err)
			}
			got := b.wantOrder(t, reference, name, registrar.OrderDone)
			if want := from.AddDate(i+1, 0, 0); !got.Expires.Equal(want) {
				t.Errorf("renewal %d left %s, want %s", i+1, got.Expires, want)
			}
		}
	}
}

// wantNotDone fails when an order that was refused is done. A backend that goes by the
// state of the name may see that the order could not have led to the state.
func (b Env) wantNotDone(t *testing.T, reference string) {
	t.Helper()
	got, err := b.Registrar.Order(t.Context(), b.order(reference, name))
	if b.kind == ByState && err != nil {
		wantUnknown(t, err)
		return
	}
	if err != nil || got.State != registrar.OrderAbsent {
		t.Errorf("order %s: got %q, %v, want absent", reference, got.State, err)
	}
}

func renewTooFar(t *testing.T, b Env) {
	from := b.bought(t)
	o := b.renewal(ref, from)
	o.Years = 10
	wantCode(t, b.Registrar.Place(t.Context(), o), deed.CodeRegistrationFailed)
	o.Reference, o.Years = rival, 9
	if err := b.Registrar.Place(t.Context(), o); err != nil {
		t.Error(err)
	}
	if got, want := b.holding(t, name).Expires, from.AddDate(9, 0, 0); !got.Equal(want) {
		t.Errorf("expires %s, want %s", got, want)
	}
}

func (b Env) wantPhase(t *testing.T, want lifecycle.Phase) {
	t.Helper()
	if got := b.holding(t, name); got.Phase != want {
		t.Errorf("got %s, want %s", got.Phase, want)
	}
}

func renewInGrace(t *testing.T, b Env) {
	from := b.bought(t)
	b.until(from.AddDate(0, 0, b.GraceDays).Add(-time.Second))
	b.wantPhase(t, lifecycle.PhaseGrace)
	b.wantAvailable(t, name, false, "taken")
	restored := b.renewal(rival, from)
	restored.Restore = true
	wantCode(t, b.Registrar.Place(t.Context(), restored), deed.CodeRegistrationFailed)
	if err := b.Registrar.Place(t.Context(), b.renewal(ref, from)); err != nil {
		t.Fatal(err)
	}
	b.wantPhase(t, lifecycle.PhaseActive)
	if got := b.holding(t, name).Expires; !got.Equal(from.AddDate(1, 0, 0)) {
		t.Errorf("expires %s, want a year after %s", got, from)
	}
}

func renewRestores(t *testing.T, b Env) {
	from := b.bought(t)
	b.until(from.AddDate(0, 0, b.GraceDays).Add(time.Second))
	b.wantPhase(t, lifecycle.PhaseRedemption)
	b.wantAvailable(t, name, false, "taken")
	wantCode(t, b.Registrar.Place(t.Context(), b.renewal(rival, from)), deed.CodeRegistrationFailed)
	restored := b.renewal(ref, from)
	restored.Restore = true
	for range 2 {
		if err := b.Registrar.Place(t.Context(), restored); err != nil {
			t.Fatal(err)
		}
	}
	b.wantPhase(t, lifecycle.PhaseActive)
	if got := b.wantOrder(t, ref, name, registrar.OrderDone); !got.Expires.Equal(from.AddDate(1, 0, 0)) {
		t.Errorf("expires %s, want a year after %s", got.Expires, from)
	}
}

func renewTooLate(t *testing.T, b Env) {
	from := b.bought(t)
	b.until(from.AddDate(0, 0, b.GraceDays+lifecycle.RedemptionDays).Add(time.Second))
	b.wantPhase(t, lifecycle.PhasePendingDelete)
	restored := b.renewal(ref, from)
	restored.Restore = true
	wantCode(t, b.Registrar.Place(t.Context(), restored), deed.CodeRegistrationFailed)
	b.Advance(lifecycle.PendingDeleteDays * day)
	restored.Reference = rival
	wantCode(t, b.Registrar.Place(t.Context(), restored), deed.CodeNotFound)
	b.wantNotInAccount(t, name)
	b.wantAvailable(t, name, true, "")
}

// A reference that had its effect once never has it again, however late it is
// repeated.
func renewYearsLater(t *testing.T, b Env) {
	from := b.bought(t)
	o := b.renewal(ref, from)
	o.Years = 5
	if err := b.Registrar.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := b.holding(t, name).Expires
	for range 3 {
		b.Advance(500 * day)
		if err := b.Registrar.Place(t.Context(), o); err != nil {
			t.Error(err)
		}
		if got := b.holding(t, name).Expires; !got.Equal(want) {
			t.Errorf("expires %s, want %s", got, want)
		}
	}
	b.until(want.AddDate(0, 0, b.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays))
	if err := b.Registrar.Place(t.Context(), o); err != nil {
		t.Errorf("after the name was deleted: %v", err)
	}
	b.wantNotInAccount(t, name)
}
