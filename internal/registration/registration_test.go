package registration_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const payer deed.Wallet = "0x0000000000000000000000000000000000000001"

var ownServers = []string{"ns1.deed.example", "ns2.deed.example"}

// env is a service on a database in memory, and a registry on another one, as if it
// were somebody else's.
type env struct {
	*registration.Service
	t        *testing.T
	engine   *fulfil.Service
	payments sqldb.Payments
	jobs     sqldb.Jobs
	names    sqldb.Registrations
	mandates sqldb.Mandates
	cancels  sqldb.Cancellations
	registry *local.Registry
	now      time.Time
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return e.now }
	prices, err := catalog.New(catalog.DefaultPricing())
	if err != nil {
		t.Fatal(err)
	}
	db, theirs := sqldbtest.Memory(t), sqldbtest.Memory(t)
	zones := sqldbtest.Zones(db, clock)
	e.payments = sqldb.Payments{DB: db, ChainID: 1, Now: clock}
	e.jobs = sqldb.Jobs{DB: db, Now: clock, Zones: zones}
	e.names = sqldb.Registrations{DB: db, Now: clock, Zones: zones}
	if db.Sealer, err = seal.New("a secret of the service"); err != nil {
		t.Fatal(err)
	}
	e.mandates = sqldb.Mandates{DB: db, Asset: network.Asset{ChainID: 1}, Now: clock}
	e.cancels = sqldb.Cancellations{DB: db, Now: clock, Names: e.names}
	e.registry = &local.Registry{Store: sqldb.Registry{DB: theirs}, Now: clock, Faults: &local.Faults{}}
	e.Service = &registration.Service{
		Store: e.jobs, Names: e.names, Registrar: e.registry, Manager: e.registry, Prices: prices, Offers: sqldb.Prices{DB: db},
		Nameservers: ownServers, Now: clock, RegistryNow: clock,
	}
	e.engine = &fulfil.Service{Jobs: e.jobs, Kinds: []order.Kind{e.Service}, Wait: time.Minute, Now: clock}
	return e
}

// wallet is a checkout whose payment always settles.
type wallet struct {
	e     *env
	nonce string
	takes time.Duration // the settlement
	paid  *order.Payment
}

func (w *wallet) Resume(context.Context, order.Purchase) (order.Payment, bool, error) {
	if w.paid == nil {
		return order.Payment{}, false, nil
	}
	return *w.paid, true, nil
}

func (w *wallet) Collect(ctx context.Context, q order.Quote, p order.Purchase) (order.Payment, error) {
	auth := settle.Authorization{Payer: payer, PayTo: "0x02", Amount: q.Amount, Nonce: w.nonce, Signature: []byte(w.nonce)}
	paid, err := w.e.payments.AuthorizePayment(ctx, order.Payment{ID: auth.PaymentID(1, ""), Source: order.SourceX402Exact, Auth: auth, Purchase: p}, sqldbtest.AdmitAll)
	w.e.now = w.e.now.Add(w.takes)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			paid, err = w.e.payments.MovePayment(ctx, paid, to, "0xpaid"+w.nonce)
		}
	}
	w.paid = &paid
	return paid, err
}

// buy buys what is requested, and returns its job and the registration that it
// resulted in.
func (e *env) buy(p order.Purchase, pay order.Checkout) (j order.Job, r lifecycle.Registration, err error) {
	out, err := e.engine.Buy(e.t.Context(), order.Request{Purchase: p}, pay)
	if err == nil && out.Job.State == order.JobCompleted {
		r, err = e.Result(e.t.Context(), out.Job)
	}
	return out.Job, r, err
}

func (e *env) register(name deed.Name, nonce string) (order.Job, lifecycle.Registration, error) {
	return e.buy(order.Purchase{Kind: order.PurchaseRegistration, Name: name}, &wallet{e: e, nonce: nonce})
}

// A paid order makes the payer the owner; the same name is then refused before any
// money moves.
func TestBuy(t *testing.T) {
	e := newEnv(t)
	j, r, err := e.register("first.com", "1")
	if err != nil || j.State != order.JobCompleted || r.Owner != payer || !r.Expires.Equal(e.now.AddDate(1, 0, 0)) {
		t.Fatalf("got %+v, %+v, %v", j, r, err)
	}
	second := &wallet{e: e, nonce: "2"}
	_, _, err = e.buy(order.Purchase{Kind: order.PurchaseRegistration, Name: "first.com"}, second)
	if deed.CodeOf(err) != deed.CodeDomainUnavailable || second.paid != nil {
		t.Errorf("got %v, paid %v", err, second.paid)
	}
}

// However long the settlement of a payment takes, its order has the time that its registry
// needs, from then on.
func TestDeadlineBeginsWithTheMoney(t *testing.T) {
	for _, slow := range []time.Duration{0, 6 * time.Hour} { // of a registry with maintenance windows
		e := newEnv(t)
		router, err := registrar.NewRouter(e.names, registrar.Backend{Name: "slow", Rest: true, Registrar: e.registry, Manager: e.registry, Deadline: slow})
		if err == nil {
			err = e.registry.Faults.Set(local.FaultParked, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		e.Registrar, e.Manager, e.Route = router, router, router
		j, _, err := e.buy(order.Purchase{Kind: order.PurchaseRegistration, Name: "first.com"}, &wallet{e: e, nonce: "1", takes: 5 * time.Hour})
		if want := e.now.Add(max(slow, order.JobDeadline)); err != nil || !j.Deadline.Equal(want) {
			t.Errorf("%s: %s has until %s, want %s: %v", slow, j.State, j.Deadline, want, err)
		}
	}
}

// A registry that says no, and one that never says anything, end in a refund; one
// whose reply is lost does not.
func TestFaultsOfTheRegistry(t *testing.T) {
	for fault, want := range map[local.Fault]order.PaymentState{
		local.FaultRefuse: order.PaymentRefundDue, local.FaultTaken: order.PaymentRefundDue, local.FaultLostReply: order.PaymentConsumed,
	} {
		t.Run(string(fault), func(t *testing.T) {
			e := newEnv(t)
			if err := e.registry.Faults.Set(fault, 1); err != nil {
				t.Fatal(err)
			}
			j, _, _ := e.register("first.com", "1") // the payment says what came of it
			for range 30 {
				e.now = e.now.Add(10 * time.Second)
				if err := e.engine.AdvanceJob(t.Context(), j.ID); err != nil {
					t.Fatal(err)
				}
			}
			p, err := e.payments.Payment(t.Context(), j.PaymentID)
			if err != nil || p.State != want {
				t.Errorf("got %s, %v, want %s", p.State, err, want)
			}
			_, err = e.names.Registration(t.Context(), "first.com")
			if held := err == nil; held != (want == order.PaymentConsumed) {
				t.Errorf("the name is registered: %t", held)
			}
		})
	}
}

// A renewal that was ordered for one expiry is refused when the name has another.
func TestRenewalFromAnotherExpiry(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("first.com", "1"); err != nil {
		t.Fatal(err)
	}
	p := order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1, From: e.now}
	if _, _, err := e.buy(p, &wallet{e: e, nonce: "2"}); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("got %v", err)
	}
	p.From = e.now.AddDate(1, 0, 0)
	_, r, err := e.buy(p, &wallet{e: e, nonce: "3"})
	if err != nil || !r.Expires.Equal(e.now.AddDate(2, 0, 0)) {
		t.Errorf("got %s, %v", r.Expires, err)
	}
}

// A renewal of a name that the registry shows differently is refused before any money moves,
// and the name is compared at once.
func TestRenewalOfANameThatChangedAtTheRegistry(t *testing.T) {
	for what, c := range map[string]struct {
		change func(e *env) error
		code   deed.Code
	}{
		"asked for": {func(e *env) error {
			code, err := e.registry.AuthCode(e.t.Context(), "first.com")
			return errors.Join(err, e.registry.SetLock(e.t.Context(), "first.com", false), e.registry.Leave(e.t.Context(), "first.com", code))
		}, deed.CodeValidation},
		"renewed": {func(e *env) error {
			return e.registry.Place(e.t.Context(), registrar.Order{Kind: registrar.OrderRenew, Reference: "other", Name: "first.com", Years: 1, From: time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC)})
		}, deed.CodeUnavailable},
		"deleted": {func(e *env) error { return e.registry.Delete(e.t.Context(), "first.com") }, deed.CodeUnavailable},
		"gone": {func(e *env) error {
			e.Manager = &local.Registry{Store: sqldb.Registry{DB: sqldbtest.Memory(e.t)}, Now: e.registry.Now, Faults: &local.Faults{}}
			return nil
		}, deed.CodeUnavailable},
	} {
		t.Run(what, func(t *testing.T) {
			e := newEnv(t)
			_, r, err := e.register("first.com", "1")
			if err != nil {
				t.Fatal(err)
			}
			e.now = e.now.AddDate(0, 0, 100)
			if written, err := e.names.UpdateRegistration(t.Context(), r, r, nil, e.now.Add(24*time.Hour)); err != nil || !written {
				t.Fatal(written, err)
			}
			if err := c.change(e); err != nil {
				t.Fatal(err)
			}
			pay := &wallet{e: e, nonce: "2"}
			if _, _, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1}, pay); deed.CodeOf(err) != c.code || pay.paid != nil {
				t.Errorf("got %v, paid %v", err, pay.paid)
			}
			if due, err := e.names.DueNames(t.Context(), "", 10); err != nil || !slices.Contains(due, "first.com") {
				t.Errorf("it is not compared: %v, %v", due, err)
			}
		})
	}
}
