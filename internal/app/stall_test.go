package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// silent is a chain that does not answer.
type silent struct{}

func (silent) Settle(context.Context, settle.Authorization) (string, error) {
	return "", errors.New("the endpoint answered 503")
}

// A payment that makes no progress for a minute is in the log, in a metric and in
// /health, and all of them end when it goes on.
func TestStalledPaymentIsVisible(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := time.Now().Add(-2 * time.Minute)
		rows := sqldb.Payments{DB: db, ChainID: 1, Now: func() time.Time { return now }}
		m := &money{reserve: &fulfil.Reserve{}, payments: &fulfil.Service{
			Store: rows, Books: rows, Queue: rows, Watch: rows, Settler: silent{}, Terms: fulfil.DefaultTerms(), Now: func() time.Time { return now },
		}}
		auth := settle.Authorization{Payer: "0x01", PayTo: "0x02", Amount: 5 * deed.Cent, Nonce: "0x0a", Signature: []byte{1}}
		p := order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: "first.com", Years: 1}}
		p, err := rows.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.payments.Advance(t.Context(), p.ID); !errors.Is(err, order.ErrPending) {
			t.Fatalf("got %v", err)
		}
		var logged bytes.Buffer
		counters, log := metrics.New("test"), slog.New(slog.NewTextHandler(&logged, nil))
		look := func() string {
			t.Helper()
			if err := m.checkStalled(t.Context(), counters, log); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			counters.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
			text, err := io.ReadAll(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if shown := look(); !strings.Contains(shown, "deed_payments_stalled 0") || m.warning() != nil {
			t.Errorf("too early: %v", m.warning())
		}
		now = now.Add(2 * time.Minute)
		for range 3 { // told once
			if shown := look(); !strings.Contains(shown, "deed_payments_stalled 1") || m.warning() == nil {
				t.Errorf("nobody is told: %v", m.warning())
			}
		}
		if n := strings.Count(logged.String(), "no progress for a minute"); n != 1 || !strings.Contains(logged.String(), "the endpoint answered 503") {
			t.Errorf("logged %d times: %s", n, logged.String())
		}
		if _, err := rows.MovePayment(t.Context(), mustPayment(t, rows, p.ID), order.PaymentVoid, ""); err != nil {
			t.Fatal(err)
		}
		if shown := look(); !strings.Contains(shown, "deed_payments_stalled 0") || m.warning() != nil {
			t.Errorf("it does not end: %v", m.warning())
		}
	})
}

func mustPayment(t *testing.T, rows sqldb.Payments, id string) order.Payment {
	t.Helper()
	p, err := rows.Payment(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
