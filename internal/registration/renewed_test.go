package registration_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
)

func (e *env) quoteRenewal() (order.Quote, error) {
	q, _, err := e.Quote(e.t.Context(), order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1}})
	return q, err
}

// While a renewal has been executed at the registry and is not recorded here yet, others
// are told to try again soon, and nobody has to investigate.
func TestQuoteDuringARenewal(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("first.com", "1"); err != nil {
		t.Fatal(err)
	}
	asked := 0
	e.Step = func(name string) {
		if name != "job: ordered" {
			return
		}
		asked++
		_, err := e.quoteRenewal()
		refused, ok := errors.AsType[*deed.Error](err)
		if !ok || refused.Code != deed.CodeUnavailable || !strings.Contains(refused.Message, "in progress") || refused.Retry <= 0 || refused.Retry >= time.Minute {
			t.Errorf("got %v", err)
		}
	}
	_, r, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1}, &wallet{e: e, nonce: "2"})
	if err != nil || asked != 1 || !r.Expires.Equal(e.now.AddDate(2, 0, 0)) {
		t.Errorf("got %s, %v, asked %d times", r.Expires, err, asked)
	}
}

// compare compares a name with its registry.
func (e *env) compare(name string) {
	e.t.Helper()
	all := &registration.Lifecycle{Names: e.names, Manager: e.registry, Servers: ownServers, Grace: e.Prices.GraceDays, Now: func() time.Time { return e.now }, Log: slog.New(slog.DiscardHandler)}
	if err := all.Advance(e.t.Context(), name); err != nil {
		e.t.Fatal(err)
	}
}

// While a renewal is being recorded, a comparison with the registry does not correct what the
// renewal changes, and the owner is not told of a correction.
func TestComparedDuringARenewal(t *testing.T) {
	e := newEnv(t)
	_, before, err := e.register("first.com", "1")
	if err != nil {
		t.Fatal(err)
	}
	e.Step = func(name string) {
		if name != "job: ordered" {
			return
		}
		e.compare("first.com")
		if r, err := e.names.Registration(t.Context(), "first.com"); err != nil || !r.Expires.Equal(before.Expires) {
			t.Errorf("got %s, %v, want %s", r.Expires, err, before.Expires)
		}
	}
	_, r, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1}, &wallet{e: e, nonce: "2"})
	if err != nil || !r.Expires.Equal(before.Expires.AddDate(1, 0, 0)) {
		t.Fatalf("got %s, %v", r.Expires, err)
	}
	e.Step = nil
	e.compare("first.com")
	events, err := e.names.Events(t.Context(), r)
	if err != nil || slices.ContainsFunc(events, func(e lifecycle.Event) bool { return e.Type == lifecycle.EventCorrected }) {
		t.Errorf("got %v, %v", events, err)
	}
}

// renewing is a registry at which a name is renewed just before it is looked up.
type renewing struct {
	registrar.Manager
	renew func()
}

func (r *renewing) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	if renew := r.renew; renew != nil {
		r.renew = nil
		renew()
	}
	return r.Manager.Holding(ctx, name)
}

// A renewal that is completed while another is quoted does not refuse the other: it is
// quoted again, from the new expiry.
func TestQuoteWhileARenewalCompletes(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("first.com", "1"); err != nil {
		t.Fatal(err)
	}
	registry := &renewing{Manager: e.registry}
	e.Manager = registry
	renew := func() {
		_, _, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 1}, &wallet{e: e, nonce: "2"})
		if err != nil {
			t.Error(err)
		}
	}
	registry.renew = renew
	if q, err := e.quoteRenewal(); err != nil || q.Years != 1 {
		t.Errorf("got %+v, %v", q, err)
	}
	registry.renew = func() {
		_, _, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "first.com", Years: 8}, &wallet{e: e, nonce: "3"})
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := e.quoteRenewal(); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("beyond ten years: got %v", err)
	}
}

// pricing is a registrar that tells what an order costs today.
type pricing struct {
	registrar.Registrar
	price registrar.Price // of one year
	least int             // years of one order
	err   error
}

func (p pricing) Price(_ context.Context, o registrar.Order) (registrar.Price, error) {
	if o.Years < p.least {
		return registrar.Price{}, deed.Errorf(deed.CodeNotFound, "it has no price")
	}
	p.price.Total *= deed.USDC(o.Years)
	return p.price, p.err
}

// The renewal of a premium name is quoted at what its registry charges today, and at what it
// charged last if it does not tell.
func TestQuotePremiumRenewal(t *testing.T) {
	e := newEnv(t)
	if _, _, err := e.register("ab.io", "1"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pricing
		want deed.USDC
		code deed.Code
	}{
		{pricing{price: registrar.Price{Total: 95_000_000, Premium: true}}, 95_000_000, ""},
		{pricing{err: deed.Errorf(deed.CodeNotFound, "it has no price")}, 80_000_000, ""},
		{pricing{err: errors.New("no reply")}, 0, deed.CodeUnavailable},
	} {
		c.Registrar = e.registry
		e.Registrar = c.pricing
		q, p, err := e.Quote(e.t.Context(), order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: "ab.io", Years: 1}})
		if deed.CodeOf(err) != c.code || err == nil && (q.Cost != c.want || p.Facts.PremiumCost != c.want) {
			t.Errorf("%+v: got a cost of %s, %s agreed on, %v", c.pricing, q.Cost, p.Facts.PremiumCost, err)
		}
	}
	e.Registrar = pricing{Registrar: e.registry, price: registrar.Price{Total: 95_000_000, Premium: true}}
	if _, r, err := e.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: "ab.io", Years: 1}, &wallet{e: e, nonce: "2"}); err != nil || r.PremiumRenewal != 95_000_000 {
		t.Errorf("got %+v, %v, want the price of that day", r, err)
	}
}

// expensive is a registrar that sells all names as premium ones.
type expensive struct{ registrar.Registrar }

func (expensive) Available(context.Context, deed.Name) (registrar.Availability, error) {
	return registrar.Availability{Available: true, Premium: true, Wholesale: 90_000_000, Renewal: 80_000_000}, nil
}

// The registry of a TLD that is renewed for two years at least has no price for one.
func TestQuotePremiumRenewalOfTwoYears(t *testing.T) {
	e := newEnv(t)
	e.Registrar = expensive{e.registry}
	if _, _, err := e.buy(order.Purchase{Kind: order.PurchaseRegistration, Name: "first.ai", Years: 2}, &wallet{e: e, nonce: "1"}); err != nil {
		t.Fatal(err)
	}
	e.Registrar = pricing{Registrar: e.registry, least: 2, price: registrar.Price{Total: 95_000_000, Premium: true}}
	q, _, err := e.Quote(e.t.Context(), order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: "first.ai", Years: 2}})
	if err != nil || q.Cost != 190_000_000 {
		t.Errorf("got a cost of %s, %v", q.Cost, err)
	}
}
