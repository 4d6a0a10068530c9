package registration_test

import (
	"context"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

const undone = 1206 * deed.Cent // what goes back for a cancelled registration

// undoneOn is a chain on which these payments were settled, and refunded when their
// registration was cancelled.
type undoneOn struct {
	settledOn
	ids map[string]bool
}

func (c undoneOn) RefundedAll(ctx context.Context, all []settle.Refund) (refunded []bool, err error) {
	for _, r := range all {
		refunded = append(refunded, r.Label == string(order.RefundUndo) && c.ids[r.PaymentID])
	}
	return refunded, nil
}

func (c undoneOn) RefundedAmount(_ context.Context, r settle.Refund) (deed.USDC, error) {
	if r.Label == string(order.RefundUndo) && c.ids[r.PaymentID] {
		return undone, nil
	}
	return 0, nil
}

// undoneRestore is a restore on such a chain.
func (e *env) undoneRestore(ids ...string) *registration.Restore {
	on := undoneOn{ids: map[string]bool{}}
	for _, id := range ids {
		on.ids[id] = true
	}
	restore := e.restore()
	restore.Chain = on
	return restore
}

// finished finishes a restore that decides on this many payments, and then on none.
func (e *env) finished(restore *registration.Restore, n int) {
	e.t.Helper()
	for _, run := range []struct {
		dry  bool
		want int
	}{{true, n}, {false, n}, {false, 0}} {
		if all, err := restore.Finish(e.t.Context(), run.dry); err != nil || len(all) != run.want {
			e.t.Fatalf("dry run %t: got %+v, %v, want %d payments", run.dry, all, err, run.want)
		}
	}
}

// cancelled fails the test unless the payment is due for the refund that the chain has, and
// nobody has the name for it.
func (e *env) cancelled(id string, name deed.Name) {
	e.t.Helper()
	p, err := e.payments.Payment(e.t.Context(), id)
	if err != nil || p.State != order.PaymentRefundDue || p.Part.Label != order.RefundUndo || p.Part.Amount != undone {
		e.t.Errorf("the payment is %s, and %+v of it goes back: %v", p.State, p.Part, err)
	}
	if r, err := e.names.Registration(e.t.Context(), name); err == nil && r.PaymentID == id {
		e.t.Errorf("the name is registered: %+v", r)
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

// A payment that is missing in the backup, and whose registration was cancelled since, is
// not refunded as a whole: the chain has a part of it already, and would refuse that.
func TestFinishRestoreOfALostCancellation(t *testing.T) {
	for name, known := range map[string]bool{"the registry finds its order": true, "the registry has forgotten it": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			lost := e.lose("0x0a")
			if known {
				e.place(lost, "undone.com")
				if err := e.registry.Delete(t.Context(), "undone.com"); err != nil {
					t.Fatal(err)
				}
			}
			e.finished(e.undoneRestore(lost), 1)
			e.cancelled(lost, "undone.com")
		})
	}
}

// A registration that is in the backup, and was cancelled since, ends: also when the
// cancellation was open in the backup, or given up there.
func TestFinishRestoreOfACancelledRegistration(t *testing.T) {
	for name, state := range map[string]lifecycle.CancelState{"not begun": "", "open": lifecycle.CancelDeleting, "kept": lifecycle.CancelKept} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			_, r, err := e.register("undone.com", "0x0c")
			if err != nil {
				t.Fatal(err)
			}
			c := lifecycle.Cancellation{Name: r.Name, Reference: r.Reference, Backend: r.Backend, PaymentID: r.PaymentID, Wallet: r.Owner, Paid: 1306 * deed.Cent, Fee: 20 * deed.Cent}
			limit := lifecycle.CancelLimit{Terms: lifecycle.CancelTerms{Monthly: 1}, Wallet: 1, Period: 1}
			if state != "" {
				if err := e.cancels.BeginCancellation(t.Context(), c, r, limit); err != nil {
					t.Fatal(err)
				}
			}
			if c.Reason = "it was refused"; state == lifecycle.CancelKept {
				if err := e.cancels.KeepName(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			e.finished(e.undoneRestore(r.PaymentID), 1)
			e.cancelled(r.PaymentID, "undone.com")
			if c, err := e.cancels.Cancellation(t.Context(), r.Reference); err != nil || c.State != lifecycle.CancelDone || c.Refund() != undone {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

// A job that is open in the backup, and whose registration was delivered and cancelled
// since, does not order the name again.
func TestFinishRestoreOfAnOpenJobThatWasCancelled(t *testing.T) {
	for name, paid := range map[string]bool{"paid": true, "not paid yet": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			want := order.Purchase{Kind: order.PurchaseRegistration, Name: "undone.com", Years: 1}
			p := order.Payment{}
			if paid {
				var err error
				if p, err = (&wallet{e: e, nonce: "0x0b"}).Collect(t.Context(), order.Quote{Amount: 1306 * deed.Cent}, want); err != nil {
					t.Fatal(err)
				}
			} else {
				p = e.unpaid("0x0b", "undone.com")
			}
			if _, err := e.undoneRestore(p.ID).Finish(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			if err := e.engine.AdvanceJob(t.Context(), order.JobID(p.ID)); err != nil {
				t.Fatal(err)
			}
			e.cancelled(p.ID, "undone.com")
			if _, err := e.registry.Holding(t.Context(), "undone.com"); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("the name was ordered again: %v", err)
			}
		})
	}
}

// The name of a cancelled registration may have been sold again: its buyer has it.
func TestFinishRestoreOfACancelledNameThatWasSoldAgain(t *testing.T) {
	e := newEnv(t)
	_, r, err := e.register("again.com", "0x0c")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.registry.Delete(t.Context(), "again.com"); err != nil {
		t.Fatal(err)
	}
	again := e.lose("0x0d")
	placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(again), 1), Name: "again.com", Years: 1, Nameservers: ownServers}
	if err := e.registry.Place(t.Context(), placed); err != nil {
		t.Fatal(err)
	}
	e.finished(e.undoneRestore(r.PaymentID), 2)
	if err := e.engine.AdvanceJob(t.Context(), order.JobID(again)); err != nil {
		t.Fatal(err)
	}
	if is, err := e.names.Registration(t.Context(), "again.com"); err != nil || is.PaymentID != again {
		t.Errorf("got %+v, %v", is, err)
	}
	e.cancelled(r.PaymentID, "again.com")
}

// undoneRefunder is what pays refunds on such a chain.
type undoneRefunder struct{ undoneOn }

func (undoneRefunder) Refund(context.Context, settle.Refund) (string, error) { return "0xback", nil }

// A node that starts before the restore is finished does not order the name again either.
func TestCheckRefundsOfACancelledRegistration(t *testing.T) {
	e := newEnv(t)
	p, err := (&wallet{e: e, nonce: "0x0b"}).Collect(t.Context(), order.Quote{Amount: 1306 * deed.Cent}, order.Purchase{Kind: order.PurchaseRegistration, Name: "undone.com", Years: 1})
	if err != nil {
		t.Fatal(err)
	}
	e.engine.Refunder = undoneRefunder{undoneOn{ids: map[string]bool{p.ID: true}}}
	for _, want := range []int{1, 0} {
		if found, err := e.engine.CheckRefunds(t.Context(), e.payments); err != nil || found != want {
			t.Errorf("found %d, %v, want %d", found, err, want)
		}
	}
	e.cancelled(p.ID, "undone.com")
}
