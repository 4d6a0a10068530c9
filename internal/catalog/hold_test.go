package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func openCatalog(t *testing.T, p catalog.Pricing) *catalog.Service {
	t.Helper()
	s, err := catalog.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// store opens an empty price store.
func store(t *testing.T) sqldb.Prices {
	t.Helper()
	return sqldb.Prices{DB: sqldbtest.Memory(t)}
}

// A replaced price is accepted for 300 seconds, exactly and in addition to the new
// one, however many lists were published since; premium prices are not in the lists.
func TestReplacedPricesAreHeld(t *testing.T) {
	start := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	now, kept := start, store(t)
	publish := func(more deed.USDC) *catalog.Service {
		p := catalog.DefaultPricing()
		p.Markup.Fee += more
		s := openCatalog(t, p)
		if err := s.Publish(t.Context(), kept, func() time.Time { return now }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	publish(0)
	publish(50 * deed.Cent)
	now = start.Add(100 * time.Second)
	s := publish(100 * deed.Cent)
	premium := registrar.Availability{Available: true, Premium: true, Wholesale: 10_000 * deed.Cent, Renewal: 10_000 * deed.Cent}
	quotes := map[string]struct {
		quote func() (order.Quote, error)
		held  string // the first price, then the second
	}{
		"new name":     {func() (order.Quote, error) { return s.NewName("example.com", 2, registrar.Availability{}) }, "[26.12 27.12]"},
		"renewal":      {func() (order.Quote, error) { return s.Renewal(lifecycle.Registration{Name: "example.com"}, 3, false) }, "[39.18 40.68]"},
		"restore":      {func() (order.Quote, error) { return s.Renewal(lifecycle.Registration{Name: "example.com"}, 1, true) }, "[67.56 68.56]"},
		"transfer":     {func() (order.Quote, error) { return s.Transfer("example.com") }, "[13.06 13.56]"},
		"premium name": {func() (order.Quote, error) { return s.NewName("example.com", 1, premium) }, "[]"},
		"premium renewal": {func() (order.Quote, error) {
			return s.Renewal(lifecycle.Registration{Name: "example.com", PremiumRenewal: 10_000 * deed.Cent}, 1, false)
		}, "[]"},
	}
	for _, after := range []time.Duration{100 * time.Second, order.HoldPrice - 1, order.HoldPrice, order.HoldPrice + 100*time.Second - 1, order.HoldPrice + 100*time.Second, time.Hour} {
		now = start.Add(after)
		for name, c := range quotes {
			q, err := c.quote()
			want := c.held
			if _, second, both := strings.Cut(c.held, " "); both && after >= order.HoldPrice {
				want = "[" + second
			}
			if after >= order.HoldPrice+100*time.Second {
				want = "[]"
			}
			if got := fmt.Sprint(q.Held); err != nil || got != want {
				t.Errorf("%s after %s: got %s held, %v, want %s", name, after, got, err, want)
			}
			if !q.Accepts(q.Amount) || q.Accepts(q.Amount-1) || q.Accepts(0) {
				t.Errorf("%s after %s: %+v accepts what it should not, or not what it should", name, after, q)
			}
			for _, held := range q.Held {
				if !q.Accepts(held) || q.Accepts(held+1) || q.Accepts(held-1) {
					t.Errorf("%s after %s: %+v accepts what it should not, or not %s", name, after, q, held)
				}
			}
		}
	}
}

// Publish fails when the store does.
func TestPublishFails(t *testing.T) {
	s, kept := openCatalog(t, catalog.DefaultPricing()), store(t)
	if err := kept.DB.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(t.Context(), kept, time.Now); err == nil {
		t.Error("published to a closed database")
	}
	if q, err := s.Registration("example.com", 1); err != nil || q.Held != nil {
		t.Errorf("got %+v, %v", q, err)
	}
}
