package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
)

// priced spells a quote: its amount, or its code.
func priced(q deed.Quote, err error) string {
	if err != nil {
		return string(deed.CodeOf(err))
	}
	return q.Amount.String()
}

func TestRenewalQuote(t *testing.T) {
	s := open(t, DefaultPricing())
	const usd = 100 * deed.Cent
	for _, c := range []struct {
		name    deed.Name
		premium deed.USDC // what a year costs us
		years   int
		restore bool
		want    string
		says    string
	}{
		{"example.com", 0, 1, false, "13.06", "example.com for 1 year more"},
		{"example.com", 0, 3, false, "39.18", "example.com for 3 years more"},
		{"example.com", 0, 1, true, "67.56", "example.com for 1 year more, out of redemption"},  // 45.00 × 1.2 + 0.50 on top
		{"example.com", 0, 2, true, "80.62", "example.com for 2 years more, out of redemption"}, // the fee once
		{"example.com", 50 * usd, 2, false, "121.00", "example.com for 2 years more"},
		{"example.com", 50 * usd, 1, true, "115.00", "example.com for 1 year more, out of redemption"},
		{"example.ai", 0, 1, false, "96.50", "example.ai for 1 year more"}, // two years are only the least of a new name
		{"example.com", 500 * usd, 1, false, "DOMAIN_TOO_EXPENSIVE", "example.com for 1 year more"},
		{"example.com", maxWholesale + 1, 1, false, "SERVICE_UNAVAILABLE", ""},
		{"example.co.uk", 0, 1, false, "TLD_NOT_SUPPORTED", ""},
	} {
		q, err := s.Renewal(deed.Registration{Name: c.name, PremiumRenewal: c.premium}, c.years, c.restore)
		if got := priced(q, err); got != c.want || q.For != c.says || q.Held != nil || q.For != "" && q.Premium != (c.premium > 0) {
			t.Errorf("%s, %d years, restore %v: got %s %+v, want %s", c.name, c.years, c.restore, got, q, c.want)
		}
	}
}

func TestTransferQuote(t *testing.T) {
	s := open(t, DefaultPricing())
	for name, want := range map[deed.Name]string{"example.com": "13.06", "example.co.uk": "TLD_NOT_SUPPORTED", "example.sexy": "DOMAIN_TOO_EXPENSIVE"} {
		if q, err := s.Transfer(name); priced(q, err) != want || err == nil && q.Years != 1 {
			t.Errorf("%s: got %s %+v, want %s", name, priced(q, err), q, want)
		}
	}
}

func TestNewNameQuote(t *testing.T) {
	s := open(t, DefaultPricing())
	const usd = 100 * deed.Cent
	premium := deed.Availability{Available: true, Premium: true, Wholesale: 100 * usd, Renewal: 50 * usd}
	for _, c := range []struct {
		years int
		said  deed.Availability
		want  string
	}{
		{1, deed.Availability{Available: true}, "13.06"},
		{1, premium, "120.50"},
		{3, premium, "241.50"}, // 120.50 + 2 × 60.50
		{10, premium, "DOMAIN_TOO_EXPENSIVE"},
		{0, premium, "VALIDATION_ERROR"},
	} {
		if q, err := s.NewName("example.com", c.years, c.said); priced(q, err) != c.want {
			t.Errorf("%d years of %+v: got %s, want %s", c.years, c.said, priced(q, err), c.want)
		}
	}
}

func TestGraceDaysAndMinYears(t *testing.T) {
	s := open(t, DefaultPricing())
	com, _ := s.Listing("com")
	if got := s.GraceDays("com"); got != com.GraceDays || got == 0 {
		t.Errorf("com: got %d", got)
	}
	if got := s.GraceDays("nope"); got != 45 {
		t.Errorf("a TLD that we no longer sell: got %d", got)
	}
	if n, err := s.MinYears("ai"); err != nil || n != 2 {
		t.Errorf("ai: got %d, %v", n, err)
	}
	if _, err := s.MinYears("nope"); deed.CodeOf(err) != deed.CodeTLDNotSupported {
		t.Errorf("got %v", err)
	}
}

// store is where the list that was published before is kept.
func store(t *testing.T) sqldb.Prices {
	t.Helper()
	db, err := sqldb.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // it goes with the test
	return sqldb.Prices{DB: db}
}

// A price that was replaced can be paid for 300 seconds, exactly and beside the
// new one, however many came since; a premium name has no price in the lists that
// could be held.
func TestReplacedPricesAreHeld(t *testing.T) {
	start := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	now, kept := start, store(t)
	publish := func(more deed.USDC) *Service {
		p := DefaultPricing()
		p.Markup.Fee += more
		s := open(t, p)
		if err := s.Publish(t.Context(), kept, func() time.Time { return now }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	publish(0)
	publish(50 * deed.Cent)
	now = start.Add(100 * time.Second)
	s := publish(100 * deed.Cent)
	premium := deed.Availability{Available: true, Premium: true, Wholesale: 10_000 * deed.Cent, Renewal: 10_000 * deed.Cent}
	quotes := map[string]struct {
		quote func() (deed.Quote, error)
		held  string // the first price, then the second
	}{
		"new name":     {func() (deed.Quote, error) { return s.NewName("example.com", 2, deed.Availability{}) }, "[26.12 27.12]"},
		"renewal":      {func() (deed.Quote, error) { return s.Renewal(deed.Registration{Name: "example.com"}, 3, false) }, "[39.18 40.68]"},
		"restore":      {func() (deed.Quote, error) { return s.Renewal(deed.Registration{Name: "example.com"}, 1, true) }, "[67.56 68.56]"},
		"transfer":     {func() (deed.Quote, error) { return s.Transfer("example.com") }, "[13.06 13.56]"},
		"premium name": {func() (deed.Quote, error) { return s.NewName("example.com", 1, premium) }, "[]"},
		"premium renewal": {func() (deed.Quote, error) {
			return s.Renewal(deed.Registration{Name: "example.com", PremiumRenewal: 10_000 * deed.Cent}, 1, false)
		}, "[]"},
	}
	for _, after := range []time.Duration{100 * time.Second, deed.HoldPrice - 1, deed.HoldPrice, deed.HoldPrice + 100*time.Second - 1, deed.HoldPrice + 100*time.Second, time.Hour} {
		now = start.Add(after)
		for name, c := range quotes {
			q, err := c.quote()
			want := c.held
			if _, second, both := strings.Cut(c.held, " "); both && after >= deed.HoldPrice {
				want = "[" + second
			}
			if after >= deed.HoldPrice+100*time.Second {
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

// A node that cannot publish its prices does not start with them.
func TestPublishFails(t *testing.T) {
	s, kept := open(t, DefaultPricing()), store(t)
	if err := kept.DB.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(t.Context(), kept, time.Now); err == nil {
		t.Error("the database is closed, and all is well")
	}
	if q, err := s.Registration("example.com", 1); err != nil || q.Held != nil {
		t.Errorf("got %+v, %v", q, err)
	}
}
