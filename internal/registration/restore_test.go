package registration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/settle"
)

// refundedOn is a chain on which these payments were refunded.
type refundedOn map[string]bool

func (c refundedOn) Refunded(_ context.Context, r settle.Refund) (bool, error) {
	return r.Label == "" && c[r.PaymentID], nil
}

func (c refundedOn) RefundedAll(_ context.Context, all []settle.Refund) (refunded []bool, err error) {
	for _, r := range all {
		refunded = append(refunded, r.Label == "" && c[r.PaymentID])
	}
	return refunded, nil
}

func (refundedOn) RefundedAmount(context.Context, settle.Refund) (deed.USDC, error) { return 0, nil }

func (refundedOn) Settle(context.Context, settle.Authorization) (string, error) {
	return "", errors.New("it is not asked")
}

// lose writes down money that we settled and have no request for, as after a
// restore, and returns its payment's ID.
func (e *env) lose(nonce string) string { return e.loseAmount(nonce, 1306*deed.Cent) }

func (e *env) loseAmount(nonce string, amount deed.USDC) string {
	e.t.Helper()
	transfer := settle.Transfer{Payer: payer, PayTo: "0x02", Nonce: nonce, Amount: amount, TxHash: "0xlost" + nonce}
	if err := e.payments.Adopt(e.t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: e.now, Lost: true}); err != nil {
		e.t.Fatal(err)
	}
	return settle.Authorization{Payer: payer, Nonce: nonce}.PaymentID(1, "")
}

// restore returns what finishes a restore.
func (e *env) restore() *registration.Restore {
	return &registration.Restore{
		Payments: e.payments, Jobs: e.jobs, JobRows: e.jobs, Chain: refundedOn{}, Now: func() time.Time { return e.now },
		Names: e.names, Holdings: e.registry,
		Orders: e.registry, Lookup: e.registry, Servers: ownServers,
		Undone: e.payments, Cancels: e.cancels,
		Mandates: e.mandates, Prices: e.Prices,
	}
}

// After a restore, money that bought a name which the registrar has is put back into
// the books, and its payer owns the name; money that bought nothing goes back.
func TestFinishRestore(t *testing.T) {
	e := newEnv(t)
	delivered, lost := e.lose("0x0a"), e.lose("0x0b")
	placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(delivered), 1), Name: "kept.com", Years: 1, Nameservers: ownServers}
	if err := e.registry.Place(t.Context(), placed); err != nil {
		t.Fatal(err)
	}
	restore := e.restore()
	for _, dryRun := range []bool{true, false} {
		all, err := restore.Finish(t.Context(), dryRun)
		if err != nil || len(all) != 2 {
			t.Fatalf("got %+v, %v", all, err)
		}
		for _, r := range all {
			if bought := r.Order.Name == "kept.com"; bought != (r.Payment.ID == delivered) {
				t.Errorf("got %+v", r)
			}
		}
	}
	if p, err := e.payments.Payment(t.Context(), lost); err != nil || p.State != order.PaymentRefundDue {
		t.Errorf("what bought nothing is %s, %v", p.State, err)
	}
	if err := e.engine.AdvanceJob(t.Context(), order.JobID(delivered)); err != nil {
		t.Fatal(err)
	}
	r, err := e.names.Registration(t.Context(), "kept.com")
	if err != nil || r.Owner != payer || r.Status != lifecycle.StatusActive {
		t.Errorf("got %+v, %v", r, err)
	}
	if p, err := e.payments.Payment(t.Context(), delivered); err != nil || p.State != order.PaymentConsumed {
		t.Errorf("what bought the name is %s, %v", p.State, err)
	}
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 0 {
		t.Errorf("a second time: %+v, %v", all, err)
	}
}

// A name that left us and came back since the backup, for another payer, is theirs after
// the restore: the registration in the backup has ended.
func TestFinishRestoreOfANameThatCameBack(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("back.com", "0x0c"); err != nil {
		t.Fatal(err)
	}
	again := e.lose("0x0d")
	placed := registrar.Order{Kind: registrar.OrderRegister, Reference: order.OrderReference(order.JobID(again), 1), Name: "back.com", Years: 1, Nameservers: ownServers}
	if err := e.registry.Delete(t.Context(), "back.com"); err != nil {
		t.Fatal(err)
	}
	if err := e.registry.Place(t.Context(), placed); err != nil {
		t.Fatal(err)
	}
	restore := e.restore()
	if all, err := restore.Finish(t.Context(), false); err != nil || len(all) != 1 || all[0].Order.Name != "back.com" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if err := e.engine.AdvanceJob(t.Context(), order.JobID(again)); err != nil {
		t.Fatal(err)
	}
	if r, err := e.names.Registration(t.Context(), "back.com"); err != nil || r.Reference != placed.Reference {
		t.Errorf("got %+v, %v", r, err)
	}
	if p, err := e.payments.Payment(t.Context(), again); err != nil || p.State != order.PaymentConsumed {
		t.Errorf("what bought the name is %s, %v", p.State, err)
	}
}

// A registrar that cannot find orders by their reference may have delivered what a lost
// payment paid for: nothing is refunded, and an operator decides. Only what was refunded
// before is known to have bought nothing. A job that was open in the backup goes on.
func TestFinishRestoreWithoutSearch(t *testing.T) {
	e := newEnv(t)
	undecided, back := e.lose("0x0a"), e.lose("0x0b")
	if err := e.registry.Faults.Set(local.FaultLostReply, 1); err != nil {
		t.Fatal(err)
	}
	open, _, _ := e.register("open.com", "0x0c") // its reply was lost
	router, err := registrar.NewRouter(e.names, registrar.Backend{Name: "unable", Rest: true, Registrar: struct{ registrar.Registrar }{e.registry}, Manager: e.registry})
	if err != nil {
		t.Fatal(err)
	}
	restore := e.restore()
	restore.Orders, restore.Lookup, restore.Chain = router, router, refundedOn{back: true}
	for _, dryRun := range []bool{true, false} {
		all, err := restore.Finish(t.Context(), dryRun)
		if err != nil || len(all) != 2 {
			t.Fatalf("got %+v, %v", all, err)
		}
		for _, r := range all {
			if left := r.Undecided == "registrar unable: orders cannot be found by their reference"; left != (r.Payment.ID == undecided) {
				t.Errorf("got %+v", r)
			}
		}
	}
	for id, want := range map[string]order.PaymentState{undecided: order.PaymentUnclaimed, back: order.PaymentRefundDue} {
		if p, err := e.payments.Payment(t.Context(), id); err != nil || p.State != want {
			t.Errorf("got %s, %v, want %s", p.State, err, want)
		}
	}
	e.now = e.now.Add(time.Minute)
	if err := e.engine.AdvanceJob(t.Context(), open.ID); err != nil {
		t.Fatal(err)
	}
	if r, err := e.names.Registration(t.Context(), "open.com"); err != nil || r.Owner != payer {
		t.Errorf("got %+v, %v", r, err)
	}
}

// mandateCap is the amount of the mandate of a test; a year of a .com costs less.
const mandateCap = 2000 * deed.Cent

// giveMandate stores a mandate for the renewal of a name that was just bought.
func (e *env) giveMandate(r lifecycle.Registration, nonce string) {
	e.t.Helper()
	m := order.Mandate{Name: r.Name, Owner: r.Owner, Reference: r.Reference, Expires: r.Expires, State: order.MandateActive,
		Auth: settle.Authorization{Payer: r.Owner, PayTo: "0x02", Amount: mandateCap, ValidAfter: 1, ValidBefore: 2, Nonce: nonce, Signature: []byte("signed")}}
	if _, err := e.mandates.Create(e.t.Context(), r.Name, []order.Mandate{m}); err != nil {
		e.t.Fatal(err)
	}
}

// A renewal by mandate is paid with the cap. After a restore its owner gets back what it
// did not cost, and the mandate is used. If the mandate is not in the backup, what the
// renewal cost is not known, and an operator decides.
func TestFinishRestoreOfAMandate(t *testing.T) {
	for name, inBackup := range map[string]bool{"in the backup": true, "not in the backup": false} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			_, held, err := e.register("kept.com", "0x0c")
			if err != nil {
				t.Fatal(err)
			}
			if inBackup {
				e.giveMandate(held, "0x0d")
			}
			lost := e.loseAmount("0x0d", mandateCap)
			placed := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(lost), 1), Name: "kept.com", Years: 1, From: held.Expires}
			if err := e.registry.Place(t.Context(), placed); err != nil {
				t.Fatal(err)
			}
			all, err := e.restore().Finish(t.Context(), false)
			if err != nil || len(all) != 1 || (all[0].Undecided == "") != inBackup {
				t.Fatalf("got %+v, %v", all, err)
			}
			if !inBackup {
				if p, err := e.payments.Payment(t.Context(), lost); err != nil || p.State != order.PaymentUnclaimed {
					t.Errorf("got %s, %v", p.State, err)
				}
				return
			}
			if err := e.engine.AdvanceJob(t.Context(), order.JobID(lost)); err != nil {
				t.Fatal(err)
			}
			price, err := e.Prices.Renewal(held, 1, false)
			if err != nil {
				t.Fatal(err)
			}
			p, err := e.payments.Payment(t.Context(), lost)
			if err != nil || p.State != order.PaymentRefundDue || p.Part.Amount != mandateCap-price.Amount || p.Part.Label != order.RefundChange {
				t.Errorf("got %+v, %v", p, err)
			}
			if m, err := e.mandates.List(t.Context(), payer, "kept.com"); err != nil || len(m) != 1 || m[0].State != order.MandateUsed || m[0].PaymentID != lost {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

// A lost renewal that was paid with its price is recorded again as it was.
func TestFinishRestoreOfARenewal(t *testing.T) {
	e := newEnv(t)
	_, held, err := e.register("kept.com", "0x0c")
	if err != nil {
		t.Fatal(err)
	}
	price, err := e.Prices.Renewal(held, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	lost := e.loseAmount("0x0d", price.Amount)
	placed := registrar.Order{Kind: registrar.OrderRenew, Reference: order.OrderReference(order.JobID(lost), 1), Name: "kept.com", Years: 2, From: held.Expires}
	if err := e.registry.Place(t.Context(), placed); err != nil {
		t.Fatal(err)
	}
	if all, err := e.restore().Finish(t.Context(), false); err != nil || len(all) != 1 || all[0].Undecided != "" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if err := e.engine.AdvanceJob(t.Context(), order.JobID(lost)); err != nil {
		t.Fatal(err)
	}
	if p, err := e.payments.Payment(t.Context(), lost); err != nil || p.State != order.PaymentConsumed || p.Source != order.SourceX402Exact {
		t.Errorf("got %+v, %v", p, err)
	}
}
