package e2e_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// openWholesaler opens a service that buys .com from a wholesaler.
func openWholesaler(t *testing.T, db *sqldb.DB, more ...func(*app.Config)) (*env, *opusdnstest.Server, *opusdnstest.Checker, *local.Registry) {
	t.Helper()
	outside := &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Faults: &local.Faults{Slow: time.Millisecond}}
	vendor := opusdnstest.NewServer(outside)
	checker := &opusdnstest.Checker{Next: vendor}
	server := httptest.NewServer(checker)
	t.Cleanup(server.Close)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(opusdnstest.Key), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openEnv(t, options{db: db, config: func(c *app.Config) {
		outside.Now = c.Hooks.Now
		c.Registrars = []app.RegistrarConfig{{Name: "wholesaler", Type: "opusdns", TLDs: []string{"com"}, Reserve: 10_000_000, Values: map[string]string{
			"environment": "custom", "base_url": server.URL, "key_file": key, "organization": opusdnstest.Organization,
			"contact": vendor.AddContact(), "requests_per_second": "1000", "timeout": "1m", "price_age": "1ns", "lookups_per_second": "10000",
		}}}
		for _, change := range more {
			change(c)
		}
	}})
	return s, vendor, checker, outside
}

// What the wholesaler charges today decides the price, without a restart. What was
// quoted can be paid, unless it would lose too much; a TLD that it stops selling is gone.
func TestPricesOfAWholesaler(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, vendor, _, _ := openWholesaler(t, db)
		refresh := func(create string) {
			t.Helper()
			if create != "" {
				vendor.Configure(func(a *opusdnstest.Account) {
					a.Prices = slices.Clone(a.Prices)
					for i, p := range a.Prices {
						if p.Action == "create" && p.Class == "com" {
							a.Prices[i].Price = create
						}
					}
				})
			}
			s.clock.advance(2 * time.Hour)
			if err := s.app.RefreshPrices(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		price := func() string {
			one := read[api.TLDPrice](t, s.get(t, "/domains/pricing/com")).RegistrationPrice
			for _, p := range read[api.Pricing](t, s.get(t, "/domains/pricing")).Pricing {
				if p.TLD == "com" && p.RegistrationPrice != one {
					t.Errorf("the list has %s, and the TLD %s", p.RegistrationPrice, one)
				}
			}
			return one
		}
		refresh("")
		if got := price(); got != "11.90" { // 9.50 + 20 % + 0.50
			t.Errorf("got %s", got)
		}
		refresh("10.00")
		if got := price(); got != "12.50" {
			t.Errorf("got %s", got)
		}
		s.register(t, "first.com", s.promise(s.buyer(t), 11_900_000).header(t)).expect(t, 201, "") // quoted before
		refresh("15.00")
		got := s.register(t, "second.com", s.promise(s.buyer(t), 12_500_000).header(t))
		if got.expect(t, 402, deed.CodePaymentInvalid); !strings.Contains(got.body, "18.50") {
			t.Errorf("got %s", got.body)
		}
		s.register(t, "second.com", s.promise(s.buyer(t), 18_500_000).header(t)).expect(t, 201, "")
		refresh("1.00")
		if got := price(); got != "18.50" {
			t.Errorf("a price that cannot be true: got %s", got)
		}
		s.runWorker(t)
		s.audit(t)
	})
}

// Names of a wholesaler are bought, renewed and managed like all others; an order
// whose reply was lost is delivered once.
func TestNamesOfAWholesaler(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, vendor, checker, outside := openWholesaler(t, db)
		owner := s.buyer(t)
		s.register(t, "first.com", s.promise(owner, comPrice).header(t)).expect(t, 201, "")
		vendor.Break(opusdnstest.LostReply, 1)
		s.register(t, "second.com", s.promise(owner, comPrice).header(t))
		s.runWorker(t)
		for _, name := range []deed.Name{"first.com", "second.com"} {
			if _, err := outside.Holding(t.Context(), name); err != nil {
				t.Errorf("the vendor does not hold %s: %v", name, err)
			}
			s.get(t, "/domains/"+string(name)).expect(t, 200, "")
		}
		undone := s.bought(t, "undone.com")
		s.cancel(t, "undone.com", s.bearer(t, undone), `{}`).expect(t, 200, "")
		s.cancelled(t, "undone.com", undone)
		was := s.domain(t, "first.com").ExpiresAt
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 200, "")
		if got := s.domain(t, "first.com").ExpiresAt; !got.Equal(was.AddDate(1, 0, 0)) {
			t.Errorf("renewed: got %s, was %s", got, was)
		}
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", s.bearer(t, owner)).expect(t, 200, "")
		s.register(t, "nowhere.dev", "").expect(t, 400, deed.CodeTLDNotSupported)

		// An account that is nearly empty sells nothing, before money moves.
		if err := s.app.ReadBalances(t.Context()); err != nil {
			t.Error(err)
		}
		vendor.Configure(func(a *opusdnstest.Account) { a.Balance = "20.00" })
		if err := s.app.ReadBalances(t.Context()); err != nil {
			t.Error(err)
		}
		before := s.balance(t, s.payTo)
		s.register(t, "third.com", s.promise(owner, comPrice).header(t)).expect(t, 503, deed.CodeUnavailable)
		s.renew(t, "first.com", 1, s.promise(owner, comRenewal).header(t)).expect(t, 503, deed.CodeUnavailable)
		if after := s.balance(t, s.payTo); after != before {
			t.Errorf("%s were charged", after-before)
		}
		for _, v := range checker.Violations() {
			t.Errorf("the vendor's rules are broken: %s", v)
		}
		s.audit(t)
	})
}
