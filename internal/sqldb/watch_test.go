package sqldb_test

import (
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An observer remembers what it was told.
type observer struct {
	events []event.Event
	moves  []sqldb.PaymentMove
}

func (o *observer) Event(e event.Event)              { o.events = append(o.events, e) }
func (o *observer) PaymentMoved(m sqldb.PaymentMove) { o.moves = append(o.moves, m) }

// A transfer with the nonce of a known payment settles it if the amount matches, and is
// refunded otherwise. Its payer is told.
func TestAdoptKnownPayments(t *testing.T) {
	const promised, other = deed.USDC(10), deed.USDC(3)
	tests := map[string]struct {
		before []order.PaymentState // how far it had come
		alias  bool
		amount deed.USDC
		want   order.PaymentState
		job    order.JobState
	}{
		"authorized, as promised":      {nil, false, promised, order.PaymentSettled, order.JobQueued},
		"settling, as promised":        {[]order.PaymentState{order.PaymentSettling}, false, promised, order.PaymentSettled, order.JobQueued},
		"settling, another amount":     {[]order.PaymentState{order.PaymentSettling}, false, other, order.PaymentRefundDue, order.JobFailed},
		"void, signed for longer":      {[]order.PaymentState{order.PaymentSettling, order.PaymentVoid}, false, promised, order.PaymentRefundDue, order.JobFailed},
		"void, another amount":         {[]order.PaymentState{order.PaymentSettling, order.PaymentVoid}, false, other, order.PaymentRefundDue, order.JobFailed},
		"released, it comes late":      {[]order.PaymentState{order.PaymentSettling, order.PaymentReleased}, false, promised, order.PaymentRefundDue, order.JobFailed},
		"settled already":              {[]order.PaymentState{order.PaymentSettling, order.PaymentSettled}, false, promised, order.PaymentSettled, order.JobQueued},
		"an alias, as promised":        {nil, true, promised, order.PaymentRefundDue, ""},
		"an alias, for another amount": {nil, true, other, order.PaymentRefundDue, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				told := &observer{}
				db.Observer = told
				rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
				promise := func(nonce string) order.Payment {
					p := order.Payment{Source: order.SourceX402Exact, Auth: settle.Authorization{Payer: "0x01", PayTo: "0x02", Amount: promised, Nonce: nonce}}
					p.ID, p.Purchase = p.Auth.PaymentID(1, ""), order.Purchase{Kind: order.PurchaseRegistration, Name: "first.com", Years: 1}
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
					if to == order.PaymentSettled {
						hash = "0xabc"
					}
					var err error
					if p, err = rows.MovePayment(t.Context(), p, to, hash); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // once is as good as twice
					if err := rows.Adopt(t.Context(), settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: p.Auth.Nonce, Amount: tt.amount, TxHash: "0xabc"}, order.Unsolicited{State: order.PaymentUnclaimed}); err != nil {
						t.Fatal(err)
					}
				}
				got, err := rows.Payment(t.Context(), p.ID)
				if err != nil || got.State != tt.want || got.Auth.Amount != tt.amount || got.TxHash != "0xabc" {
					t.Errorf("got %+v, %v", got, err)
				}
				last := told.moves[len(told.moves)-1].Payment
				if last.State != got.State || last.Auth.Amount != got.Auth.Amount || last.RefundID != got.RefundID {
					t.Errorf("observed last: %+v", last)
				}
				if n := len(told.events); n == 0 || told.events[n-1].Type != map[order.PaymentState]event.Type{order.PaymentSettled: event.PaymentSettled, order.PaymentRefundDue: event.RefundDue}[tt.want] {
					t.Errorf("got events %+v", told.events)
				}
				job, err := sqldb.Jobs{DB: db, Now: time.Now}.Job(t.Context(), order.JobID(p.ID))
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

// The watcher and the settler see the same transfer at the same time: neither fails,
// whichever is first.
func TestAdoptWhileSettling(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: time.Now}
		for i := range 40 {
			nonce := fmt.Sprintf("0x%02x", i)
			p := order.Payment{Source: order.SourceX402Exact, Auth: settle.Authorization{Payer: "0x01", PayTo: "0x02", Amount: 10, Nonce: nonce}}
			p.ID, p.Purchase = p.Auth.PaymentID(1, ""), order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("name%d.com", i)), Years: 1}
			p, err := rows.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
			if err == nil {
				p, err = rows.MovePayment(t.Context(), p, order.PaymentSettling, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			adopted := make(chan error, 1)
			go func() {
				adopted <- rows.Adopt(t.Context(), settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: nonce, Amount: 10, TxHash: "0xabc"}, order.Unsolicited{State: order.PaymentUnclaimed})
			}()
			_, err = rows.MovePayment(t.Context(), p, order.PaymentSettled, "0xabc")
			if adoptErr := <-adopted; err != nil || adoptErr != nil {
				t.Fatalf("payment %d: the settler got %v, the watcher %v", i, err, adoptErr)
			}
			if got, err := rows.Payment(t.Context(), p.ID); err != nil || got.State != order.PaymentSettled {
				t.Errorf("payment %d: got %q, %v", i, got.State, err)
			}
		}
	})
}
