package opusdns_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// The premium names of the embedded registry: two letters under com and io.
const (
	premiumName deed.Name = "ab.com"
	premiumCost deed.USDC = 2_500_000_000
)

// A premium name is ordered at the price that the buyer was told. If it costs more by
// now, or nobody was told one, it is not bought.
func TestPremium(t *testing.T) {
	e := open(t)
	a, err := e.Available(t.Context(), premiumName)
	if err != nil || !a.Available || !a.Premium || a.Wholesale != premiumCost || a.Renewal != premiumCost {
		t.Fatalf("got %+v, %v", a, err)
	}
	for _, o := range []registrar.Order{
		{Kind: registrar.OrderRegister, Name: premiumName, Years: 3},
		{Kind: registrar.OrderRenew, Name: premiumName, Years: 3},
	} {
		if p, err := e.Price(t.Context(), o); err != nil || p != (registrar.Price{Total: 3 * premiumCost, Premium: true}) {
			t.Errorf("%s: got %+v, %v", o.Kind, p, err)
		}
	}
	if _, err := e.Price(t.Context(), registrar.Order{Kind: registrar.OrderTransfer, Name: premiumName, Years: 1}); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("a transfer without a price: got %v", err)
	}
	o := e.order(premiumName)
	o.Years = 2
	for _, o.MaxCost = range []deed.USDC{0, 2*premiumCost - 1} {
		if err := e.Place(t.Context(), o); deed.CodeOf(err) != deed.CodeRegistrationFailed {
			t.Errorf("at most %s: got %v", o.MaxCost, err)
		}
	}
	o.MaxCost = 2 * premiumCost
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderDone {
		t.Errorf("got %+v, %v", got, err)
	}
	e.conforms(t)
}

// A premium name is renewed at the price that was agreed on, with its restore, and not at
// any other. Nobody has asked this process for the price, and the vendor tells none of the
// registration of a name that is taken.
func TestPremiumRenewal(t *testing.T) {
	for restore, cost := range map[bool]deed.USDC{false: 2 * premiumCost, true: 4 * premiumCost} {
		e := open(t)
		bought := e.order(premiumName)
		bought.MaxCost = premiumCost
		if err := e.Place(t.Context(), bought); err != nil {
			t.Fatal(err)
		}
		h, err := e.Holding(t.Context(), premiumName)
		if err != nil {
			t.Fatal(err)
		}
		if restore {
			e.Advance(h.Expires.AddDate(0, 0, 46).Sub(e.Now()))
		}
		o := registrar.Order{Kind: registrar.OrderRenew, Reference: "renewal", Name: premiumName, Years: 2, From: h.Expires, Restore: restore, Submitted: e.Now()}
		for _, o.MaxCost = range []deed.USDC{0, cost - 1} {
			if err := e.Place(t.Context(), o); deed.CodeOf(err) != deed.CodeRegistrationFailed {
				t.Errorf("at most %s: got %v", o.MaxCost, err)
			}
			if got, err := e.Holding(t.Context(), premiumName); err != nil || got.Phase != h.Phase && !restore || restore && got.Phase != lifecycle.PhaseRedemption {
				t.Errorf("at most %s: got %+v, %v, want it as it was", o.MaxCost, got, err)
			}
		}
		o.MaxCost = cost
		if err := e.Place(t.Context(), o); err != nil {
			t.Error(err)
		}
		if got, err := e.Holding(t.Context(), premiumName); err != nil || !got.Expires.Equal(h.Expires.AddDate(2, 0, 0)) {
			t.Errorf("got %+v, %v, want two more years", got, err)
		}
		e.conforms(t)
	}
}

// A premium name is not transferred at the price of others, whatever the vendor tells of
// its own.
func TestPremiumTransfer(t *testing.T) {
	for _, body := range []string{
		check(`"available":false,"is_premium":true`),
		strings.Replace(check(prices("2500.00", "80.5", "USD")), `"available":true`, `"available":false`, 1),
	} {
		b := answering(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/check") {
				w.Header().Set("Content-Type", asProblem)
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"type":"domain-not-found","title":"Error","status":404,"code":"ERROR_DOMAIN_NOT_FOUND"}`)) // the client may have left
				return
			}
			w.Header().Set("Content-Type", asJSON)
			_, _ = w.Write([]byte(body)) // the client may have left
		})
		if err := b.Transferable(t.Context(), "one.com", "a good code"); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%s: got %v, want %s", body, err, deed.CodeValidation)
		}
	}
}

// A name that was not premium when it was sold is not bought as one.
func TestPriceJumps(t *testing.T) {
	e := open(t)
	o := e.order("yz.io")
	o.Submitted = e.Now()
	if err := e.Place(t.Context(), o); deed.CodeOf(err) != deed.CodeRegistrationFailed {
		t.Errorf("got %v, want %s", err, deed.CodeRegistrationFailed)
	}
	if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent", got, err)
	}
}

func TestPrices(t *testing.T) {
	e := open(t)
	price := func(o registrar.Order) deed.USDC {
		t.Helper()
		p, err := e.Price(t.Context(), o)
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("%+v: %v", o, err)
		}
		return p.Total
	}
	for _, c := range []struct {
		order registrar.Order
		want  deed.USDC
	}{
		{registrar.Order{Kind: registrar.OrderRegister, Name: "one.com", Years: 1}, 9_500_000},
		{registrar.Order{Kind: registrar.OrderRegister, Name: "one.com", Years: 3}, 29_900_000},
		{registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 2}, 20_400_000},
		{registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 1, Restore: true}, 90_200_000},
		{registrar.Order{Kind: registrar.OrderTransfer, Name: "one.com", Years: 1}, 9_800_000},
		{registrar.Order{Kind: registrar.OrderRenew, Name: "one.dev", Years: 2}, 23_000_000},
		{registrar.Order{Kind: registrar.OrderRegister, Name: "one.dev", Years: 3}, 34_000_000},
		{registrar.Order{Kind: registrar.OrderTransfer, Name: "one.dev", Years: 1}, 0},
		{registrar.Order{Kind: registrar.OrderRenew, Name: "one.dev", Years: 1, Restore: true}, 0},
		{registrar.Order{Kind: registrar.OrderRegister, Name: "one.org", Years: 1}, 0},
	} {
		if got := price(c.order); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.order, got, c.want)
		}
	}
	e.conforms(t)
}

// Entries of the price list without sense are not used, and the operator is told.
// What needs them is not sold; what does not is.
func TestHostilePrices(t *testing.T) {
	for title, bad := range map[string]opusdnstest.Price{
		"zero":             {Action: "create", Class: "com", Price: "0.00", Currency: "USD", Years: 1},
		"negative":         {Action: "create", Class: "com", Price: "-9.50", Currency: "USD", Years: 1},
		"another currency": {Action: "create", Class: "com", Price: "9.50", Currency: "EUR", Years: 1},
		"not a number":     {Action: "create", Class: "com", Price: "cheap", Currency: "USD", Years: 1},
		"too large":        {Action: "create", Class: "com", Price: "99999999999999", Currency: "USD", Years: 1},
		"not a TLD":        {Action: "create", Class: "", Price: "9.50", Currency: "USD", Years: 1},
	} {
		e := open(t)
		e.vendor.Configure(func(a *opusdnstest.Account) {
			a.Prices = []opusdnstest.Price{bad, {Action: "renew", Class: ".COM", Price: "10.20", Currency: "USD", Years: 1}}
		})
		if p, err := e.Price(t.Context(), e.order("one.com")); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("%s: got %+v, %v, want no price", title, p, err)
		}
		if p, err := e.Price(t.Context(), registrar.Order{Kind: registrar.OrderRenew, Name: "one.com", Years: 1}); err != nil || p.Total != 10_200_000 {
			t.Errorf("%s: got %+v, %v", title, p, err)
		}
		if len(e.Warnings()) != 1 {
			t.Errorf("%s: got %v, want one warning", title, e.Warnings())
		}
	}
	e := open(t)
	e.vendor.Configure(func(a *opusdnstest.Account) { a.Prices = nil })
	if p, err := e.Price(t.Context(), e.order("one.com")); !isUnknown(err) {
		t.Errorf("an empty list: got %+v, %v, want an error without a code", p, err)
	}
}

// A price list is read again when it is old, and of two prices the higher counts.
func TestPriceListIsRead(t *testing.T) {
	e := open(t, func(c *opusdns.Config) { c.PriceAge = time.Nanosecond })
	for _, want := range []string{"9.50", "19.50", "12.00"} {
		e.vendor.Configure(func(a *opusdnstest.Account) {
			a.Prices = []opusdnstest.Price{{Action: "create", Class: "com", Price: want, Currency: "USD", Years: 1}, {Action: "create", Class: "com", Price: "1.00", Currency: "USD", Years: 1}}
		})
		if p, err := e.Price(t.Context(), e.order("one.com")); err != nil || p.Total.String() != want {
			t.Errorf("got %+v, %v, want %s", p, err, want)
		}
	}
}

func TestBalance(t *testing.T) {
	for _, c := range []struct {
		balance  string
		credit   int
		currency string
		want     deed.USDC
		ok       bool
	}{
		{"1000.00", 0, "USD", 1_000_000_000, true},
		{"12.5", 100, "USD", 112_500_000, true},
		{"-3.25", 0, "USD", -3_250_000, true},
		{"-0.0000001", 0, "USD", -1, true},
		{"0.0000009", 0, "USD", 0, true},
		{"1000.00", 0, "EUR", 0, false},
		{"much", 0, "USD", 0, false},
		{"1e9", 0, "USD", 0, false},
		{"-", 0, "USD", 0, false},
		{"99999999999999999", 0, "USD", 0, false},
	} {
		e := open(t)
		e.vendor.Configure(func(a *opusdnstest.Account) { a.Balance, a.Credit, a.Currency = c.balance, c.credit, c.currency })
		got, err := e.Balance(t.Context())
		if c.ok && (err != nil || got.Available != c.want || !got.At.Equal(e.Now())) || !c.ok && !isUnknown(err) {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
		if err := e.Ping(t.Context()); (err == nil) != c.ok {
			t.Errorf("%+v: ping: %v", c, err)
		}
	}
	e := open(t)
	e.vendor.Configure(func(a *opusdnstest.Account) { a.Balance = "" })
	if got, err := e.Balance(t.Context()); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("no balance: got %+v, %v", got, err)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Errorf("no balance: ping: %v", err)
	}
}
