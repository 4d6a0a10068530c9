package sqldb_test

import (
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/order"
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

// held returns the prices of a .com that a node still accepts, besides the current one.
func held(t *testing.T, s *catalog.Service) string {
	t.Helper()
	q, err := s.Registration("example.com", 1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(q.Held)
}

// Every node that starts with a new list holds the prices of earlier lists, each from the
// time that the first node published the next.
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
		const one, two = 150 * deed.Cent, 250 * deed.Cent // above the 0.50 of the first
		steps := []struct {
			name string
			pass time.Duration
			fee  deed.USDC
			want string
		}{
			{"the first list", 0, 50 * deed.Cent, "[]"},
			{"the same again", time.Hour, 50 * deed.Cent, "[]"},
			{"the second", 0, one, "[13.06]"},
			{"the second, on a node that comes later", 100 * time.Second, one, "[13.06]"},
			{"the third", 0, two, "[13.06 14.06]"},
			{"the third, on a node that comes later", 199 * time.Second, two, "[13.06 14.06]"},
			{"the first has been held for long enough", time.Second, two, "[14.06]"},
			{"the second too", 100 * time.Second, two, "[]"},
			{"back to the first", 0, 50 * deed.Cent, "[15.06]"},
			{"and to the third", time.Second, two, "[15.06 13.06]"}, // its own price and another
		}
		nodes := map[string]*catalog.Service{}
		for _, step := range steps {
			now = now.Add(step.pass)
			nodes[step.name] = start(step.fee)
			if got := held(t, nodes[step.name]); got != step.want {
				t.Errorf("%s: got %s, want %s", step.name, got, step.want)
			}
		}
		now = now.Add(order.HoldPrice)
		for name, s := range nodes {
			if got := held(t, s); got != "[]" {
				t.Errorf("%s, after 300 seconds: got %s", name, got)
			}
		}
	})
}

// Every list is kept for as long as its prices are held, with sub-second precision, and
// then deleted.
func TestManyPriceLists(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := noon.Add(time.Second / 3)
		for n := range 400 {
			at = at.Add(time.Second)
			list := []catalog.Listing{{TLD: "com", Registration: deed.USDC(n)}}
			before, err := sqldb.Prices{DB: db}.PublishPrices(t.Context(), list, at, at.Add(-order.HoldPrice))
			if err != nil {
				t.Fatal(err)
			}
			if want := min(n, 301); len(before) != want || n > 0 && before[len(before)-1].Listings[0].Registration != deed.USDC(n-1) {
				t.Fatalf("list %d: got %d lists, want %d", n, len(before), want)
			}
		}
		kept, err := sqldb.Prices{DB: db}.PublishPrices(t.Context(), nil, at, noon.AddDate(-1, 0, 0))
		if err != nil || len(kept) > 302 {
			t.Errorf("%d lists are kept, %v", len(kept), err)
		}
	})
}

// Offers are kept for as long as their prices are held, and then deleted.
func TestOffersAreHeld(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		prices := sqldb.Prices{DB: db}
		for _, c := range []struct {
			after time.Duration
			what  string
			price deed.USDC
			want  string
		}{
			{0, "registration ab.io 1 false", 300_500_000, "[]"},
			{time.Second, "registration ab.io 1 false", 310_000_000, "[300.50]"},
			{2 * time.Second, "registration ab.io 2 false", 410_000_000, "[]"},
			{2 * time.Second, "registration ab.io 1 false", 300_500_000, "[310.00]"}, // offered once more
			{300 * time.Second, "registration ab.io 1 false", 290_000_000, "[300.50 310.00]"},
			{301 * time.Second, "registration ab.io 1 false", 290_000_000, "[300.50]"},
			{302 * time.Second, "registration ab.io 1 false", 280_000_000, "[290.00]"},
			{time.Hour, "registration ab.io 1 false", 280_000_000, "[]"},
			{0, "registration ab.io 1 false", 270_000_000, "[280.00]"}, // all else is gone
		} {
			got, err := prices.Offered(t.Context(), c.what, c.price, noon.Add(c.after))
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s at %s after %s: got %v, %v, want %s", c.what, c.price, c.after, got, err, c.want)
			}
		}
	})
}
