package registrartest

import (
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// Deletions runs the suite for registrar.Deleter, which the Manager must implement.
func Deletions(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	for title, f := range map[string]func(*testing.T, Env){
		"in the add grace period": deleteNew,
		"later":                   deleteOld,
		"not in the account":      deleteOther,
		"while it is transferred": deleteLeaving,
		"no reply":                deleteDown,
	} {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

func (b Env) delete(t *testing.T, n deed.Name) error {
	t.Helper()
	d, ok := b.Manager.(registrar.Deleter)
	if !ok {
		t.Fatal("the backend does not delete names")
	}
	return d.Delete(t.Context(), n)
}

// A new name is gone at once, and anyone can register it.
func deleteNew(t *testing.T, b Env) {
	b.registered(t, ref, name)
	b.Advance(registry.AddGraceDays*day - time.Minute)
	if err := b.delete(t, name); err != nil {
		t.Fatal(err)
	}
	b.wantNotInAccount(t, name)
	wantCode(t, b.delete(t, name), deed.CodeNotFound)
	b.wantAvailable(t, name, true, "")
	b.registered(t, rival, name)
	if h := b.holding(t, name); b.otherReference(h, rival) || !slices.Contains(h.EPPStatus, "addPeriod") {
		t.Errorf("registered again: got %+v", h)
	}
}

// An old name goes into redemption.
func deleteOld(t *testing.T, b Env) {
	b.registered(t, ref, name)
	b.Advance(registry.AddGraceDays * day)
	if err := b.delete(t, name); err != nil {
		t.Fatal(err)
	}
	if h := b.holding(t, name); h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("got %+v", h)
	}
	b.wantAvailable(t, name, false, "taken")
	if err := b.delete(t, name); err != nil { // it is deleted already: refused, or nothing happens
		wantCode(t, err, deed.CodeValidation)
	}
	if h := b.holding(t, name); h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("deleted again: got %+v", h)
	}
}

func deleteOther(t *testing.T, b Env) {
	wantCode(t, b.delete(t, other), deed.CodeNotFound)
	if b.Elsewhere != nil {
		b.Elsewhere(t, name)
		wantCode(t, b.delete(t, name), deed.CodeNotFound)
		b.wantAvailable(t, name, false, "taken")
	}
}

func deleteLeaving(t *testing.T, b Env) {
	if b.Leave == nil {
		t.Skip("nobody transfers names")
	}
	b.registered(t, ref, name)
	b.Advance(registry.TransferLockDays * day)
	if err := b.Manager.SetLock(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	code, err := b.Manager.AuthCode(t.Context(), name)
	if err == nil {
		err = b.Leave(name, code)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.delete(t, name), deed.CodeValidation)
	b.holding(t, name)
}

// After a missing reply the state of the name tells what happened.
func deleteDown(t *testing.T, b Env) {
	b.registered(t, ref, name)
	b.Break(t, Down, 1)
	wantUnknown(t, b.delete(t, name))
	b.holding(t, name)
}
