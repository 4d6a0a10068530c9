package zone_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

const (
	owner deed.Wallet = "0x0000000000000000000000000000000000000001"
	other deed.Wallet = "0x0000000000000000000000000000000000000002"
	name  deed.Name   = "first.com"
)

// env is a service on a database in memory that has one name.
type env struct {
	*zone.Service
	t         *testing.T
	engine    *fulfil.Service
	payments  sqldb.Payments
	published int
	nonce     int
	now       time.Time
}

func newEnv(t *testing.T) *env {
	t.Helper()
	db := sqldbtest.Memory(t)
	e := &env{t: t, now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return e.now }
	zones := sqldbtest.Zones(db, clock)
	jobs := sqldb.Jobs{DB: db, Now: clock, Zones: zones}
	e.payments = sqldb.Payments{DB: db, ChainID: 1, Now: clock}
	ids := 0
	e.Service = &zone.Service{
		Store: zones, History: zones,
		Publish:  func(context.Context, deed.Name, uint32) { e.published++ },
		Changing: func(deed.Name) func() { return func() {} },
		NewID:    func() dnszone.RecordID { ids++; return dnszone.RecordID(fmt.Sprintf("record%08d", ids)) },
		Now:      clock, RegistryNow: clock, Grace: func(deed.TLD) int { return 30 },
	}
	e.engine = &fulfil.Service{Jobs: jobs, Kinds: []order.Kind{e.Service}, Wait: time.Minute, Now: clock}
	e.register(jobs)
	return e
}

// register writes the name down as a completed order does.
func (e *env) register(jobs sqldb.Jobs) {
	e.t.Helper()
	p, err := (&wallet{e: e}).Collect(e.t.Context(), order.Quote{Amount: deed.Cent}, order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1})
	if err != nil {
		e.t.Fatal(err)
	}
	j, err := jobs.JobOf(e.t.Context(), p)
	if err != nil {
		e.t.Fatal(err)
	}
	j.Attempts, j.Reference, j.Submitted, j.Lease = 1, order.OrderReference(j.ID, 1), e.now, e.now
	for _, to := range []order.JobState{order.JobSubmitting, order.JobVerifying} {
		if moved, err := jobs.MoveJob(e.t.Context(), j, to, e.now); err != nil || !moved {
			e.t.Fatal(moved, err)
		}
		j.State = to
	}
	err = jobs.CompleteJob(e.t.Context(), j, lifecycle.Registration{
		Name: name, Owner: owner, Status: lifecycle.StatusActive, Reference: j.Reference, PaymentID: j.PaymentID,
		Created: e.now, Expires: e.now.AddDate(1, 0, 0), Updated: e.now,
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// wallet is a checkout whose payment always settles.
type wallet struct {
	e         *env
	paid      *order.Payment
	meanwhile func() // what happens between the checks and the change
}

func (w *wallet) Resume(context.Context, order.Purchase) (order.Payment, bool, error) {
	if w.paid == nil {
		return order.Payment{}, false, nil
	}
	return *w.paid, true, nil
}

func (w *wallet) Collect(ctx context.Context, q order.Quote, p order.Purchase) (order.Payment, error) {
	if w.meanwhile != nil {
		w.meanwhile()
	}
	w.e.nonce++
	auth := settle.Authorization{Payer: owner, PayTo: "0x02", Amount: q.Amount, Nonce: fmt.Sprint(w.e.nonce), Signature: []byte{1}}
	paid, err := w.e.payments.AuthorizePayment(ctx, order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: p}, sqldbtest.AdmitAll)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			paid, err = w.e.payments.MovePayment(ctx, paid, to, "0xpaid"+auth.Nonce)
		}
	}
	w.paid = &paid
	return paid, err
}

// change buys a change.
func (e *env) change(c dnszone.Change, pay order.Checkout) (order.Outcome, error) {
	return e.engine.Buy(e.t.Context(), order.Request{Purchase: order.PurchaseOf(c)}, pay)
}

func add(by deed.Wallet, kind, host, value string) dnszone.Change {
	rec, err := dnszone.RecordInput{Type: kind, Host: host, Value: value}.Record(name)
	if err != nil {
		panic(err)
	}
	return dnszone.Change{Kind: dnszone.ChangeAdd, Zone: name, By: by, Ops: []dnszone.RecordOp{{Op: dnszone.OpAdd, Record: rec}}}
}

// A paid change is made once, published, and consumes its payment; asking for it
// again changes nothing.
func TestChange(t *testing.T) {
	e := newEnv(t)
	pay := &wallet{e: e}
	for range 2 {
		out, err := e.change(add(owner, "A", "www", "192.0.2.1"), pay)
		if err != nil || out.Job.State != order.JobCompleted || pay.paid.Auth.Amount != zone.Price {
			t.Fatalf("got %+v, %v", out, err)
		}
	}
	z, err := e.Zone(t.Context(), owner, name)
	if err != nil || len(z.Records) != 1 || z.Records[0].Value != "192.0.2.1" || e.published == 0 {
		t.Errorf("got %+v, %v, published %d times", z.Records, err, e.published)
	}
	if p, err := e.payments.Payment(t.Context(), pay.paid.ID); err != nil || p.State != order.PaymentConsumed {
		t.Errorf("got %s, %v", p.State, err)
	}
}

// What can be refused is refused before any money moves: another wallet, a name that
// is not there, a record that exists, and a name whose last day is over.
func TestRefusedBeforeMoney(t *testing.T) {
	e := newEnv(t)
	if _, err := e.change(add(owner, "A", "www", "192.0.2.1"), &wallet{e: e}); err != nil {
		t.Fatal(err)
	}
	elsewhere := add(owner, "A", "www", "192.0.2.2")
	elsewhere.Zone = "second.com"
	for want, c := range map[deed.Code]dnszone.Change{
		deed.CodeOwnershipDenied: add(other, "A", "www", "192.0.2.2"),
		deed.CodeNotFound:        elsewhere,
		deed.CodeValidation:      add(owner, "A", "www", "192.0.2.1"),
	} {
		pay := &wallet{e: e}
		if _, err := e.change(c, pay); deed.CodeOf(err) != want || pay.paid != nil {
			t.Errorf("got %v, paid %v, want %s", err, pay.paid, want)
		}
	}
	e.now = e.now.AddDate(2, 0, 0)
	pay := &wallet{e: e}
	if _, err := e.change(add(owner, "A", "mail", "192.0.2.3"), pay); deed.CodeOf(err) != deed.CodeNotFound || pay.paid != nil {
		t.Errorf("after the last day: got %v, paid %v", err, pay.paid)
	}
}

// Of two changes that exclude each other the second is refunded, though both were
// good when they were paid for.
func TestConflictingChangeIsRefunded(t *testing.T) {
	e := newEnv(t)
	pay := &wallet{e: e, meanwhile: func() {
		if _, err := e.change(add(owner, "A", "www", "192.0.2.1"), &wallet{e: e}); err != nil {
			t.Fatal(err)
		}
	}}
	_, err := e.change(add(owner, "CNAME", "www", "host.example.net"), pay)
	if deed.CodeOf(err) != deed.CodeDNS {
		t.Errorf("got %v", err)
	}
	if p, err := e.payments.Payment(t.Context(), pay.paid.ID); err != nil || p.State != order.PaymentRefundDue {
		t.Errorf("got %s, %v", p.State, err)
	}
}

// A change whose money is on its way is pending, and is made when the money is there.
func TestPendingChange(t *testing.T) {
	e := newEnv(t)
	c := add(owner, "A", "www", "192.0.2.1")
	_, err := e.change(c, late{&wallet{e: e}})
	if !errors.Is(err, order.ErrPending) {
		t.Errorf("got %v", err)
	}
	if z, err := e.Zone(t.Context(), owner, name); err != nil || len(z.Records) != 0 {
		t.Errorf("made before it was paid: %v, %v", z.Records, err)
	}
}

// late is a wallet whose payment is authorized and not settled.
type late struct{ *wallet }

func (w late) Collect(ctx context.Context, q order.Quote, p order.Purchase) (order.Payment, error) {
	auth := settle.Authorization{Payer: owner, PayTo: "0x02", Amount: q.Amount, Nonce: "late", Signature: []byte{1}}
	return w.e.payments.AuthorizePayment(ctx, order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: p}, sqldbtest.AdmitAll)
}

// An import is priced by what it changes, is bought once for one file, and is free of
// the file once it is stored.
func TestImport(t *testing.T) {
	e := newEnv(t)
	in := zone.Import{Name: name, By: owner, File: []byte("www 300 IN A 192.0.2.1\nmail 300 IN A 192.0.2.2\n")}
	pay := &wallet{e: e}
	out, err := e.engine.Buy(t.Context(), in.Request(), pay)
	if err != nil || pay.paid.Auth.Amount != 2*zone.Price || len(out.Job.Purchase.Change.Ops) != 2 {
		t.Fatalf("got %+v, %v", out, err)
	}
	back := zone.Rollback{Name: name, By: other, Revision: out.Job.Revision}
	refused := &wallet{e: e}
	if _, err := e.engine.Buy(t.Context(), back.Request(), refused); deed.CodeOf(err) != deed.CodeOwnershipDenied || refused.paid != nil {
		t.Errorf("a rollback by another wallet: got %v, paid %v", err, refused.paid)
	}
	if in.Request().Fingerprint() == (zone.Import{Name: name, By: owner, File: in.File, Replace: true}).Request().Fingerprint() {
		t.Error("merging and replacing are the same purchase")
	}
}
