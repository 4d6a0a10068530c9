package sqldb_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func sound(t *testing.T, db *sqldb.DB) {
	t.Helper()
	findings, err := sqldb.Audit{DB: db}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken != 0 {
			t.Errorf("broken: %s", f.Invariant)
		}
	}
}

// A transfer without a request waits for its payer, is dust, or waits for an operator;
// adopting it is idempotent.
func TestUnsolicitedMoney(t *testing.T) {
	tests := map[string]struct {
		u    order.Unsolicited
		want order.PaymentState
		due  bool
		lost int
	}{
		"waits for its payer":       {order.Unsolicited{State: order.PaymentUnclaimed, Next: noon}, order.PaymentUnclaimed, true, 1},
		"too little":                {order.Unsolicited{State: order.PaymentDust, Next: noon}, order.PaymentDust, false, 0},
		"we settled it, and forgot": {order.Unsolicited{State: order.PaymentUnclaimed, Next: noon, Lost: true}, order.PaymentUnclaimed, false, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return noon }}
				transfer := settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: "0x0a", Amount: 10, TxHash: "0xabc", Block: 3}
				for range 2 {
					if err := rows.Adopt(t.Context(), transfer, tt.u); err != nil {
						t.Fatal(err)
					}
				}
				id := settle.Authorization{Payer: "0x01", Nonce: "0x0a"}.PaymentID(1, "")
				p, err := rows.Payment(t.Context(), id)
				if err != nil || p.State != tt.want || p.Auth.PayTo != "0x02" {
					t.Errorf("got %+v, %v", p, err)
				}
				due, err := rows.DueRefunds(t.Context(), 10)
				if err != nil || (len(due) == 1) != tt.due {
					t.Errorf("due: %v, %v", due, err)
				}
				if lost, err := rows.Lost(t.Context()); err != nil || len(lost) != tt.lost {
					t.Errorf("lost: %v, %v", lost, err)
				}
				if lost, err := rows.ParkLost(t.Context()); err != nil || len(lost) != tt.lost {
					t.Errorf("parked: %v, %v", lost, err)
				}
				if due, err := rows.DueRefunds(t.Context(), 10); err != nil || len(due) != 0 {
					t.Errorf("parked, and due: %v, %v", due, err)
				}
				sound(t, db)
			})
		})
	}
}

// An unclaimed transfer can be claimed once, and not for a purchase that is already paid.
func TestClaimPayment(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return noon }}
		p := openRegistration("0x01", 1, 10)
		transfer := settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: p.Auth.Nonce, Amount: 10, TxHash: "0xabc"}
		if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: noon}); err != nil {
			t.Fatal(err)
		}
		wrong := p
		wrong.Auth.Amount = 11
		if got, err := rows.ClaimPayment(t.Context(), wrong, order.Placed{}); err != nil || got.State != order.PaymentUnclaimed {
			t.Errorf("another amount: got %+v, %v", got, err)
		}
		for range 2 {
			got, err := rows.ClaimPayment(t.Context(), p, order.Placed{})
			if err != nil || got.State != order.PaymentSettled || got.Purchase.Name != "name1.com" || got.RefundID != "" {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		j, err := sqldb.Jobs{DB: db, Now: time.Now}.Job(t.Context(), order.JobID(p.ID))
		if err != nil || j.State != order.JobQueued || j.Owner != "0x01" {
			t.Errorf("got %+v, %v", j, err)
		}
		again := openRegistration("0x01", 1, 10)
		again.Auth.Nonce = "another"
		again.ID = again.Auth.PaymentID(1, "")
		transfer.Nonce = again.Auth.Nonce
		if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: noon}); err != nil {
			t.Fatal(err)
		}
		if _, err := rows.ClaimPayment(t.Context(), again, order.Placed{}); err == nil {
			t.Error("the same name was bought twice")
		}
		sound(t, db)
	})
}

// A transfer that cannot be adopted is put aside, retried, and deleted once adopted. What an
// endpoint gives as the reason may be any text.
func TestPutAside(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		transfer := settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: "0x0a", Amount: 10, TxHash: "0xabc", Block: 3}
		for range 2 {
			if err := rows.PutAside(t.Context(), transfer, "it broke a rule", noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.SetWatched(t.Context(), 9, []settle.UnreadBlock{{Number: 4, Reason: "too large\x00 \xff"}}); err != nil {
			t.Fatal(err)
		}
		if due, err := rows.DueAside(t.Context(), 10); err != nil || len(due) != 0 {
			t.Errorf("due too early: %v, %v", due, err)
		}
		now = noon.Add(time.Hour)
		due, err := rows.DueAside(t.Context(), 10)
		if err != nil || len(due) != 1 || due[0] != transfer {
			t.Fatalf("got %v, %v", due, err)
		}
		if err := rows.Adopt(t.Context(), due[0], order.Unsolicited{State: order.PaymentUnclaimed, Next: now}); err != nil {
			t.Fatal(err)
		}
		if due, err := rows.DueAside(t.Context(), 10); err != nil || len(due) != 0 {
			t.Errorf("after it was adopted: %v, %v", due, err)
		}
		notices, err := sqldb.Audit{DB: db}.Notices(t.Context())
		if err != nil || len(notices) != 2 {
			t.Errorf("got %+v, %v, want the unclaimed transfer and the block", notices, err)
		}
		if next, err := rows.Watched(t.Context()); err != nil || next != 9 {
			t.Errorf("got %d, %v", next, err)
		}
	})
}

// The auth code of a transfer is never stored in plain text, and is deleted once the job
// has ended.
func TestAuthCodesAreSealedAndErased(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		db.Sealer = newSealer(t)
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return noon }}
		jobs := sqldb.Jobs{DB: db, Now: func() time.Time { return noon }}
		p := openRegistration("0x01", 1, 10)
		p.Purchase = order.Purchase{Kind: order.PurchaseTransfer, Name: "moved.com", Years: 1, AuthCode: "Secret-Code-1"}
		stored, err := rows.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
		if err != nil {
			t.Fatal(err)
		}
		if has := textOf(t, db, `SELECT purchase FROM payments`); has == "" || strings.Contains(has, "Secret-Code-1") {
			t.Errorf("the row has %s", has)
		}
		if j, err := jobs.Job(t.Context(), order.JobID(p.ID)); err != nil || j.Purchase.AuthCode != "Secret-Code-1" {
			t.Errorf("got %q, %v", j.Purchase.AuthCode, err)
		}
		if db.Sealer, err = seal.New("another secret"); err != nil {
			t.Fatal(err)
		}
		if j, err := jobs.Job(t.Context(), order.JobID(p.ID)); err != nil || j.Purchase.AuthCode != "" {
			t.Errorf("with another key: got %q, %v, want a job without the code", j.Purchase.AuthCode, err)
		}
		if stored.Fingerprint != p.Purchase.Fingerprint() {
			t.Error("the fingerprint differs")
		}
		for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentReleased} {
			if stored, err = rows.MovePayment(t.Context(), stored, to, ""); err != nil {
				t.Fatal(err)
			}
		}
		if has := textOf(t, db, `SELECT purchase FROM payments`); strings.Contains(has, "sealed") || strings.Contains(has, "authCode") {
			t.Errorf("the row has %s", has)
		}
		if stored.Fingerprint != p.Purchase.Fingerprint() {
			t.Error("the fingerprint has changed")
		}
		sound(t, db)
	})
}

func newSealer(t *testing.T) sqldb.Sealer {
	t.Helper()
	box, err := seal.New("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func textOf(t *testing.T, db *sqldb.DB, query string) string {
	t.Helper()
	s, err := db.Text(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
