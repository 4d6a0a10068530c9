package sim

import (
	"context"
	"slices"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// A renewal that waits for another of its name is not due all the time: many of
// them would leave the worker no slot for other jobs.
func TestWaitingRenewalStepsBack(t *testing.T) {
	w, err := newWorld(1, false, func(*world) {})
	if err != nil {
		t.Fatal(err)
	}
	defer w.db.Close() // it is gone with the test
	w.faulty, w.left = false, 0
	name := w.names[0]
	w.buy(t, 0, order.PurchaseRegistration, name)
	for range 100 {
		w.tick(order.QuietWindow)
		w.work(w.procs[0])
	}
	w.registry.parking = true
	first := w.buy(t, 0, order.PurchaseRenewal, name)
	second := w.buy(t, 1, order.PurchaseRenewal, name)
	if first.State != order.JobVerifying || second.State != order.JobQueued {
		t.Fatalf("got %s and %s, want one that is at work and one that waits", first.State, second.State)
	}
	due, err := w.procs[0].pay.DueJobs(context.Background(), 8)
	if err != nil || slices.Contains(due, second.ID) {
		t.Errorf("got %v, %v, want the waiting job later", due, err)
	}
}

// buy orders something, and returns the job once it is paid.
func (w *world) buy(t *testing.T, buyer int, kind order.PurchaseKind, name deed.Name) order.Job {
	t.Helper()
	p := w.procs[0]
	r := w.sign(w.buyers[buyer], order.Request{Purchase: order.Purchase{Kind: kind, Name: name, Years: 1}})
	for range 100 {
		out, err := p.pay.Buy(context.Background(), r.Request, p.pay.Checkout(&r.auth, "", false))
		if err != nil {
			t.Fatal(err)
		}
		if out.Job.State != order.JobAwaitingPayment {
			return out.Job
		}
		w.tick(callTime)
	}
	t.Fatalf("%s of %s is never paid", kind, name)
	return order.Job{}
}
