package sqldb_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// settling returns a payment for a change that was stored as settling.
func (s *testEnv) settling(t testing.TB, name deed.Name, op dnszone.RecordOp) order.Payment {
	t.Helper()
	s.sold++
	auth := settle.Authorization{Payer: wallet, PayTo: wallet, Amount: deed.Cent, Nonce: fmt.Sprint(s.sold)}
	p := order.Payment{
		ID: auth.PaymentID(84532, s.payments.Asset), Source: order.SourceX402Exact, Auth: auth, State: order.PaymentSettling,
		Purchase: order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: wallet, Ops: []dnszone.RecordOp{op}}),
	}
	p, err := s.payments.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
	if err != nil || p.State != order.PaymentSettling {
		t.Fatal(p.State, err)
	}
	return p
}

// stored returns the payment and its job as they are now, and fails if the books are
// not sound.
func (s *testEnv) stored(t testing.TB, id string) (order.Payment, order.Job) {
	t.Helper()
	p, err := s.payments.Payment(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.jobs.JobOf(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := sqldb.Audit{DB: s.zones.DB}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken > 0 {
			t.Errorf("%s: %d rows", f.Invariant, f.Broken)
		}
	}
	return p, j
}

// A settlement and the change that it paid for are recorded by one transaction, once, and
// leave the same as if the settlement had been recorded first.
func TestSettleChange(t *testing.T) {
	add := func(id string) dnszone.RecordOp {
		return dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(id), Record: dnszone.Record{Type: "A", Host: id, Value: "192.0.2.1", TTL: 60}}
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "settle-change.com"
		s := newTestEnv(db)
		s.sell(t, name)
		before := len(s.eventTypes(t))
		p := s.settling(t, name, add("rec_one"))
		var mu sync.Mutex
		var wg sync.WaitGroup
		times := 0
		for range 8 {
			wg.Go(func() {
				next, _, done, err := s.zones.SettleChange(t.Context(), p, "0xfeed")
				mu.Lock()
				defer mu.Unlock()
				if err != nil || done && (next.State != order.PaymentConsumed || next.TxHash != "0xfeed") {
					t.Errorf("got %s %s, %v", next.State, next.TxHash, err)
				}
				if done {
					times++
				}
			})
		}
		wg.Wait()
		got, j := s.stored(t, p.ID)
		var steps []order.JobState
		for _, step := range j.Steps {
			steps = append(steps, step.State)
		}
		want := []order.JobState{order.JobAwaitingPayment, order.JobQueued, order.JobCompleted}
		if times != 1 || got.State != order.PaymentConsumed || got.TxHash != "0xfeed" || !slices.Equal(steps, want) {
			t.Errorf("%d times, payment %s %s, job %v", times, got.State, got.TxHash, steps)
		}
		if r, err := s.zones.RecordAt(t.Context(), name, "rec_one", j.Revision); err != nil || r.Host != "rec_one" {
			t.Errorf("got %+v, %v", r, err)
		}

		middle := len(s.eventTypes(t))
		other := s.settling(t, name, add("rec_two"))
		other, err := s.payments.MovePayment(t.Context(), other, order.PaymentSettled, "0xfeed2")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, done, err := s.zones.SettleChange(t.Context(), other, "0xfeed2"); done {
			t.Errorf("a payment that has settled was settled again, %v", err)
		}
		_, j = s.stored(t, other.ID)
		if _, done, err := s.zones.ChangeZone(t.Context(), j); err != nil || !done {
			t.Fatal(done, err)
		}
		events := s.eventTypes(t)
		if first, second := events[before:middle], events[middle:]; !slices.Equal(first, second) || len(first) == 0 {
			t.Errorf("events: got %v at once, and %v one after the other", first, second)
		}
		if first, second := s.entries(t, p.ID), s.entries(t, other.ID); first != second {
			t.Errorf("ledger: got %s at once, and %s one after the other", first, second)
		}
	})
}

// eventTypes returns the types of all events of the wallet, in their order.
func (s *testEnv) eventTypes(t testing.TB) (types []string) {
	t.Helper()
	all, err := sqldb.Events{DB: s.zones.DB}.Events(t.Context(), wallet, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		types = append(types, string(e.Type))
	}
	return types
}

// entries describes the lines of a payment in the ledger.
func (s *testEnv) entries(t testing.TB, id string) string {
	t.Helper()
	text, err := s.zones.DB.Text(t.Context(), fmt.Sprintf(
		`SELECT count(*) || ' lines from ' || max(entry) || ' to ' || min(entry) || ', sum ' || sum(amount) FROM ledger WHERE payment_id = '%s'`, id))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A change that is not allowed any more leaves everything as it was: its settlement is
// recorded by itself, so that it can be refunded.
func TestSettleRefusedChange(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "settle-refused.com"
		s := newTestEnv(db)
		s.sell(t, name)
		p := s.settling(t, name, dnszone.RecordOp{Op: dnszone.OpDelete, ID: "rec_never"})
		if _, _, done, err := s.zones.SettleChange(t.Context(), p, "0xfeed"); err != nil || done {
			t.Fatal(done, err)
		}
		if got, j := s.stored(t, p.ID); got.State != order.PaymentSettling || j.State != order.JobAwaitingPayment {
			t.Errorf("got %s, %s", got.State, j.State)
		}
		if _, err := s.payments.MovePayment(t.Context(), p, order.PaymentSettled, "0xfeed"); err != nil {
			t.Fatal(err)
		}
		_, j := s.stored(t, p.ID)
		if _, done, err := s.zones.ChangeZone(t.Context(), j); err != nil || !done {
			t.Fatal(done, err)
		}
		if got, j := s.stored(t, p.ID); got.State != order.PaymentRefundDue || j.State != order.JobFailed {
			t.Errorf("got %s, %s", got.State, j.State)
		}
	})
}
