package registration_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
)

// routed is a restore with a registrar of that name.
func (e *env) routed(name string) *registration.Restore {
	e.t.Helper()
	router, err := registrar.NewRouter(e.names, registrar.Backend{Name: name, Rest: true, Registrar: e.registry, Manager: e.registry})
	if err != nil {
		e.t.Fatal(err)
	}
	restore := e.restore()
	restore.Orders, restore.Lookup = router, router
	return restore
}

// A job that a restore creates or continues has the registrar of its order: it is looked
// up there when the job fails, and the name is managed there.
func TestFinishRestoreStoresTheRegistrar(t *testing.T) {
	e := newEnv(t)
	if err := e.registry.Faults.Set(local.FaultParked, 2); err != nil {
		t.Fatal(err)
	}
	lost := e.lose("0x0a")
	queued, err := (&wallet{e: e, nonce: "0x0b"}).Collect(t.Context(), order.Quote{Amount: 1306 * deed.Cent}, order.Purchase{Kind: order.PurchaseRegistration, Name: "queued.com", Years: 1})
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[string]deed.Name{lost: "lost.com", queued.ID: "queued.com"} {
		placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(id), 1), Name: name, Years: 1, Nameservers: ownServers}
		if err := e.registry.Place(t.Context(), placed); err == nil {
			t.Fatal("the order does not wait")
		}
	}
	if _, err := e.routed("main").Finish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{lost, queued.ID} {
		j, err := e.jobs.Job(t.Context(), order.JobID(id))
		if err != nil || j.State != order.JobVerifying || j.Attempts != 1 || j.Backend != "main" {
			t.Errorf("got %s with %d attempts at %q, %v", j.State, j.Attempts, j.Backend, err)
		}
	}
}

// One whose payment is not settled yet places its first order where it was placed before.
func TestFinishRestoreStoresTheRegistrarOfAnUnpaidJob(t *testing.T) {
	e := newEnv(t)
	p := e.unpaid("0x0a", "open.com")
	e.place(p.ID, "open.com")
	if _, err := e.routed("main").Finish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if j, err := e.jobs.Job(t.Context(), order.JobID(p.ID)); err != nil || j.Attempts != 0 || j.Backend != "main" {
		t.Errorf("got %d attempts at %q, %v", j.Attempts, j.Backend, err)
	}
}
