// Package catalog lists the TLDs that are sold, their prices, and which names are
// available.
//
// The rules of each registry (years, grace days, privacy, internationalised labels) and
// a wholesale price list are in tlds.csv, embedded in the binary. A Refresher reads the
// prices of registrars that publish them, which replace those of the list. Each price
// is marked up and rounded up to the cent once, when it is applied (Markup.Price), so
// the published price is the charged price. Service quotes orders by these prices, and
// by those that were replaced a moment ago.
//
// A search (Searcher) queries the registrar for many names in parallel, caches its
// answers for a few seconds, and reports a name as available only if the registrar
// said so.
package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// Pricing says how retail prices are computed from wholesale prices.
type Pricing struct {
	Markup  Markup              // for every TLD
	PerTLD  map[deed.TLD]Markup // instead of Markup
	Ceiling deed.USDC           // maximum price of an order

	// Registrar returns the markup of the registrar that sells the TLD, and false if
	// it has none of its own. It may be nil.
	Registrar func(tld deed.TLD) (Markup, bool)
}

// DefaultPricing is 20 % plus 0.50 USDC, and at most 500 USDC an order.
func DefaultPricing() Pricing {
	return Pricing{Markup: Markup{BasisPoints: 2000, Fee: 50 * deed.Cent}, Ceiling: 50_000 * deed.Cent}
}

// markup returns the markup of a TLD: its own, that of its registrar, or the usual one.
func (p Pricing) markup(tld deed.TLD) Markup {
	if own, ok := p.PerTLD[tld]; ok {
		return own
	}
	if p.Registrar != nil {
		if own, ok := p.Registrar(tld); ok {
			return own
		}
	}
	return p.Markup
}

// Service quotes prices. Make one with New. It is safe for concurrent use, also while
// Apply replaces the prices.
type Service struct {
	pricing   Pricing
	catalogue []Listing // wholesale, sorted by TLD, as embedded
	current   atomic.Pointer[prices]
	now       func() time.Time // set by Publish, which is called first
}

// prices is what Service quotes from. It is not modified.
type prices struct {
	updated  time.Time
	listings []Listing // retail, sorted by TLD
	closed   []Listing // likewise, of TLDs in which no new names are sold
	costs    []Listing // wholesale of both, sorted by TLD
	before   []ReplacedPrices
}

// New prices the TLDs of the embedded file. It fails when the pricing names a TLD that
// is not sold, which is a configuration error.
func New(p Pricing) (*Service, error) {
	wholesale, err := readWholesale(wholesaleFile)
	if err != nil {
		return nil, fmt.Errorf("read the embedded price list: %w", err)
	}
	s := &Service{pricing: p, catalogue: wholesale}
	s.current.Store(s.price(nil, wholesaleDate))
	for tld := range p.PerTLD {
		if _, err := s.Listing(tld); err != nil {
			return nil, fmt.Errorf("catalog.tld.%s: we do not sell .%s: remove the block; `deed price` lists the TLDs", tld, tld)
		}
	}
	return s, nil
}

// Updated returns the date of the wholesale prices.
func (s *Service) Updated() time.Time { return s.current.Load().updated }

// Listings returns every TLD that is sold, sorted. The caller must not modify it.
func (s *Service) Listings() []Listing { return s.current.Load().listings }

// SameEdition reports whether two results of Listings are of the same prices, without
// comparing them: each time that prices change, Listings returns another slice.
func SameEdition(a, b []Listing) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Listing returns one TLD, or CodeTLDNotSupported.
func (s *Service) Listing(tld deed.TLD) (Listing, error) {
	if l, found := find(s.Listings(), tld); found {
		return l, nil
	}
	return Listing{}, deed.WithNext(deed.Errorf(deed.CodeTLDNotSupported, "we do not sell .%s", tld), deed.Next{Action: deed.ActionListPrices})
}

func find(listings []Listing, tld deed.TLD) (Listing, bool) {
	i, found := slices.BinarySearchFunc(listings, tld, func(l Listing, tld deed.TLD) int {
		return strings.Compare(string(l.TLD), string(tld))
	})
	if !found {
		return Listing{}, false
	}
	return listings[i], true
}

// Range returns the lowest price of any TLD, and the maximum price of an order.
func (s *Service) Range() (lowest, highest deed.USDC) {
	lowest = s.pricing.Ceiling
	for _, l := range s.Listings() {
		lowest = min(lowest, l.Registration, l.Renewal, l.Transfer)
	}
	return lowest, s.pricing.Ceiling
}

// maxWholesale is above the price of every name ever sold. A higher price from a
// registrar is an error, and its markup could overflow.
const maxWholesale = 100_000_000 * 100 * deed.Cent

// Offer returns the listing of a name under the TLD, given its availability. A
// premium name has individual prices; if the registry has no renewal price for it,
// that of the TLD applies.
//
// It fails with CodeTLDNotSupported, and without a code when the registry's price is
// implausible.
func (s *Service) Offer(tld deed.TLD, a registrar.Availability) (Listing, error) {
	l, err := s.Listing(tld)
	if err != nil || !a.Premium {
		return l, err
	}
	return s.premium(l, a)
}

// premium returns the listing with the prices of a premium name.
func (s *Service) premium(l Listing, a registrar.Availability) (Listing, error) {
	tld := l.TLD
	if a.Wholesale <= 0 || a.Wholesale > maxWholesale || a.Renewal < 0 || a.Renewal > maxWholesale {
		return Listing{}, fmt.Errorf("price a premium name of .%s: the registry asks %s USDC, then %s", tld, a.Wholesale, a.Renewal)
	}
	m := s.pricing.markup(tld)
	l.Registration = m.Price(a.Wholesale)
	if a.Renewal > 0 {
		l.Renewal = m.Price(a.Renewal)
	}
	return l, nil
}

func inYears(n int) string {
	if n == 1 {
		return "1 year"
	}
	return fmt.Sprintf("%d years", n)
}
