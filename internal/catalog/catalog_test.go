package catalog

import (
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

func TestEmbeddedCatalogue(t *testing.T) {
	s := open(t, DefaultPricing())
	if n := len(s.Listings()); n < 500 {
		t.Errorf("got %d TLDs, want at least 500", n)
	}
	for _, l := range s.Listings() {
		if l.MinYears < 1 || l.MaxYears < l.MinYears || l.MaxYears > 10 || l.GraceDays < 0 || l.DeleteDays < 0 {
			t.Errorf(".%s: %+v", l.TLD, l)
		}
		if l.Registration%deed.Cent != 0 || l.Renewal%deed.Cent != 0 || l.Transfer%deed.Cent != 0 || l.Restore%deed.Cent != 0 {
			t.Errorf(".%s is not priced in whole cents: %+v", l.TLD, l)
		}
	}
	for _, tld := range []deed.TLD{"com", "net", "org", "io", "xyz", "dev", "app", "ai", "co", "me"} { // the standard set of search
		if _, err := s.Listing(tld); err != nil {
			t.Error(err)
		}
	}
}

func TestListing(t *testing.T) {
	s := open(t, DefaultPricing())
	com, err := s.Listing("com")
	if err != nil || com.Registration.String() != "13.06" || com.Renewal.String() != "13.06" || com.MinYears != 1 || com.MaxYears != 10 {
		t.Errorf("got %+v, %v", com, err) // 10.46 × 1.2 + 0.50 = 13.052
	}
	ai, err := s.Listing("ai")
	if err != nil || ai.Registration.String() != "96.50" || ai.MinYears != 2 || ai.IDN {
		t.Errorf("got %+v, %v", ai, err)
	}
	for _, tld := range []deed.TLD{"", "nope", "co.uk", "aaa", "zzz"} {
		if l, err := s.Listing(tld); deed.CodeOf(err) != deed.CodeTLDNotSupported {
			t.Errorf("%q: got %+v, %v, want %s", tld, l, err, deed.CodeTLDNotSupported)
		}
	}
}

func TestMarkupOfOneTLD(t *testing.T) {
	p := DefaultPricing()
	p.PerTLD = map[deed.TLD]Markup{"com": {Fee: deed.Cent}}
	s := open(t, p)
	com, _ := s.Listing("com")
	net, _ := s.Listing("net")
	if com.Registration.String() != "10.47" || net.Registration.String() != "14.74" {
		t.Errorf("got %s and %s, want 10.47 and 14.74", com.Registration, net.Registration)
	}
	p.PerTLD = map[deed.TLD]Markup{"cmo": {}}
	if _, err := New(p); err == nil || !strings.Contains(err.Error(), "cmo") {
		t.Errorf("a markup for a TLD we do not sell: got %v", err)
	}
}

func TestOffer(t *testing.T) {
	p := DefaultPricing()
	p.PerTLD = map[deed.TLD]Markup{"net": {Fee: deed.Cent}}
	s := open(t, p)
	const usd = 100 * deed.Cent
	tests := []struct {
		tld  deed.TLD
		said registrar.Availability
		want string // registration and renewal, or the code
	}{
		{"com", registrar.Availability{Available: true}, "13.06 13.06"},
		{"com", registrar.Availability{Available: true, Wholesale: 99 * usd}, "13.06 13.06"}, // not premium
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: 100 * usd}, "120.50 13.06"},
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: 100 * usd, Renewal: 50 * usd}, "120.50 60.50"},
		{"net", registrar.Availability{Available: true, Premium: true, Wholesale: 100 * usd, Renewal: 50 * usd}, "100.01 50.01"},
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: maxWholesale}, "120000000.50 13.06"},
		{"com", registrar.Availability{Available: true, Premium: true}, "SERVICE_UNAVAILABLE"},
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: -1}, "SERVICE_UNAVAILABLE"},
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: usd, Renewal: -1}, "SERVICE_UNAVAILABLE"},
		{"com", registrar.Availability{Available: true, Premium: true, Wholesale: maxWholesale + 1}, "SERVICE_UNAVAILABLE"},
		{"nope", registrar.Availability{Available: true}, "TLD_NOT_SUPPORTED"},
	}
	for _, tt := range tests {
		l, err := s.Offer(tt.tld, tt.said)
		got := l.Registration.String() + " " + l.Renewal.String()
		if err != nil {
			got = string(deed.CodeOf(err))
		}
		if got != tt.want {
			t.Errorf(".%s with %+v: got %s, want %s", tt.tld, tt.said, got, tt.want)
		}
	}
}

func TestRegistrationQuote(t *testing.T) {
	s := open(t, DefaultPricing())
	tests := []struct {
		name  deed.Name
		years int
		want  string // the amount, or the code
	}{
		{"example.com", 1, "13.06"},
		{"example.co", 3, "91.50"}, // 18.50 + 2 × 36.50
		{"example.ai", 2, "193.00"},
		{"example.ai", 1, "VALIDATION_ERROR"},
		{"example.com", 11, "VALIDATION_ERROR"},
		{"xn--bcher-kva.ai", 2, "VALIDATION_ERROR"},
		{"xn--bcher-kva.com", 1, "13.06"},
		{"example.co.uk", 1, "TLD_NOT_SUPPORTED"},
		{"example.sexy", 1, "DOMAIN_TOO_EXPENSIVE"},
		{"example.io", 9, "DOMAIN_TOO_EXPENSIVE"}, // 9 × 60.50
	}
	for _, tt := range tests {
		q, err := s.Registration(tt.name, tt.years)
		got := q.Amount.String()
		if err != nil {
			got = string(deed.CodeOf(err))
		}
		if got != tt.want {
			t.Errorf("%s for %d years: got %s, want %s", tt.name, tt.years, got, tt.want)
		}
	}
}

func TestBrokenPriceListIsRefused(t *testing.T) {
	const good = "com,1.00,1.00,1.00,1.00,1,10,30,5,yes,yes\n"
	for name, file := range map[string]string{
		"empty":        "",
		"columns":      "tld,price\n",
		"price":        wholesaleHeader + "\n" + strings.Replace(good, "1.00", "1,00", 1),
		"free":         wholesaleHeader + "\n" + strings.Replace(good, "1.00", "0.00", 1),
		"not a number": wholesaleHeader + "\n" + strings.Replace(good, "30", "x", 1),
		"no TLD":       wholesaleHeader + "\n" + strings.Replace(good, "com", "4", 1),
		"twice":        wholesaleHeader + "\n" + good + good,
	} {
		if got, err := readWholesale(file); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func open(t *testing.T, p Pricing) *Service {
	t.Helper()
	s, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
