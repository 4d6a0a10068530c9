package registration_test

import (
	"context"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
)

// parkedRenewal buys a renewal whose order waits at the registry, and returns its job and
// how it was before the order was placed.
func (e *env) parkedRenewal() (before, after order.Job) {
	e.t.Helper()
	if _, _, err := e.register("kept.com", "0x0c"); err != nil {
		e.t.Fatal(err)
	}
	if err := e.registry.Faults.Set(local.FaultParked, 1); err != nil {
		e.t.Fatal(err)
	}
	before, _, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "kept.com", Years: 1}, &wallet{e: e, nonce: "0x0d"})
	if before.ID == "" {
		e.t.Fatal(err)
	}
	after, err = e.jobs.Job(e.t.Context(), before.ID)
	if err != nil || after.State != order.JobVerifying || after.Attempts != 1 {
		e.t.Fatalf("got %+v, %v", after, err)
	}
	before = after
	before.State, before.Attempts, before.Reference = order.JobQueued, 0, ""
	return before, after
}

// waits fails the test unless the registry still has the order, and the job is as it was.
func (e *env) waits(j order.Job) {
	e.t.Helper()
	if status, err := e.registry.Order(e.t.Context(), registrar.Order{Reference: j.Reference, Name: j.Purchase.Name, Kind: registrar.OrderRenew}); err != nil || status.State != registrar.OrderParked {
		e.t.Errorf("the order: got %+v, %v", status, err)
	}
	if got, err := e.jobs.Job(e.t.Context(), j.ID); err != nil || got.State != j.State || got.Attempts != j.Attempts {
		e.t.Errorf("the job: got %+v, %v", got, err)
	}
}

// jobsBefore are jobs that a node has moved since they were listed.
type jobsBefore struct {
	sqldb.Jobs
	listed order.Job
}

func (j jobsBefore) Unfinished(context.Context) ([]order.Job, error) {
	return []order.Job{j.listed}, nil
}

// A renewal whose job knows its order is left to that job: a node on the restored
// database may have placed it, also since the jobs were listed.
func TestFinishRestoreLeavesOrdersOfRunningNodes(t *testing.T) {
	e := newEnv(t)
	before, after := e.parkedRenewal()
	restore := e.restore()
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 0 {
		t.Errorf("got %+v, %v", all, err)
	}
	e.waits(after)
	restore.Jobs = jobsBefore{e.jobs, before}
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 0 {
		t.Errorf("listed before: got %+v, %v", all, err)
	}
	e.waits(after)
}

// A renewal that waits at the registry, and whose job in the backup has no order yet, is
// cancelled.
func TestFinishRestoreCancelsLaterOrders(t *testing.T) {
	e := newEnv(t)
	_, held, err := e.register("kept.com", "0x0c")
	if err != nil {
		t.Fatal(err)
	}
	paid, err := (&wallet{e: e, nonce: "0x0d"}).Collect(t.Context(), order.Quote{Amount: 1306 * deed.Cent}, order.Purchase{Kind: order.PurchaseRenewal, Name: "kept.com", Years: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.registry.Faults.Set(local.FaultParked, 1); err != nil {
		t.Fatal(err)
	}
	placed := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(paid.ID), 1), Name: "kept.com", Years: 1, From: held.Expires}
	if err := e.registry.Place(t.Context(), placed); err == nil {
		t.Fatal("the order does not wait")
	}
	if _, err := e.restore().Finish(t.Context(), false); err == nil || !strings.Contains(err.Error(), "was cancelled: run this again") {
		t.Errorf("got %v", err)
	}
	if status, err := e.registry.Order(t.Context(), placed); err != nil || status.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v", status, err)
	}
}

// A renewal that was not ordered in the backup, and that a registrar which cannot find orders
// has executed since, is delivered, also if the name is compared with its registry first: its
// payment does not go back, and no other year is ordered.
func TestRenewalExecutedSinceTheBackup(t *testing.T) {
	for title, from := range map[string]bool{"from any expiry": false, "from that expiry": true} {
		t.Run(title, func(t *testing.T) {
			e := newEnv(t)
			_, held, err := e.register("kept.com", "0x0c")
			if err != nil {
				t.Fatal(err)
			}
			p := order.Purchase{Kind: order.PurchaseRenewal, Name: "kept.com", Years: 1}
			if from {
				p.From = held.Expires
			}
			paid, err := (&wallet{e: e, nonce: "0x0d"}).Collect(t.Context(), order.Quote{Amount: 1306 * deed.Cent}, p)
			if err != nil {
				t.Fatal(err)
			}
			placed := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(paid.ID), 1), Name: "kept.com", Years: 1, From: held.Expires}
			if err := e.registry.Place(t.Context(), placed); err != nil {
				t.Fatal(err)
			}
			router, err := registrar.NewRouter(e.names, registrar.Backend{Name: "unable", Rest: true, Registrar: struct{ registrar.Registrar }{e.registry}, Manager: e.registry})
			if err != nil {
				t.Fatal(err)
			}
			restore := e.restore()
			restore.Orders, restore.Lookup = router, router
			if _, err := restore.Finish(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			e.compare("kept.com")
			if err := e.engine.AdvanceJob(t.Context(), order.JobID(paid.ID)); err != nil {
				t.Fatal(err)
			}
			if p, err := e.payments.Payment(t.Context(), paid.ID); err != nil || p.State != order.PaymentConsumed {
				t.Errorf("the payment: got %s, %v", p.State, err)
			}
			h, err := e.registry.Holding(t.Context(), "kept.com")
			if want := held.Expires.AddDate(1, 0, 0); err != nil || !h.Expires.Equal(want) {
				t.Errorf("got %s, %v, want %s", h.Expires, err, want)
			}
		})
	}
}
