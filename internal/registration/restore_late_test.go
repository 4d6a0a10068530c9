package registration_test

import (
	"context"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// settledOn is a chain that has settled every payment, and refunded some.
type settledOn struct{ refundedOn }

func (settledOn) Settle(context.Context, settle.Authorization) (string, error) {
	return "0xsettled", nil
}

// refunded fails the test unless the payment is due for refund, its order is not
// delivered, and what its registry executed is watched.
func (e *env) refunded(id string, name deed.Name) {
	e.t.Helper()
	job := order.JobID(id)
	if err := e.engine.AdvanceJob(e.t.Context(), job); err != nil {
		e.t.Error(err)
	}
	if p, err := e.payments.Payment(e.t.Context(), id); err != nil || p.State != order.PaymentRefundDue {
		e.t.Errorf("the payment is %s, %v", p.State, err)
	}
	if r, err := e.names.Registration(e.t.Context(), name); deed.CodeOf(err) != deed.CodeNotFound {
		e.t.Errorf("the name was delivered: %+v, %v", r, err)
	}
	late := sqldb.LateOrders{DB: e.jobs.DB, Now: e.Now}
	if l, err := late.LateOrder(e.t.Context(), job); err != nil || l.State != order.LateWatching || l.Job.Reference != order.OrderReference(job, 1) {
		e.t.Errorf("the late order: %+v, %v", l, err)
	}
	findings, err := sqldb.Audit{DB: e.jobs.DB}.Run(e.t.Context())
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken > 0 {
			e.t.Errorf("%s: %d", f.Invariant, f.Broken)
		}
	}
}

func (e *env) place(id string, name deed.Name) {
	e.t.Helper()
	placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(id), 1), Name: name, Years: 1, Nameservers: ownServers}
	if err := e.registry.Place(e.t.Context(), placed); err != nil {
		e.t.Fatal(err)
	}
}

// An order that a registry executed after its refund, both since the backup, is not
// delivered by a restore: its payer has the money.
func TestFinishRestoreOfALateOrder(t *testing.T) {
	e := newEnv(t)
	lost := e.lose("0x0a")
	e.place(lost, "late.com")
	restore := e.restore()
	restore.Chain = refundedOn{lost: true}
	for _, dryRun := range []bool{true, false} {
		if all, err := restore.Finish(t.Context(), dryRun); err != nil || len(all) != 1 || all[0].Order.Name != "" || all[0].Undecided != "" {
			t.Fatalf("got %+v, %v", all, err)
		}
	}
	e.refunded(lost, "late.com")
}

// Neither is one whose name somebody else has bought since: its payer is refunded once.
func TestFinishRestoreOfALateOrderForASoldName(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("sold.com", "0x0c"); err != nil {
		t.Fatal(err)
	}
	lost := e.lose("0x0a")
	restore := e.restore()
	restore.Chain = refundedOn{lost: true}
	restore.Orders, restore.Lookup = doneOrders{e.registry, "sold.com"}, doneOrders{e.registry, "sold.com"}
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	if p, err := e.payments.Payment(t.Context(), lost); err != nil || p.State != order.PaymentRefundDue {
		t.Errorf("got %s, %v", p.State, err)
	}
	if r, err := e.names.Registration(t.Context(), "sold.com"); err != nil || r.PaymentID == lost {
		t.Errorf("got %+v, %v", r, err)
	}
}

// doneOrders is a registrar that has executed every order, for one name.
type doneOrders struct {
	registrar.Registrar
	name deed.Name
}

func (d doneOrders) FindOrder(_ context.Context, reference string) (registrar.Order, error) {
	return registrar.Order{Kind: registrar.OrderRegister, Reference: reference, Name: d.name, Years: 1}, nil
}

func (d doneOrders) Order(context.Context, registrar.Order) (registrar.OrderStatus, error) {
	return registrar.OrderStatus{State: registrar.OrderDone}, nil
}

// unpaid opens an order whose payment is being settled.
func (e *env) unpaid(nonce string, name deed.Name) order.Payment {
	e.t.Helper()
	auth := settle.Authorization{Payer: payer, PayTo: "0x02", Amount: 1306 * deed.Cent, Nonce: nonce, Signature: []byte(nonce)}
	p := order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, State: order.PaymentSettling,
		Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1}}
	if _, err := e.payments.AuthorizePayment(e.t.Context(), p, func(order.Payer) error { return nil }); err != nil {
		e.t.Fatal(err)
	}
	return p
}

// Nor is one whose payment was still being settled in the backup.
func TestFinishRestoreOfALateOrderOfAnOpenJob(t *testing.T) {
	e := newEnv(t)
	p := e.unpaid("0x0a", "late.com")
	e.place(p.ID, "late.com")
	restore := e.restore()
	restore.Chain = settledOn{refundedOn{p.ID: true}}
	if _, err := restore.Finish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	e.refunded(p.ID, "late.com")
}
