package sqldb_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// operators returns an operator service on the database, at a time that stands still.
func operators(t *testing.T, db *sqldb.DB) (*operator.Service, sqldb.Operators) {
	t.Helper()
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	zones := sqldbtest.Zones(db, now)
	rows := sqldb.Operators{DB: db, Now: now, Zones: zones, Payments: sqldb.Payments{DB: db, ChainID: 1, Now: now}, Jobs: sqldb.Jobs{DB: db, Now: now, Zones: zones}}
	return &operator.Service{Finder: rows, Log: rows, Rows: rows, Rules: rows, Now: now, Changed: noChange}, rows
}

// ordered stores an order in a state of its payment.
func ordered(t *testing.T, rows sqldb.Operators, name deed.Name, states ...order.PaymentState) order.Payment {
	t.Helper()
	auth := settle.Authorization{Payer: "0x01", PayTo: "0x02", Amount: 5 * deed.Cent, Nonce: "0x" + string(name), Signature: []byte{1}}
	p := order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1}}
	p, err := rows.Payments.AuthorizePayment(t.Context(), p, sqldbtest.AdmitAll)
	for _, s := range states {
		if err == nil {
			p, err = rows.Payments.MovePayment(t.Context(), p, s, "0xf00d")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var act = operator.Act{Operator: "anna", Reason: "a test"}

// An order is found by everything that an operator may have of it, and its timeline has
// its steps and what operators did.
func TestOperatorsFindOrders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, rows := operators(t, db)
		p := ordered(t, rows, "first.com", order.PaymentSettling, order.PaymentSettled)
		ordered(t, rows, "second.com")
		unicode := ordered(t, rows, "xn--bcher-kva.com")
		if found, err := s.Find(t.Context(), "Bücher.com"); err != nil || len(found) != 1 || found[0].PaymentID != unicode.PublicID {
			t.Errorf("in Unicode: got %+v, %v", found, err)
		}
		for _, query := range []string{"first.com", "FIRST.com ", p.PublicID, p.ID, "0xf00d"} {
			if found, err := s.Find(t.Context(), query); err != nil || len(found) != 1 || found[0].PaymentID != p.PublicID {
				t.Errorf("%s: got %+v, %v", query, found, err)
			}
		}
		if found, err := s.Find(t.Context(), "0x01"); err != nil || len(found) != 3 {
			t.Errorf("by wallet: got %+v, %v", found, err)
		}
		if _, err := s.Retry(t.Context(), act, "0x01"); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("two orders: got %v", err)
		}
		if _, err := s.Retry(t.Context(), act, "first.com"); err != nil {
			t.Error(err)
		}
		_, entries, err := s.Timeline(t.Context(), p.PublicID)
		var text []string
		for _, m := range entries {
			text = append(text, m.What)
		}
		for _, want := range []string{"authorized", "ledger: settled", "job: queued", "operator anna: retry (a test): accepted"} {
			if err != nil || !strings.Contains(strings.Join(text, "\n"), want) {
				t.Errorf("got %v, %v, want %q", text, err, want)
			}
		}
	})
}

// An order that was not placed at a registrar can be refunded once; one that was, or
// was not paid, cannot.
func TestOperatorsRefund(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, rows := operators(t, db)
		p := ordered(t, rows, "queued.com", order.PaymentSettling, order.PaymentSettled)
		dry := act
		dry.DryRun = true
		if out, err := s.Refund(t.Context(), dry, "queued.com"); err != nil || !strings.HasPrefix(out, "dry run: 0.05 USDC") {
			t.Errorf("dry run: got %q, %v", out, err)
		}
		if p, err := rows.Payments.Payment(t.Context(), p.ID); err != nil || p.State != order.PaymentSettled {
			t.Errorf("after the dry run: got %s, %v", p.State, err)
		}
		if _, err := s.Refund(t.Context(), act, "queued.com"); err != nil {
			t.Fatal(err)
		}
		if p, err := rows.Payments.Payment(t.Context(), p.ID); err != nil || p.State != order.PaymentRefundDue {
			t.Errorf("got %s, %v, want it due for refund", p.State, err)
		}
		placed := ordered(t, rows, "placed.com", order.PaymentSettling, order.PaymentSettled)
		j, err := rows.Jobs.Job(t.Context(), order.JobID(placed.ID))
		if err == nil {
			j.Attempts, j.Reference = 1, order.OrderReference(j.ID, 1)
			_, err = rows.Jobs.MoveJob(t.Context(), j, order.JobSubmitting, time.Unix(1, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		ordered(t, rows, "unpaid.com")
		for _, name := range []string{"queued.com", "placed.com", "unpaid.com"} {
			if _, err := s.Refund(t.Context(), act, name); deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if actions, err := s.Actions(t.Context()); err != nil || len(actions) != 1 || actions[0].Action != "refund" || actions[0].Operator != "anna" {
			t.Errorf("got %+v, %v, want the one act", actions, err)
		}
	})
}

// Only an order whose payment waits to be settled can be given up.
func TestOperatorsRelease(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, rows := operators(t, db)
		var released []string
		s.Release = func(_ context.Context, id string) error { released = append(released, id); return nil }
		p := ordered(t, rows, "waits.com", order.PaymentSettling)
		ordered(t, rows, "paid.com", order.PaymentSettling, order.PaymentSettled)
		if _, err := s.ReleaseOrder(t.Context(), act, "waits.com"); err != nil || !slices.Equal(released, []string{p.ID}) {
			t.Errorf("got %v, %v", released, err)
		}
		if _, err := s.ReleaseOrder(t.Context(), act, "paid.com"); deed.CodeOf(err) != deed.CodeValidation || len(released) != 1 {
			t.Errorf("a paid order: got %v, %v", released, err)
		}
	})
}

// Activities are stopped and wallets blocked until an operator says otherwise; nothing
// is done without an operator and a reason.
func TestOperatorsStopAndBlock(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, _ := operators(t, db)
		const wallet = "0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
		for _, on := range []bool{true, true, false} {
			if _, err := s.Stop(t.Context(), act, operator.Refunds, on); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Block(t.Context(), act, wallet, on); err != nil {
				t.Fatal(err)
			}
			stopped, err := sqldb.Switches{DB: db}.Stopped(t.Context())
			if _, is := stopped[operator.Refunds]; err != nil || is != on {
				t.Errorf("got %v, %v", stopped, err)
			}
			if blocked, err := (sqldb.Switches{DB: db}).Blocked(t.Context()); err != nil || blocked[deed.Wallet(strings.ToLower(wallet))] != on {
				t.Errorf("blocked: got %v, %v", blocked, err)
			}
		}
		for name, a := range map[string]operator.Act{"nobody": {Reason: "x"}, "no reason": {Operator: "anna", Reason: " "}} {
			if _, err := s.Stop(t.Context(), a, operator.Refunds, true); deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if _, err := s.Stop(t.Context(), act, "everything", true); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("got %v", err)
		}
		for _, dry := range []bool{true, false} {
			a := act
			a.DryRun = dry
			if out, err := s.Suspend(t.Context(), a, "missing.com", true); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("suspend a name that is not ours, dry run %v: got %q, %v", dry, out, err)
			}
		}
		actions, err := s.Actions(t.Context())
		if err != nil || len(actions) != 6 {
			t.Errorf("got %+v, %v", actions, err)
		}
	})
}

func noChange(context.Context) error { return nil }

// All dust of a wallet is refunded at once, and nothing else.
func TestOperatorsRefundDust(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := func() time.Time { return noon }
		payments := sqldb.Payments{DB: db, ChainID: 84532, Now: now}
		s := sqldb.Operators{DB: db, Now: now, Payments: payments}
		for nonce, state := range map[string]order.PaymentState{"0x01": order.PaymentDust, "0x02": order.PaymentDust, "0x03": order.PaymentUnclaimed} {
			if err := payments.Adopt(t.Context(), settle.Transfer{Payer: wallet, PayTo: wallet, Nonce: nonce, Amount: 7, TxHash: nonce}, order.Unsolicited{State: state, Next: noon}); err != nil {
				t.Fatal(err)
			}
		}
		if n, sum, err := s.Dust(t.Context(), wallet); err != nil || n != 2 || sum != 14 {
			t.Errorf("got %d of %s, %v", n, sum, err)
		}
		if err := s.RefundDust(t.Context(), wallet); err != nil {
			t.Fatal(err)
		}
		due, err := db.Text(t.Context(), `SELECT count(*) FROM payments WHERE state = 'refund_due'`)
		if n, _, dustErr := s.Dust(t.Context(), wallet); err != nil || dustErr != nil || n != 0 || due != "2" {
			t.Errorf("got %d left, %s due, %v, %v", n, due, err, dustErr)
		}
	})
}

// The suspension of a name ends with its registration: its next owner has done nothing.
func TestSuspensionEndsWithTheRegistration(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		_, rows := operators(t, db)
		was := s.sell(t, "first.com")
		if err := rows.SetSuspended(t.Context(), was.Name, true, "phishing"); err != nil {
			t.Fatal(err)
		}
		if stopped, err := rows.Suspended(t.Context(), was.Name); err != nil || !stopped {
			t.Fatalf("got %t, %v", stopped, err)
		}
		if err := s.names.EndRegistration(t.Context(), was, "deleted", nil); err != nil {
			t.Fatal(err)
		}
		was = s.sell(t, "first.com")
		if stopped, err := rows.Suspended(t.Context(), was.Name); err != nil || stopped {
			t.Errorf("the next owner: got %t, %v", stopped, err)
		}
	})
}
