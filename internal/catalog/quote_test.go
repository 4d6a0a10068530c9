package catalog

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// priced formats a quote: its amount, or its code.
func priced(q order.Quote, err error) string {
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
		premium deed.USDC // wholesale price of a year
		years   int
		restore bool
		want    string
		cost    string
		says    string
	}{
		{"example.com", 0, 1, false, "13.06", "10.46", "example.com for 1 year more"},
		{"example.com", 0, 3, false, "39.18", "31.38", "example.com for 3 years more"},
		{"example.com", 0, 1, true, "67.56", "55.46", "example.com for 1 year more, out of redemption"},  // 45.00 × 1.2 + 0.50 on top
		{"example.com", 0, 2, true, "80.62", "65.92", "example.com for 2 years more, out of redemption"}, // the fee once
		{"example.com", 50 * usd, 2, false, "121.00", "100.00", "example.com for 2 years more"},
		{"example.com", 50 * usd, 1, true, "115.00", "95.00", "example.com for 1 year more, out of redemption"},
		{"example.ai", 0, 1, false, "96.50", "80.00", "example.ai for 1 year more"}, // two years are only the least of a new name
		{"example.com", 500 * usd, 1, false, "DOMAIN_TOO_EXPENSIVE", "500.00", "example.com for 1 year more"},
		{"example.com", maxWholesale + 1, 1, false, "SERVICE_UNAVAILABLE", "0.00", ""},
		{"example.co.uk", 0, 1, false, "TLD_NOT_SUPPORTED", "0.00", ""},
	} {
		q, err := s.Renewal(lifecycle.Registration{Name: c.name, PremiumRenewal: c.premium}, c.years, c.restore)
		if got := priced(q, err); got != c.want || q.Cost.String() != c.cost || q.For != c.says || q.Held != nil || q.For != "" && q.Premium != (c.premium > 0) {
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
	premium := registrar.Availability{Available: true, Premium: true, Wholesale: 100 * usd, Renewal: 50 * usd}
	for _, c := range []struct {
		years int
		said  registrar.Availability
		want  string
		cost  string
	}{
		{1, registrar.Availability{Available: true}, "13.06", "10.46"},
		{1, premium, "120.50", "100.00"},
		{3, premium, "241.50", "200.00"}, // 120.50 + 2 × 60.50
		{10, premium, "DOMAIN_TOO_EXPENSIVE", "550.00"},
		{0, premium, "VALIDATION_ERROR", "0.00"},
	} {
		if q, err := s.NewName("example.com", c.years, c.said); priced(q, err) != c.want || q.Cost.String() != c.cost {
			t.Errorf("%d years of %+v: got %s at a cost of %s, want %s and %s", c.years, c.said, priced(q, err), q.Cost, c.want, c.cost)
		}
	}
}

func TestGraceDaysAndYears(t *testing.T) {
	s := open(t, DefaultPricing())
	com, _ := s.Listing("com")
	if got := s.GraceDays("com"); got != com.GraceDays || got == 0 {
		t.Errorf("com: got %d", got)
	}
	if got := s.GraceDays("nope"); got != 45 {
		t.Errorf("a TLD that we no longer sell: got %d", got)
	}
	if least, most, err := s.Years("ai"); err != nil || least != 2 || most != 10 {
		t.Errorf("ai: got %d to %d, %v", least, most, err)
	}
	if _, _, err := s.Years("nope"); deed.CodeOf(err) != deed.CodeTLDNotSupported {
		t.Errorf("got %v", err)
	}
}
