package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A cancellation that a restored backup lacks is recorded once, whatever of it was there.
func TestRecordCancellation(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows, p := consumed(t, db)
		now := func() time.Time { return noon }
		cancels := sqldb.Cancellations{DB: db, Now: now, Names: sqldb.Registrations{DB: db, Now: now, Zones: sqldbtest.Zones(db, now)}}
		some, err := rows.Cancellable(t.Context(), "", 10)
		if err != nil || len(some) != 1 || some[0].ID != p.ID {
			t.Fatalf("got %+v, %v", some, err)
		}
		c := lifecycle.Cancellation{Name: "name1.com", Reference: order.OrderReference(order.JobID(p.ID), 1), PaymentID: p.ID, Wallet: p.Auth.Payer, Paid: p.Auth.Amount, Fee: 10}
		if err := cancels.RecordCancellation(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := cancels.RecordCancellation(t.Context(), c); err == nil {
			t.Error("it was recorded twice")
		}
		if got, err := rows.Payment(t.Context(), p.ID); err != nil || got.State != order.PaymentRefundDue || got.Part.Amount != p.Auth.Amount-10 {
			t.Errorf("got %+v, %v", got, err)
		}
		if some, err := rows.Cancellable(t.Context(), "", 10); err != nil || len(some) != 0 {
			t.Errorf("afterwards: got %+v, %v", some, err)
		}
		sound(t, db)
	})
}

// So is what was refunded for a payment that is lost, or not delivered, in the backup.
func TestRecordUndone(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return noon }}
		lost, open := openRegistration("0x01", 1, 1000), openRegistration("0x01", 2, 1000)
		adoptLost(t, rows, lost)
		p, err := rows.AuthorizePayment(t.Context(), open, sqldbtest.AdmitAll)
		for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
			if err == nil {
				p, err = rows.MovePayment(t.Context(), p, to, "0xfeed")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		unclaimed, err := rows.Payment(t.Context(), lost.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, is := range []order.Payment{unclaimed, p} {
			if err := rows.RecordUndone(t.Context(), is, 1001); err == nil {
				t.Error("more than was paid went back")
			}
			for range 2 { // another process may record it, too
				if err := rows.RecordUndone(t.Context(), is, 900); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := rows.Payment(t.Context(), is.ID); err != nil || got.State != order.PaymentRefundDue || got.Refund().Amount != 900 {
				t.Errorf("got %+v, %v", got, err)
			}
		}
		sound(t, db)
	})
}

func adoptLost(t *testing.T, rows sqldb.Payments, p order.Payment) {
	t.Helper()
	transfer := settle.Transfer{Payer: p.Auth.Payer, PayTo: p.Auth.PayTo, Nonce: p.Auth.Nonce, Amount: p.Auth.Amount, TxHash: "0xlost"}
	if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: noon, Lost: true}); err != nil {
		t.Fatal(err)
	}
}
