package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Money that came with the nonce of a payment we know goes to that payment when
// it is what was promised, and back as it came when it is not.
func TestAdoptKnownPayments(t *testing.T) {
	const promised, other = deed.USDC(10), deed.USDC(3)
	tests := map[string]struct {
		before []deed.PaymentState // how far it had come
		alias  bool
		amount deed.USDC
		want   deed.PaymentState
		job    deed.JobState
	}{
		"authorized, as promised":      {nil, false, promised, deed.PaymentSettled, deed.JobQueued},
		"settling, as promised":        {[]deed.PaymentState{deed.PaymentSettling}, false, promised, deed.PaymentSettled, deed.JobQueued},
		"settling, another amount":     {[]deed.PaymentState{deed.PaymentSettling}, false, other, deed.PaymentRefundDue, deed.JobFailed},
		"void, signed for longer":      {[]deed.PaymentState{deed.PaymentSettling, deed.PaymentVoid}, false, promised, deed.PaymentRefundDue, deed.JobFailed},
		"void, another amount":         {[]deed.PaymentState{deed.PaymentSettling, deed.PaymentVoid}, false, other, deed.PaymentRefundDue, deed.JobFailed},
		"released, it comes late":      {[]deed.PaymentState{deed.PaymentSettling, deed.PaymentReleased}, false, promised, deed.PaymentRefundDue, deed.JobFailed},
		"settled already":              {[]deed.PaymentState{deed.PaymentSettling, deed.PaymentSettled}, false, promised, deed.PaymentSettled, deed.JobQueued},
		"an alias, as promised":        {nil, true, promised, deed.PaymentRefundDue, ""},
		"an alias, for another amount": {nil, true, other, deed.PaymentRefundDue, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
				promise := func(nonce string) deed.Payment {
					p := deed.Payment{Auth: deed.Authorization{Payer: "0x01", PayTo: "0x02", Amount: promised, Nonce: nonce}}
					p.ID, p.Purchase = p.Auth.PaymentID(1, ""), deed.Purchase{Kind: deed.PurchaseRegistration, Name: "first.com", Years: 1}
					p, err := rows.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
					if err != nil {
						t.Fatal(err)
					}
					return p
				}
				p := promise("0x0a")
				if tt.alias {
					p = promise("0x0b")
				}
				for _, to := range tt.before {
					hash := ""
					if to == deed.PaymentSettled {
						hash = "0xabc"
					}
					var err error
					if p, err = rows.MovePayment(t.Context(), p, to, hash); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // once is as good as twice
					if err := rows.Adopt(t.Context(), deed.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: p.Auth.Nonce, Amount: tt.amount, TxHash: "0xabc"}, deed.Unsolicited{State: deed.PaymentUnclaimed}); err != nil {
						t.Fatal(err)
					}
				}
				got, err := rows.Payment(t.Context(), p.ID)
				if err != nil || got.State != tt.want || got.Auth.Amount != tt.amount || got.TxHash != "0xabc" {
					t.Errorf("got %+v, %v", got, err)
				}
				job, err := sqldb.Jobs{DB: db, Now: time.Now}.Job(t.Context(), deed.JobID(p.ID))
				if job.State != tt.job || err != nil && tt.job != "" {
					t.Errorf("got job %q, %v, want %q", job.State, err, tt.job)
				}
				findings, err := sqldb.Audit{DB: db}.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range findings {
					if f.Broken != 0 {
						t.Errorf("broken: %s", f.Invariant)
					}
				}
			})
		})
	}
}
