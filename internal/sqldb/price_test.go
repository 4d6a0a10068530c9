package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// listAt is a price list that differs from others by its fee.
func listAt(t *testing.T, fee deed.USDC) *catalog.Service {
	t.Helper()
	p := catalog.DefaultPricing()
	p.Markup.Fee = fee
	s, err := catalog.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// held is the price of a .com that a node would still take, besides its own.
func held(t *testing.T, s *catalog.Service) deed.USDC {
	t.Helper()
	q, err := s.Registration("example.com", 1)
	if err != nil {
		t.Fatal(err)
	}
	return q.Held
}

// Every node that starts with a new list holds the prices of the one before, from
// the moment that the first of them published it.
func TestPricesAreHeldOnAllNodes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		now := noon
		start := func(fee deed.USDC) *catalog.Service {
			s := listAt(t, fee)
			if err := s.Publish(t.Context(), sqldb.Prices{DB: db}, func() time.Time { return now }); err != nil {
				t.Fatal(err)
			}
			return s
		}
		first := start(50 * deed.Cent)
		if got := held(t, first); got != 0 {
			t.Errorf("the first list holds %s", got)
		}
		now = now.Add(time.Hour)
		restarted := start(50 * deed.Cent)
		if got := held(t, restarted); got != 0 {
			t.Errorf("the same list again holds %s", got)
		}
		one := start(150 * deed.Cent)
		now = now.Add(deed.HoldPrice - time.Second)
		two := start(150 * deed.Cent) // a node that comes later
		for name, s := range map[string]*catalog.Service{"the first node": one, "a later one": two} {
			if got := held(t, s); got != 13_060_000 {
				t.Errorf("%s: got %s, want 13.06", name, got)
			}
		}
		now = now.Add(time.Second)
		for name, s := range map[string]*catalog.Service{"the first node": one, "a later one": two, "the last": start(150 * deed.Cent)} {
			if got := held(t, s); got != 0 {
				t.Errorf("%s, after 300 seconds: got %s", name, got)
			}
		}
		if got := held(t, start(50*deed.Cent)); got != 14_060_000 {
			t.Errorf("back to the old list: got %s, want 14.06", got)
		}
	})
}

// Lists are forgotten in the end, and the last two never are.
func TestManyPriceLists(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		list := func(n int) []deed.Listing { return []deed.Listing{{TLD: "com", Registration: deed.USDC(n)}} }
		for n := range 100 {
			before, replaced, err := sqldb.Prices{DB: db}.PublishPrices(t.Context(), list(n), noon.Add(time.Duration(n)*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			if n > 0 && (len(before) != 1 || before[0] != list(n - 1)[0] || !replaced.Equal(noon.Add(time.Duration(n)*time.Second))) {
				t.Errorf("list %d: got %v at %s", n, before, replaced)
			}
		}
	})
}
