package registration_test

import (
	"context"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/local"
)

// beginCancellation begins to cancel a new registration.
func (e *env) beginCancellation(name deed.Name) lifecycle.Cancellation {
	e.t.Helper()
	r, err := e.names.Registration(e.t.Context(), name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		_, r, err = e.register(name, "1")
	}
	c := lifecycle.Cancellation{Name: r.Name, Reference: r.Reference, Backend: r.Backend, PaymentID: r.PaymentID, Wallet: r.Owner, Paid: 1306 * deed.Cent, Fee: 20 * deed.Cent}
	if err == nil {
		err = e.cancels.BeginCancellation(e.t.Context(), c, r, lifecycle.CancelLimit{Terms: lifecycle.CancelTerms{Monthly: 5}, Wallet: 5, Period: time.Hour})
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return c
}

// A slowDeleter accepts deletions first, and executes none; then it refuses them.
type slowDeleter struct {
	*local.Registry
	answers []error
}

func (d *slowDeleter) Delete(context.Context, deed.Name) error {
	answer := d.answers[0]
	d.answers = d.answers[1:]
	return answer
}

// A deletion that was accepted is executed after another one was refused, and the name was
// still there: a process that stands still then, until no deletion can be executed any more,
// does not say that the name stays with its owner.
func TestDeletionIsExecutedAfterALook(t *testing.T) {
	e := newEnv(t)
	c := e.beginCancellation("first.com")
	e.Cancels, e.Manager = e.cancels, &slowDeleter{e.registry, []error{nil, deed.Errorf(deed.CodeRegistrationFailed, "not now")}}
	looks := 0
	e.Step = func(name string) {
		if name != "job: deleted" {
			return
		}
		if looks++; looks == 2 {
			if err := e.registry.Delete(t.Context(), c.Name); err != nil {
				t.Error(err)
			}
			e.now = e.now.Add(time.Hour)
		}
	}
	for i, want := range []lifecycle.CancelState{lifecycle.CancelDeleting, lifecycle.CancelDeleting, lifecycle.CancelDone} {
		if err := e.AdvanceCancellation(t.Context(), c.Reference); err != nil {
			t.Fatal(err)
		}
		if got, err := e.cancels.Cancellation(t.Context(), c.Reference); err != nil || got.State != want {
			t.Fatalf("after attempt %d: got %s, %q, %v, want %s", i+1, got.State, got.Reason, err, want)
		}
		e.now = e.now.Add(10 * time.Second)
	}
}

// A process that stood still while a cancellation ended, and another one of the same
// registration began, does not change that one: it would say, for example, that a name cannot
// leave that can.
func TestStaleProcessOfAnEarlierCancellation(t *testing.T) {
	e := newEnv(t)
	c := e.beginCancellation("first.com")
	attempt := func() lifecycle.Cancellation {
		t.Helper()
		read, err := e.cancels.Cancellation(t.Context(), c.Reference)
		if err != nil {
			t.Fatal(err)
		}
		if leased, err := e.cancels.LeaseCancellation(t.Context(), read, e.now, e.now); err != nil || !leased {
			t.Fatal(leased, err)
		}
		read.Tries++
		return read
	}
	stale := attempt()
	kept := attempt()
	kept.Reason = "it was refused"
	if err := e.cancels.KeepName(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	e.beginCancellation("first.com")
	attempt()
	if err := e.cancels.SecureCancellation(t.Context(), stale); err == nil {
		t.Error("it secured the second one")
	}
	if err := e.cancels.FinishCancellation(t.Context(), stale); err != nil {
		t.Error(err)
	}
	if got, err := e.cancels.Cancellation(t.Context(), c.Reference); err != nil || got.State != lifecycle.CancelDeleting || got.Secured {
		t.Errorf("got %+v, %v", got, err)
	}
}
