package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// A seller is a registrar with a price list.
type seller struct {
	registrar.Registrar
	prices map[deed.TLD]deed.USDC // of one year
	least  map[deed.TLD]int       // years of one order; 1 if it is missing
	tlds   []deed.TLD
	down   error
	errs   map[deed.TLD]error // of TLDs whose registry does not respond, or that are not sold
	asked  int
}

func (s *seller) Price(_ context.Context, o registrar.Order) (registrar.Price, error) {
	s.asked++
	if err := s.errs[o.Name.TLD()]; err != nil {
		return registrar.Price{}, err
	}
	price, ok := s.prices[o.Name.TLD()]
	if !ok || o.Kind != registrar.OrderTransfer && o.Years < s.least[o.Name.TLD()] {
		return registrar.Price{}, deed.Errorf(deed.CodeNotFound, "no price")
	}
	total := price * deed.USDC(o.Years)
	if o.Restore {
		total += 40_000_000
	}
	return registrar.Price{Total: total}, s.down
}

func (s *seller) TLDs(context.Context) ([]deed.TLD, error) { return s.tlds, s.down }

// A market is a catalogue whose .com and .ai are sold by one registrar.
type market struct {
	*catalog.Refresher
	t      *testing.T
	seller *seller
	now    time.Time
	log    bytes.Buffer
}

func newMarket(t *testing.T, p catalog.Pricing) *market {
	m := &market{t: t, now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	m.seller = &seller{prices: map[deed.TLD]deed.USDC{"com": 9_000_000, "ai": 70_000_000}, least: map[deed.TLD]int{"ai": 2}, tlds: []deed.TLD{"ai", "com", "net"}}
	router, err := registrar.NewRouter(nil, registrar.Backend{Name: "seller", TLDs: []deed.TLD{"com", "ai", "net"}, Registrar: m.seller})
	if err != nil {
		t.Fatal(err)
	}
	s, kept := openCatalog(t, p), store(t)
	clock := func() time.Time { return m.now }
	if err := s.Publish(t.Context(), kept, clock); err != nil {
		t.Fatal(err)
	}
	m.Refresher = &catalog.Refresher{Service: s, Backends: router, Store: kept, Prices: kept, Now: clock, Log: slog.New(slog.NewTextHandler(&m.log, nil))}
	return m
}

// hour lets an hour pass and reads the prices.
func (m *market) hour() {
	m.t.Helper()
	m.now = m.now.Add(time.Hour)
	if err := m.Refresh(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// price returns the price of a year, or the code of why there is none.
func (m *market) price(name deed.Name, years int) string {
	q, err := m.Service.Registration(name, years)
	if err != nil {
		return string(deed.CodeOf(err))
	}
	return q.Amount.String()
}

func (m *market) want(name deed.Name, years int, want string) {
	m.t.Helper()
	if got := m.price(name, years); got != want {
		m.t.Errorf("%s for %d years: got %s, want %s", name, years, got, want)
	}
}

// What a registrar charges today wins over the catalogue, without a restart; a price
// that it does not say is that of the catalogue; what was quoted is held; and a TLD that
// nobody sells leaves the list.
func TestLivePrices(t *testing.T) {
	m := newMarket(t, catalog.DefaultPricing())
	m.want("example.com", 1, "13.06")
	m.hour()
	m.want("example.com", 1, "11.30") // 9 + 20 % + 0.50
	m.want("example.ai", 2, "169.00")
	m.want("example.net", 1, "14.74")
	m.want("example.io", 1, string(deed.CodeTLDNotSupported))
	asked := m.seller.asked
	m.now = m.now.Add(time.Minute)
	if err := m.Refresh(t.Context()); err != nil || m.seller.asked != asked {
		t.Errorf("a minute later: got %v, %d calls more", err, m.seller.asked-asked)
	}
	m.seller.prices["com"] = 10_000_000
	m.hour()
	q, err := m.Service.Registration("example.com", 1)
	if err != nil || q.Amount != 12_500_000 || q.Cost != 10_000_000 || !q.Accepts(11_300_000) {
		t.Errorf("got %+v, %v, want 12.50, and 11.30 held", q, err)
	}
	m.now = m.now.Add(order.HoldPrice)
	if q, err := m.Service.Registration("example.com", 1); err != nil || q.Accepts(11_300_000) {
		t.Errorf("after the hold: got %+v, %v", q, err)
	}
}

// Each registrar may have a markup of its own, and each TLD.
func TestRegistrarMarkup(t *testing.T) {
	p := catalog.DefaultPricing()
	p.PerTLD = map[deed.TLD]catalog.Markup{"ai": {Fee: 1_000_000}}
	p.Registrar = func(tld deed.TLD) (catalog.Markup, bool) {
		return catalog.Markup{BasisPoints: 5000}, tld == "com" || tld == "ai"
	}
	m := newMarket(t, p)
	m.hour()
	m.want("example.com", 1, "13.50")
	m.want("example.ai", 2, "142.00")
}

// A TLD that the registrar has stopped to sell leaves the list after the second time;
// its names can be renewed, and it comes back.
func TestClosedTLD(t *testing.T) {
	m := newMarket(t, catalog.DefaultPricing())
	m.hour()
	m.seller.tlds = []deed.TLD{"ai"}
	m.hour()
	m.want("example.com", 1, "11.30")
	m.hour()
	m.want("example.com", 1, string(deed.CodeTLDNotSupported))
	if q, err := m.Service.Renewal(lifecycle.Registration{Name: "mine.com"}, 1, false); err != nil || q.Amount != 11_300_000 {
		t.Errorf("a renewal: got %+v, %v", q, err)
	}
	m.seller.tlds = []deed.TLD{"ai", "com"}
	m.hour()
	m.want("example.com", 1, "11.30")
}

// Prices that cannot be true cost nobody money: one far too high closes the TLD, one far
// too low changes nothing, and the operator is told once. After a day they are believed.
func TestDoubtedPrices(t *testing.T) {
	for name, c := range map[string]struct {
		price    deed.USDC
		at, then string
	}{
		"ten times and more": {99_000_000, string(deed.CodeTLDNotSupported), "119.30"},
		"beyond all prices":  {1_000_000_000_000_000, string(deed.CodeTLDNotSupported), string(deed.CodeTLDNotSupported)},
		"almost nothing":     {100_000, "11.30", "0.62"},
		"nothing":            {0, "11.30", "11.30"},
		"less than nothing":  {-5_000_000, string(deed.CodeTLDNotSupported), string(deed.CodeTLDNotSupported)},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket(t, catalog.DefaultPricing())
			m.hour()
			m.seller.prices["com"] = c.price
			for range 3 {
				m.hour()
				m.want("example.com", 1, c.at)
			}
			m.want("example.ai", 2, "169.00")
			if told := strings.Count(m.log.String(), "level=ERROR"); told > 1 || told == 0 && c.price != 0 {
				t.Errorf("the operator was told %d times: %s", told, m.log.String())
			}
			for range 24 {
				m.hour()
			}
			m.want("example.com", 1, c.then)
		})
	}
}

// A registrar that does not respond, or in another currency, keeps its prices, and the
// operator is told once.
func TestUnreadablePrices(t *testing.T) {
	m := newMarket(t, catalog.DefaultPricing())
	m.hour()
	m.seller.down = errors.New("a price is in EUR")
	for range 5 {
		m.hour()
	}
	m.want("example.com", 1, "11.30")
	if told := strings.Count(m.log.String(), "level=ERROR"); told != 1 {
		t.Errorf("the operator was told %d times: %s", told, m.log.String())
	}
	m.seller.down, m.seller.prices["com"] = nil, 10_000_000
	m.hour()
	m.want("example.com", 1, "12.50")
}

// A TLD whose prices cannot be read keeps none of the others from being read, and the
// operator is told once, unless it is only not sold.
func TestUnreadablePricesOfOneTLD(t *testing.T) {
	for _, err := range []error{errors.New("the registry does not respond"), deed.Errorf(deed.CodeTLDNotSupported, "it is not sold")} {
		m := newMarket(t, catalog.DefaultPricing())
		m.seller.errs = map[deed.TLD]error{"ai": err}
		for _, m.seller.prices["com"] = range []deed.USDC{9_000_000, 10_000_000} {
			m.hour()
			for range 3 { // as every minute
				if err := m.Refresh(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		m.want("example.com", 1, "12.50")
		want, ai := 0, string(deed.CodeTLDNotSupported) // for the second time
		if deed.CodeOf(err) == deed.CodeUnavailable {
			want, ai = 1, "193.00"
		}
		m.want("example.ai", 2, ai)
		if told := strings.Count(m.log.String(), "level=ERROR"); told != want {
			t.Errorf("%v: the operator was told %d times: %s", err, told, m.log.String())
		}
	}
}

// A held price is not accepted when it would lose more than is allowed.
func TestHeldPriceWithoutLoss(t *testing.T) {
	q := order.Quote{Amount: 13_000_000, Cost: 12_000_000, Held: []deed.USDC{11_000_000, 10_999_999, 12_500_000}}
	got := q.WithoutLoss(1_000_000)
	if !got.Accepts(11_000_000) || got.Accepts(10_999_999) || !got.Accepts(12_500_000) || len(q.Held) != 3 {
		t.Errorf("got %v of %v", got.Held, q.Held)
	}
}
