package registrartest

import (
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// Transfers runs the suite for transfers, in and out. The Env has a Manager and the
// functions of another registrar.
func Transfers(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	ready := func(t *testing.T) Env {
		b := open(t)
		if b.Elsewhere == nil || b.Leave == nil || b.Decide == nil {
			t.Skip("there is no other registrar")
		}
		return b
	}
	runOperations(t, kind, ready, transferring)
	for title, f := range map[string]func(*testing.T, Env){
		"pending, then in the account with another year": transferIn,
		"pending, then cancelled":                        transferCancelled,
		"pending, then rejected":                         transferRejected,
		"approved at once":                               transferApproved,
		"in the account, locked, and with another code":  transferInSecured,
		"wrong code":                      transferWrongCode,
		"not registered":                  transferNobody,
		"already in the account":          transferInAccount,
		"away":                            transferOut,
		"out, and rejected":               transferOutRejected,
		"out with an old code, or locked": transferOutRefused,
		"out too early":                   transferOutTooEarly,
		"out, and the code is used up":    transferOutWithCode,
	} {
		t.Run(title, func(t *testing.T) { f(t, ready(t)) })
	}
}

// transferTime is how long the losing registrar may reject a transfer.
const transferTime = registry.TransferDays * day

// transferring returns a transfer of a name at another registrar.
func transferring(t *testing.T, b Env) operation {
	code := b.Elsewhere(t, name)
	return operation{
		Env:    b,
		kind:   b.transfer("", code),
		placed: registrar.OrderPending,
		taken:  deed.CodeRegistrationFailed,
		second: deed.CodeRegistrationFailed,
		applied: func(t *testing.T) bool {
			t.Helper()
			b.Advance(transferTime)
			_, err := b.Manager.Holding(t.Context(), name)
			return err == nil
		},
	}
}

func (b Env) transfer(reference string, code deed.Secret) registrar.Order {
	return registrar.Order{Kind: registrar.OrderTransfer, Reference: reference, Name: name, Years: 1, AuthCode: code}
}

// requested places a transfer of the name and fails unless it is pending.
func (b Env) requested(t *testing.T, reference string, code deed.Secret) {
	t.Helper()
	if err := b.Registrar.Place(t.Context(), b.transfer(reference, code)); err != nil {
		t.Fatal(err)
	}
	b.wantOrder(t, reference, name, registrar.OrderPending)
}

func (b Env) decided(t *testing.T, approve bool) {
	t.Helper()
	if err := b.Decide(name, approve); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Decide(name, approve), deed.CodeNotFound)
}

func transferIn(t *testing.T, b Env) {
	b.requested(t, ref, b.Elsewhere(t, name))
	b.wantAvailable(t, name, false, "taken")
	b.Advance(transferTime - time.Second)
	b.wantOrder(t, ref, name, registrar.OrderPending)
	b.wantNotInAccount(t, name)
	b.Advance(time.Second)
	got := b.wantOrder(t, ref, name, registrar.OrderDone)
	h := b.holding(t, name)
	if b.otherReference(h, ref) || !h.Expires.Equal(got.Expires) || !h.Created.Equal(got.Created) {
		t.Errorf("got %+v, want the dates of the order: %+v", h, got)
	}
	if least := b.Now().AddDate(1, 0, 0); h.Expires.Before(least) {
		t.Errorf("expires %s, want a year more than it had, after %s", h.Expires, least)
	}
	b.wantAvailable(t, name, false, "taken")
}

func transferCancelled(t *testing.T, b Env) {
	code := b.Elsewhere(t, name)
	b.requested(t, ref, code)
	for range 2 {
		if err := b.Registrar.Cancel(t.Context(), b.order(ref, name)); err != nil {
			t.Fatal(err)
		}
		b.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	wantCode(t, b.Decide(name, true), deed.CodeNotFound)
	b.Advance(2 * transferTime)
	b.wantNotInAccount(t, name)
	b.requested(t, rival, code)
}

func transferRejected(t *testing.T, b Env) {
	code := b.Elsewhere(t, name)
	b.requested(t, ref, code)
	b.decided(t, false)
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	if b.kind == ByReference { // otherwise it could be requested again
		wantCode(t, b.Registrar.Place(t.Context(), b.transfer(ref, code)), deed.CodeRegistrationFailed)
	}
	b.Advance(2 * transferTime)
	b.wantNotInAccount(t, name)
}

func transferApproved(t *testing.T, b Env) {
	code := b.Elsewhere(t, name)
	b.requested(t, ref, code)
	b.decided(t, true)
	first := b.wantOrder(t, ref, name, registrar.OrderDone)
	b.Advance(2 * transferTime)
	if again := b.wantOrder(t, ref, name, registrar.OrderDone); again != first {
		t.Errorf("got %+v after %+v, want no change", again, first)
	}
	wantCode(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)), deed.CodeNotFound)
}

// Its last holder cannot transfer the name back with the code that it has given away.
func transferInSecured(t *testing.T, b Env) {
	code := b.Elsewhere(t, name)
	b.requested(t, ref, code)
	b.decided(t, true)
	b.wantOrder(t, ref, name, registrar.OrderDone)
	if h := b.holding(t, name); !h.Locked {
		t.Errorf("got %+v, want it locked", h)
	}
	b.Advance(registry.TransferLockDays * day)
	if err := b.Manager.SetLock(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Leave(name, code), deed.CodeValidation)
}

func transferWrongCode(t *testing.T, b Env) {
	code := b.Elsewhere(t, name)
	for i, wrong := range []deed.Secret{"", "wrong", code + "x"} {
		reference := ref + string(rune('a'+i))
		for range 2 {
			wantCode(t, b.Registrar.Place(t.Context(), b.transfer(reference, wrong)), deed.CodeValidation)
		}
		b.wantOrder(t, reference, name, registrar.OrderAbsent)
	}
	b.requested(t, ref, code)
}

func transferNobody(t *testing.T, b Env) {
	wantCode(t, b.Registrar.Place(t.Context(), b.transfer(ref, "code")), deed.CodeNotFound)
	b.wantAvailable(t, name, true, "")
}

func transferInAccount(t *testing.T, b Env) {
	b.registered(t, ref, name)
	wantCode(t, b.Registrar.Place(t.Context(), b.transfer(rival, "code")), deed.CodeRegistrationFailed)
}

// movable registers a name that may be transferred, and returns its code.
func (b Env) movable(t *testing.T) deed.Secret {
	t.Helper()
	b.registered(t, "order-0", name)
	b.Advance(registry.TransferLockDays * day)
	return b.unlocked(t)
}

func (b Env) unlocked(t *testing.T) deed.Secret {
	t.Helper()
	if err := b.Manager.SetLock(t.Context(), name, false); err != nil {
		t.Fatal(err)
	}
	code, err := b.Manager.AuthCode(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func (b Env) leaves(t *testing.T, code deed.Secret) {
	t.Helper()
	if err := b.Leave(name, code); err != nil {
		t.Fatal(err)
	}
	if h := b.holding(t, name); !slices.Contains(h.EPPStatus, "pendingTransfer") {
		t.Errorf("got %v, want pendingTransfer", h.EPPStatus)
	}
}

func transferOut(t *testing.T, b Env) {
	b.leaves(t, b.movable(t))
	wantCode(t, b.Manager.SetLock(t.Context(), name, true), deed.CodeValidation)
	wantCode(t, b.Registrar.Place(t.Context(), b.renewal(rival, b.holding(t, name).Expires)), deed.CodeRegistrationFailed)
	b.Advance(transferTime - time.Second)
	if b.kind == ByReference { // otherwise the order was recognised by a code that has been replaced
		b.wantOrder(t, "order-0", name, registrar.OrderDone)
	}
	b.Advance(time.Second)
	b.wantNotInAccount(t, name)
	b.wantOrder(t, "order-0", name, registrar.OrderAbsent)
	b.wantAvailable(t, name, false, "taken")
	wantCode(t, b.register(t, "order-0", name), deed.CodeDomainUnavailable)
}

func transferOutRejected(t *testing.T, b Env) {
	b.leaves(t, b.movable(t))
	before := b.holding(t, name).Expires
	b.decided(t, false)
	b.Advance(2 * transferTime)
	h := b.holding(t, name)
	if slices.Contains(h.EPPStatus, "pendingTransfer") || !h.Expires.Equal(before) {
		t.Errorf("got %+v, want it as before", h)
	}
}

func transferOutRefused(t *testing.T, b Env) {
	first := b.movable(t)
	second := b.unlocked(t)
	wantCode(t, b.Leave(name, first), deed.CodeValidation) // older codes are invalid
	wantCode(t, b.Leave(name, ""), deed.CodeValidation)
	if err := b.Manager.SetLock(t.Context(), name, true); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Leave(name, second), deed.CodeRegistrationFailed)
	b.Advance(2 * transferTime)
	b.holding(t, name)
}

func transferOutTooEarly(t *testing.T, b Env) {
	b.registered(t, ref, name)
	b.Advance(registry.TransferLockDays*day - time.Second)
	code := b.unlocked(t)
	wantCode(t, b.Leave(name, code), deed.CodeRegistrationFailed)
	b.Advance(time.Second)
	b.leaves(t, code)
}

// The code of a transfer out cannot be used to transfer the name back.
func transferOutWithCode(t *testing.T, b Env) {
	code := b.movable(t)
	b.leaves(t, code)
	b.decided(t, true)
	b.Advance(registry.TransferLockDays * day)
	wantCode(t, b.Registrar.Place(t.Context(), b.transfer(ref, code)), deed.CodeValidation)
	b.wantNotInAccount(t, name)
}
