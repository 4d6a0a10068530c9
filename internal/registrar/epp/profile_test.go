package epp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/registrartest"
)

const day = 24 * time.Hour

// contact is a registrant whose data must be escaped.
var contact = lifecycle.Contact{
	Name: "R & D <team>", Organization: "Deed", Street: []string{"Straße 1"}, City: "Berlin", PostalCode: "10115", Country: "de", Phone: "+49.301234567", Email: "names@example.com",
}

// Registries that differ pass the suites that their difference matters for.
func TestProfiles(t *testing.T) {
	for title, change := range map[string]func(*epptest.Config, *eppConfig){
		"authInfo is hidden": func(s *epptest.Config, _ *eppConfig) { s.HideAuth = true },
		"host attributes":    func(s *epptest.Config, c *eppConfig) { s.HostAttr, c.Profile.HostAttributes = true, true },
		"contacts": func(s *epptest.Config, c *eppConfig) {
			s.Contacts, c.Profile.Contacts, c.Registrant = true, epp.ContactsAll, contact
		},
		"no extensions": func(s *epptest.Config, _ *eppConfig) {
			s.Without = []string{"urn:ietf:params:xml:ns:epp:fee-1.0", "urn:example:unknown-extension-1.0"}
		},
	} {
		t.Run(title, func(t *testing.T) {
			fresh := func(t *testing.T) registrartest.Env { return suiteEnv(t, change) }
			if title != "authInfo is hidden" { // then orders of one minute cannot be told apart
				registrartest.Manager(t, registrartest.ByState, fresh)
				return
			}
			registrartest.Renewals(t, registrartest.ByState, fresh)
			registrartest.Transfers(t, registrartest.ByState, fresh)
		})
	}
}

// Where authInfo is hidden, a registration is known by its time.
func TestHiddenAuthInfo(t *testing.T) {
	e := open(t, func(s *epptest.Config, _ *eppConfig) { s.HideAuth = true })
	first := registrar.Order{Kind: registrar.OrderRegister, Reference: "first", Name: name, Years: 1, Submitted: e.Now()}
	e.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: 1, Only: []string{"create"}})
	if err := e.Place(t.Context(), first); err == nil {
		t.Error("a lost reply came")
	}
	for range 2 {
		if st, err := e.Order(t.Context(), first); err != nil || st.State != registrar.OrderDone {
			t.Errorf("got %+v, %v, want done", st, err)
		}
		if err := e.Place(t.Context(), first); err != nil {
			t.Error(err)
		}
	}
	if h, err := e.Holding(t.Context(), name); err != nil || !h.Locked { // although the reply was lost
		t.Errorf("got %+v, %v, want it locked", h, err)
	}
	e.Advance(time.Hour)
	second := first
	second.Reference, second.Submitted = "second", e.Now()
	if st, err := e.Order(t.Context(), second); err != nil || st.State != registrar.OrderAbsent {
		t.Errorf("an order after it: got %+v, %v, want absent", st, err)
	}
	wantCode(t, e.Place(t.Context(), second), deed.CodeDomainUnavailable)
}

// An attempt that is executed after the next one was placed is the same purchase: the
// name is neither lost nor bought for another.
func TestAttemptsOfOnePurchase(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) {
		c.Purchase = func(reference string) string { return reference[:strings.LastIndexByte(reference, '-')] }
	})
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "job_1-1", Name: name, Years: 1, Submitted: e.Now()}
	e.breaks(t, registrartest.Late, 1)
	uncoded(t, e.Place(t.Context(), o))
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent", st, err)
	}
	e.Advance(time.Hour) // it is executed now
	o.Reference, o.Submitted = "job_1-2", e.Now()
	if err := e.Place(t.Context(), o); err != nil {
		t.Error(err)
	}
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderDone {
		t.Errorf("got %+v, %v, want done", st, err)
	}
	o.Reference = "job_2-1"
	wantCode(t, e.Place(t.Context(), o), deed.CodeDomainUnavailable)
}

// One contact is created for all names and all nodes.
func TestContactIsCreatedOnce(t *testing.T) {
	e := open(t, func(s *epptest.Config, c *eppConfig) {
		s.Contacts, c.Profile.Contacts, c.Registrant = true, epp.ContactsAll, contact
	})
	for i, b := range []*epp.Backend{e.Backend, e.node(t), e.Backend} {
		o := registrar.Order{Kind: registrar.OrderRegister, Reference: string(rune('a' + i)), Name: deed.Name("one-" + string(rune('a'+i)) + ".com"), Years: 1, Submitted: e.Now()}
		if err := b.Place(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if n := e.server.Contacts(); n != 1 {
		t.Errorf("got %d contacts, want 1", n)
	}
}

// At a registry that renews by itself, nobody gets a free year, and nobody is refused
// because the registry's date is ahead.
func TestAutoRenew(t *testing.T) {
	var paid time.Time
	e := open(t, func(s *epptest.Config, c *eppConfig) {
		s.AutoRenew, c.Profile.AutoRenew = true, true
		c.PaidUntil = func(context.Context, deed.Name) (time.Time, error) { return paid, nil }
	})
	holds := func(phase lifecycle.Phase, expires time.Time) {
		t.Helper()
		h, err := e.Holding(t.Context(), name)
		if err != nil || h.Phase != phase || !h.Expires.Equal(expires) {
			t.Errorf("got %s until %s, %v, want %s until %s", h.Phase, h.Expires, err, phase, expires)
		}
	}
	renews := func(from time.Time, years, commands int) {
		t.Helper()
		before, _ := e.server.Commands()
		o := registrar.Order{Kind: registrar.OrderRenew, Reference: "renewal", Name: name, Years: years, From: from, Submitted: e.Now()}
		for range 2 {
			if err := e.Place(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		after, _ := e.server.Commands()
		if got := strings.Count(strings.Join(after[len(before):], " "), "renew"); got != commands {
			t.Errorf("got %d renewals at the registry, want %d", got, commands)
		}
		st, err := e.Order(t.Context(), o)
		if want := from.AddDate(years, 0, 0); err != nil || st.State != registrar.OrderDone || !st.Expires.Equal(want) {
			t.Errorf("got %+v, %v, want done until %s", st, err, want)
		}
		paid = st.Expires
	}
	first := e.bought(t, name)
	paid = first
	e.Advance(first.Sub(e.Now()) + day)
	holds(lifecycle.PhaseGrace, first)
	renews(first, 1, 0) // the registry has added that year already
	holds(lifecycle.PhaseActive, first.AddDate(1, 0, 0))

	second := paid
	e.Advance(second.Sub(e.Now()) + day)
	holds(lifecycle.PhaseGrace, second)
	renews(second, 3, 1) // two more than the registry added
	holds(lifecycle.PhaseActive, second.AddDate(3, 0, 0))

	third := paid
	e.Advance(third.Sub(e.Now()) + 60*day) // grace is over, and nobody deleted it
	holds(lifecycle.PhaseGrace, third)
	renews(third, 1, 0)

	fourth := paid
	e.Advance(fourth.Sub(e.Now()) + 44*day) // nobody pays: the service deletes it
	if err := e.Delete(t.Context(), name); err != nil {
		t.Error(err)
	}
	if h, err := e.Holding(t.Context(), name); err != nil || h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("got %+v, %v, want redemption", h, err)
	}
}

// A premium name has its own prices, also in the order; the price of a name that the
// registry does not tell is not guessed.
func TestPrices(t *testing.T) {
	e := open(t)
	a, err := e.Available(t.Context(), "ab.io")
	if want := (registrar.Availability{Available: true, Premium: true, Wholesale: 250_000_000, Renewal: 80_000_000}); err != nil || a != want {
		t.Errorf("got %+v, %v, want %+v", a, err, want)
	}
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "ab.io", Years: 3, Submitted: e.Now()}
	if p, err := e.Price(t.Context(), o); err != nil || p != (registrar.Price{Total: 410_000_000, Premium: true}) {
		t.Errorf("got %+v, %v", p, err)
	}
	e.agreedTo(t, o, 410_000_000)
	h, err := e.Holding(t.Context(), "ab.io")
	if err != nil {
		t.Fatal(err)
	}
	e.agreedTo(t, registrar.Order{Kind: registrar.OrderRenew, Reference: "b", Name: "ab.io", Years: 2, From: h.Expires, Submitted: e.Now()}, 160_000_000)
	from := h.Expires.AddDate(2, 0, 0)
	e.Advance(from.AddDate(0, 0, 46).Sub(e.Now()))
	restore := registrar.Order{Kind: registrar.OrderRenew, Reference: "c", Name: "ab.io", Years: 1, From: from, Restore: true, Submitted: e.Now()}
	if err := e.Place(t.Context(), restore); deed.CodeOf(err) != deed.CodeRegistrationFailed {
		t.Errorf("a restore of a name that was not sold as premium: got %v", err)
	}
	if h, err := e.Holding(t.Context(), "ab.io"); err != nil || h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("got %+v, %v, want redemption", h, err)
	}
	e.agreedTo(t, restore, 160_000_000) // the registry has a price for both
	if h, err := e.Holding(t.Context(), "ab.io"); err != nil || h.Phase != lifecycle.PhaseActive {
		t.Errorf("got %+v, %v, want active", h, err)
	}
	for _, o := range []registrar.Order{
		{Kind: registrar.OrderRegister, Name: "abc.io", Years: 2},
		{Kind: registrar.OrderRenew, Name: "abc.io", Years: 1, Restore: true},
	} {
		if p, err := e.Price(t.Context(), o); err != nil || p != (registrar.Price{Total: 20_000_000}) {
			t.Errorf("%+v: got %+v, %v", o, p, err)
		}
	}
	if _, err := e.Price(t.Context(), o); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("a name that is taken: got %v, want no price", err)
	}
	euros := open(t, func(s *epptest.Config, _ *eppConfig) { s.Currency = "EUR" })
	if a, err := euros.Available(t.Context(), "ab.io"); err == nil {
		t.Errorf("prices in another currency: got %+v", a)
	} else {
		uncoded(t, err)
	}
}

// A registry that sells two years at least has no prices for one.
func TestPricesOfTwoYears(t *testing.T) {
	e := open(t, func(s *epptest.Config, c *eppConfig) { s.MinYears, c.Profile.MinYears = 2, 2 })
	all, err := e.AvailableAll(t.Context(), []deed.Name{"abc.io", "ab.io"})
	if want := (registrar.Availability{Available: true, Premium: true, Wholesale: 250_000_000, Renewal: 80_000_000}); err != nil || !all["abc.io"].Available || all["abc.io"].Premium || all["ab.io"] != want {
		t.Errorf("got %+v, %v", all, err)
	}
	e.agreedTo(t, registrar.Order{Kind: registrar.OrderRegister, Reference: "a", Name: "ab.io", Years: 2, Submitted: e.Now()}, 330_000_000)
}

// agreedTo places the order for a premium name at its cost; sold for less, or as any other
// name, it buys nothing.
func (e env) agreedTo(t *testing.T, o registrar.Order, cost deed.USDC) {
	t.Helper()
	before := e.server.Spent()
	for _, o.MaxCost = range []deed.USDC{0, cost - 1} {
		wantCode(t, e.Place(t.Context(), o), deed.CodeRegistrationFailed)
	}
	if spent := e.server.Spent() - before; spent != 0 {
		t.Errorf("%s: paid %s for an order that was refused", o.Kind, spent)
	}
	o.MaxCost = cost
	if err := e.Place(t.Context(), o); err != nil {
		t.Error(err)
	}
	if spent := e.server.Spent() - before; spent != cost {
		t.Errorf("%s: paid %s, want %s", o.Kind, spent, cost)
	}
}

// A premium name is not transferred at the price of others.
func TestPremiumTransfer(t *testing.T) {
	e := open(t)
	for n, want := range map[deed.Name]deed.Code{"ab.io": deed.CodeValidation, "abc.io": ""} {
		code, err := e.registry.Elsewhere(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, e.Transferable(t.Context(), n, code), want)
		if n == "ab.io" {
			e.agreedTo(t, registrar.Order{Kind: registrar.OrderTransfer, Reference: "c", Name: n, Years: 1, AuthCode: code, Submitted: e.Now()}, 80_000_000)
		}
	}
}

// Many names are checked with few commands, and a bad one does not spoil the others.
func TestBulkCheck(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	names := []deed.Name{name, "whois.com", "bad..name"}
	for i := range 60 {
		names = append(names, deed.Name(fmt.Sprintf("bulk-%d.com", i)))
	}
	got, err := e.AvailableAll(t.Context(), names)
	if err != nil || len(got) != len(names)-1 || got[name].Reason != "taken" || got["whois.com"].Reason != "reserved" || !got["bulk-1.com"].Available {
		t.Errorf("got %d names, %v", len(got), err)
	}
	if _, there := got["bad..name"]; there {
		t.Error("a bad name has an availability")
	}
	before, _ := e.server.Commands()
	if got, err := e.AvailableAll(t.Context(), names[3:]); err != nil || len(got) != 60 {
		t.Errorf("got %d names, %v", len(got), err)
	}
	if after, _ := e.server.Commands(); len(after)-len(before) != 2 {
		t.Errorf("got %d commands for 60 names, want 2", len(after)-len(before))
	}
	e.server.Break(epptest.Fault{Kind: epptest.CutBefore, Times: 2})
	if _, err := e.AvailableAll(t.Context(), names[3:]); err == nil {
		t.Error("a registry that is down answered")
	}
}
