package registrartest

import (
	"context"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

func notDone(t *testing.T, b Env) {
	b.Break(t, Down, 4)
	_, err := b.Registrar.Available(t.Context(), name)
	wantUnknown(t, err)
	wantUnknown(t, b.register(t, ref, name))
	_, err = b.Registrar.Order(t.Context(), b.order(ref, name))
	wantUnknown(t, err)
	wantUnknown(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)))
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.wantAvailable(t, name, true, "")
	b.registered(t, ref, name)
}

func doneReplyLost(t *testing.T, b Env) {
	b.Break(t, LostReply, 1)
	wantUnknown(t, b.register(t, ref, name))
	first := b.wantOrder(t, ref, name, registrar.OrderDone)
	b.Advance(b.Late)
	b.registered(t, ref, name)
	if again := b.wantOrder(t, ref, name, registrar.OrderDone); again != first {
		t.Errorf("got %+v after %+v, want no change", again, first)
	}
}

func lostRefusal(t *testing.T, b Env) {
	b.registered(t, rival, name)
	b.Break(t, LostReply, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	wantCode(t, b.register(t, ref, name), deed.CodeDomainUnavailable)
}

func refuse(t *testing.T, b Env) { denied(t, b, Refuse, deed.CodeRegistrationFailed) }

func taken(t *testing.T, b Env) { denied(t, b, Taken, deed.CodeDomainUnavailable) }

// denied orders twice: an error with a code is final, so the order is never
// executed. Without references the registry must refuse both.
func denied(t *testing.T, b Env, f Fault, want deed.Code) {
	b.Break(t, f, b.refusals())
	for range 2 {
		wantCode(t, b.register(t, ref, name), want)
		b.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	b.registered(t, rival, name)
	b.Break(t, f, 1)
	b.registered(t, rival, name) // a name that is in the account already is a success
}

func late(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	placed := b.Now()
	wantUnknown(t, b.register(t, ref, name))
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	wantUnknown(t, b.register(t, ref, name)) // it is not placed twice
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.Advance(b.Late)
	got := b.wantOrder(t, ref, name, registrar.OrderDone)
	if want := got.Created.AddDate(1, 0, 0); !got.Expires.Equal(want) || !got.Created.After(placed) {
		t.Errorf("placed %s: got created %s and expires %s, want later and a year", placed, got.Created, got.Expires)
	}
	b.registered(t, ref, name)
	b.wantAvailable(t, name, false, "taken")
}

// refusals is how often the registry must refuse so that an order that is placed
// twice is refused twice.
func (b Env) refusals() int {
	if b.kind == ByState {
		return 2
	}
	return 1
}

// Placed again, an order of which nothing is seen is executed; then the late one finds
// the name taken.
func lateAgain(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.registered(t, ref, name)
	first := b.wantOrder(t, ref, name, registrar.OrderDone)
	b.Advance(2 * b.Late)
	if again := b.wantOrder(t, ref, name, registrar.OrderDone); again != first {
		t.Errorf("got %+v after %+v, want no change", again, first)
	}
}

func lateLoses(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.registered(t, rival, name)
	b.Advance(b.Late)
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	wantCode(t, b.register(t, ref, name), deed.CodeDomainUnavailable)
	b.wantOrder(t, rival, name, registrar.OrderDone)
}

func lateWins(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.Advance(b.Late)
	b.wantAvailable(t, name, false, "taken")
	wantCode(t, b.register(t, rival, name), deed.CodeDomainUnavailable)
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

func lateCancelled(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	if err := b.Registrar.Cancel(t.Context(), b.order(ref, name)); err != nil {
		t.Fatal(err)
	}
	b.Advance(2 * b.Late)
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.wantAvailable(t, name, true, "")
}

func cancelledTooLate(t *testing.T, b Env) {
	b.Break(t, Late, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.Advance(b.Late)
	wantCode(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)), deed.CodeNotFound)
	b.wantOrder(t, ref, name, registrar.OrderDone)
}

func parked(t *testing.T, b Env) {
	b.Break(t, Parked, 1)
	wantUnknown(t, b.register(t, ref, name))
	b.Advance(2 * b.Late)
	b.wantOrder(t, ref, name, registrar.OrderParked)
	for range 2 { // a caller that lost the first reply retries
		if err := b.Registrar.Cancel(t.Context(), b.order(ref, name)); err != nil {
			t.Fatal(err)
		}
		b.wantOrder(t, ref, name, registrar.OrderAbsent)
	}
	if err := b.register(t, ref, name); err == nil {
		t.Error("a cancelled order was placed again")
	}
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.registered(t, rival, name)
}

// A registry may even report success; only the lookup counts.
func wrongAccount(t *testing.T, b Env) {
	b.Break(t, WrongAccount, 1)
	_ = b.register(t, ref, name) // whatever it returns
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
	b.wantAvailable(t, name, false, "taken")
	wantCode(t, b.register(t, ref, name), deed.CodeDomainUnavailable)
	b.wantOrder(t, ref, name, registrar.OrderAbsent)
}

// Checks are not affected by the faults of orders and do not count them down.
func checksUnaffected(t *testing.T, b Env) {
	faults := []Fault{LostReply, Late, Taken, WrongAccount, Refuse}
	if b.kind == ByReference {
		faults = append([]Fault{Parked}, faults...)
	}
	for _, f := range faults {
		b.Break(t, f, 1)
		b.wantAvailable(t, name, true, "")
		b.wantOrder(t, ref, name, registrar.OrderAbsent)
		wantCode(t, b.Registrar.Cancel(t.Context(), b.order(ref, name)), deed.CodeNotFound)
	}
	wantCode(t, b.register(t, ref, name), deed.CodeRegistrationFailed)
}

// The caller leaves before the registry has started: it never executes the order.
func slow(t *testing.T, b Env) {
	b.Break(t, Slow, 1)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		result <- b.Registrar.Place(ctx, registrar.Order{Kind: registrar.OrderRegister, Reference: ref, Name: name, Years: 1})
	}()
	b.received()
	cancel()
	wantUnknown(t, <-result)
	b.registered(t, ref, name)
}

func (b Env) received() {
	if b.Received != nil {
		b.Received()
	}
}
