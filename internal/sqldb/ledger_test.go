package sqldb_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A part of a consumed payment is refunded once, whoever asks and how often: the books
// say how much and why, and the rest stays earned.
func TestRefundPart(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		payments, p := consumed(t, db)
		part := order.PartRefund{Label: order.RefundChange, Amount: 300, Reason: "the price was lower"}
		if _, err := payments.MovePayment(t.Context(), p, order.PaymentRefundDue, ""); err == nil {
			t.Error("without a part: got no error")
		}
		if done, err := payments.RefundPart(t.Context(), p.ID, order.PartRefund{Label: order.RefundChange, Amount: 1001, Reason: "too much"}); err == nil || done {
			t.Error("more than was paid: got no error")
		}
		var mu sync.Mutex
		times, failed := 0, error(nil)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				done, err := payments.RefundPart(t.Context(), p.ID, part)
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
				if done {
					times++
				}
			})
		}
		wg.Wait()
		if failed != nil || times != 1 {
			t.Fatalf("got %d refunds, %v", times, failed)
		}
		checkPart(t, db, payments, p.ID, part)
	})
}

// consumed returns a payment of 1000 that bought a name.
func consumed(t *testing.T, db *sqldb.DB) (sqldb.Payments, order.Payment) {
	t.Helper()
	now := func() time.Time { return noon }
	payments := sqldb.Payments{DB: db, ChainID: 84532, Asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e", Now: now}
	jobs := sqldb.Jobs{DB: db, Now: now, Zones: sqldbtest.Zones(db, now)}
	auth := settle.Authorization{Payer: wallet, PayTo: wallet, Amount: 1000, Nonce: "1"}
	p, err := payments.AuthorizePayment(t.Context(), order.Payment{ID: auth.PaymentID(84532, payments.Asset), Source: order.SourceX402Exact, Auth: auth, Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: "name1.com", Years: 1}}, sqldbtest.AdmitAll)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			p, err = payments.MovePayment(t.Context(), p, to, "0xfeed")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := jobs.Job(t.Context(), order.JobID(p.ID))
	j.Attempts, j.Reference, j.Submitted, j.Lease = 1, j.ID+"-1", noon, noon
	for _, to := range []order.JobState{order.JobSubmitting, order.JobVerifying} {
		if err == nil {
			_, err = jobs.MoveJob(t.Context(), j, to, noon)
		}
		j.State = to
	}
	if err == nil {
		err = jobs.CompleteJob(t.Context(), j, lifecycle.Registration{Name: "name1.com", Owner: wallet, Status: lifecycle.StatusActive, Reference: j.Reference, PaymentID: p.ID, Created: noon, Expires: noon.AddDate(1, 0, 0), Updated: noon})
	}
	if err == nil {
		p, err = payments.Payment(t.Context(), p.ID)
	}
	if err != nil || p.State != order.PaymentConsumed {
		t.Fatal(p.State, err)
	}
	return payments, p
}

// checkPart pays the refund of a part, and compares the books before and after.
func checkPart(t *testing.T, db *sqldb.DB, payments sqldb.Payments, id string, part order.PartRefund) {
	t.Helper()
	for _, to := range []order.PaymentState{order.PaymentRefundDue, order.PaymentRefunding, order.PaymentRefunded} {
		p, err := payments.Payment(t.Context(), id)
		if err == nil && to != order.PaymentRefundDue {
			p, err = payments.MovePayment(t.Context(), p, to, "0xback")
		}
		if err != nil || p.State != to || p.Part != part || !p.Delivered() {
			t.Fatalf("got %+v, %v, want %s", p, err, to)
		}
		findings, err := sqldb.Audit{DB: db}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Broken > 0 {
				t.Errorf("%s: %s: broken %d times", to, f.Invariant, f.Broken)
			}
		}
	}
	refunds, err := sqldb.Audit{DB: db}.RefundsIn(t.Context(), "0xback")
	if err != nil || len(refunds) != 1 || refunds[0].Amount != part.Amount {
		t.Errorf("the audit reads %+v, %v", refunds, err)
	}
	accounts := sqldb.Accounts{DB: db}
	a, err := accounts.Wallet(t.Context(), wallet, noon)
	if err != nil || a.Spent != 1000-part.Amount || a.Refunded != part.Amount {
		t.Errorf("the account: spent %s, refunded %s, %v", a.Spent, a.Refunded, err)
	}
	list, total, err := accounts.Transactions(t.Context(), wallet, account.Page{Limit: 10})
	if err != nil || total != 2 || len(list) != 2 {
		t.Fatalf("got %d transactions, %v", total, err)
	}
	for _, m := range list {
		want, state, reason := deed.USDC(1000), order.PaymentConsumed, ""
		if m.Refund {
			want, state, reason = part.Amount, order.PaymentRefunded, part.Reason
		}
		if m.Amount != want || m.State != state || m.Reason != reason {
			t.Errorf("got %+v", m)
		}
	}
}
