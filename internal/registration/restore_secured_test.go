package registration_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// The backup is of a time at which a name was locked to be deleted. What happened to the name
// since decides whether its cancellation is continued, and what goes back.
func TestFinishRestoreOfAnOpenCancellation(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(e *env) error // the restore is finished
		want          lifecycle.CancelState
		label         order.RefundLabel
	}{
		"not deleted yet":             {want: lifecycle.CancelDone, label: order.RefundUndo},
		"deleted":                     {before: deleteFirst, want: lifecycle.CancelDone, label: order.RefundUndo},
		"moved to another registrar":  {before: leaveFirst, want: lifecycle.CancelKept},
		"moved after the restore":     {after: leaveFirst, want: lifecycle.CancelKept},
		"unlocked, and still with us": {before: unlockFirst, want: lifecycle.CancelDone, label: order.RefundUndo},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.Cancels, e.Manager = e.cancels, e.registry
			begun := e.beginCancellation("first.com")
			if err := e.cancels.SecureCancellation(t.Context(), begun); err != nil {
				t.Fatal(err)
			}
			if c.before != nil {
				if err := c.before(e); err != nil {
					t.Fatal(err)
				}
			}
			e.finished(e.undoneRestore(), 0)
			if c.after != nil {
				if err := c.after(e); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 { // until a deletion cannot be executed any more
				if err := e.AdvanceCancellation(t.Context(), begun.Reference); err != nil {
					t.Fatal(err)
				}
				e.now = e.now.Add(time.Minute)
			}
			got, err := e.cancels.Cancellation(t.Context(), begun.Reference)
			if err != nil || got.State != c.want {
				t.Errorf("the cancellation is %s, %q, %v, want %s", got.State, got.Reason, err, c.want)
			}
			if p, err := e.payments.Payment(t.Context(), begun.PaymentID); err != nil || p.Part.Label != c.label {
				t.Errorf("%q of the payment goes back: %v, want %q", p.Part.Label, err, c.label)
			}
		})
	}
}

func deleteFirst(e *env) error { return e.registry.Delete(e.t.Context(), "first.com") }

func unlockFirst(e *env) error { return e.registry.SetLock(e.t.Context(), "first.com", false) }

// leaveFirst moves the name away when the registry allows it.
func leaveFirst(e *env) error {
	e.now = e.now.AddDate(0, 0, 61)
	code, err := e.registry.AuthCode(e.t.Context(), "first.com")
	if err == nil {
		err = unlockFirst(e)
	}
	if err == nil {
		err = e.registry.Leave(e.t.Context(), "first.com", code)
	}
	if err == nil {
		err = e.registry.Decide(e.t.Context(), "first.com", true)
	}
	return err
}

// A deletion that is on its way is waited for.
func TestFinishRestoreWaitsForADeletion(t *testing.T) {
	e := newEnv(t)
	c := e.beginCancellation("first.com")
	if err := e.cancels.SecureCancellation(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if leased, err := e.cancels.LeaseCancellation(t.Context(), c, e.now.Add(order.JobLease), e.now.Add(order.JobLease+order.QuietWindow)); err != nil || !leased {
		t.Fatal(leased, err)
	}
	if _, err := e.undoneRestore().Finish(t.Context(), false); err == nil {
		t.Error("it was not waited for")
	}
	e.now = e.now.Add(time.Minute)
	e.finished(e.undoneRestore(), 0)
	if got, err := e.cancels.Cancellation(t.Context(), c.Reference); err != nil || got.Secured {
		t.Errorf("got %+v, %v", got, err)
	}
}
