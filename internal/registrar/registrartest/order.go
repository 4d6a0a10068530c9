package registrartest

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

func available(t *testing.T, b Env) {
	b.wantAvailable(t, name, true, "")
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.registered(t, ref, name)
	b.wantAvailable(t, name, false, "taken")
	b.wantAvailable(t, other, true, "")
}

func reserved(t *testing.T, b Env) {
	b.wantAvailable(t, b.Reserved, false, "reserved")
	wantCode(t, b.register(t, ref, b.Reserved), deed.CodeDomainUnavailable)
	b.wantOrder(t, ref, b.Reserved, registrar.OrderAbsent)
}

func dates(t *testing.T, b Env) {
	before := b.Now().UTC().Truncate(time.Second)
	if err := b.Registrar.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: ref, Name: name, Years: 3}); err != nil {
		t.Fatal(err)
	}
	after := b.Now()
	got := b.wantOrder(t, ref, name, registrar.OrderDone)
	if got.Created.Before(before) || got.Created.After(after) {
		t.Errorf("created %s, want between %s and %s", got.Created, before, after)
	}
	if want := got.Created.AddDate(3, 0, 0); !got.Expires.Equal(want) {
		t.Errorf("expires %s, want %s", got.Expires, want)
	}
}

func twice(t *testing.T, b Env) {
	b.registered(t, ref, name)
	first := b.wantOrder(t, ref, name, registrar.OrderDone)
	b.Advance(time.Hour)
	b.registered(t, ref, name)
	if again := b.wantOrder(t, ref, name, registrar.OrderDone); again != first {
		t.Errorf("got %+v after %+v, want no change", again, first)
	}
}

func oneOrder(t *testing.T, b Env) {
	b.registered(t, ref, name)
	if err := b.register(t, ref, other); err == nil {
		t.Error("one reference bought two names")
	}
	b.wantOrder(t, ref, other, registrar.OrderAbsent)
	b.wantOrder(t, ref, name, registrar.OrderDone)
	b.wantAvailable(t, other, true, "")

	const third = "suite-third.com" // never ordered before
	wantCode(t, b.register(t, rival, name), deed.CodeDomainUnavailable)
	if err := b.register(t, rival, third); err == nil {
		t.Error("the reference of a refused order bought another name")
	}
	b.wantOrder(t, rival, third, registrar.OrderAbsent)
	b.wantAvailable(t, third, true, "")
}

func secondReferenceRefused(t *testing.T, b Env) {
	b.registered(t, ref, name)
	for range 2 {
		wantCode(t, b.register(t, rival, name), deed.CodeDomainUnavailable)
		b.wantOrder(t, rival, name, registrar.OrderAbsent)
	}
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

func nothingToCancel(t *testing.T, b Env) {
	wantCode(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)), deed.CodeNotFound)
	b.registered(t, ref, name)
	wantCode(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)), deed.CodeNotFound)
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

func callerCanceled(t *testing.T, b Env) {
	ctx := canceledContext(t)
	_, err := b.Registrar.Available(ctx, name)
	wantUnknown(t, err)
	wantUnknown(t, b.Registrar.Place(ctx, registrar.Order{Kind: registrar.OrderRegister, Reference: ref, Name: name, Years: 1}))
	_, err = b.Registrar.Order(ctx, b.order(ref, name))
	wantUnknown(t, err)
	wantUnknown(t, b.Registrar.Cancel(ctx, b.order(ref, name)))
	b.registered(t, ref, name)
}
