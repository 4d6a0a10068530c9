// Package catalog knows which TLDs we sell, what they cost, and which names
// under them can be bought.
//
// The wholesale prices and the rules of each registry (years, grace days,
// privacy, internationalised labels) stand in tlds.csv, embedded in the binary.
// At the start every price is marked up and rounded up to the cent, once; what
// is published from then on is what is charged.
//
// A search (Searcher) asks the registrar about many names at once, remembers its
// answers for a few seconds, and calls nothing available that it did not say so
// of.
package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// Pricing says how wholesale prices become ours.
type Pricing struct {
	Markup  Markup              // for every TLD
	PerTLD  map[deed.TLD]Markup // instead of Markup
	Ceiling deed.USDC           // no order may cost more
}

// DefaultPricing is a fifth and half a dollar, and no order above 500 USDC.
func DefaultPricing() Pricing {
	return Pricing{Markup: Markup{BasisPoints: 2000, Fee: 50 * deed.Cent}, Ceiling: 50_000 * deed.Cent}
}

func (p Pricing) markup(tld deed.TLD) Markup {
	if own, ok := p.PerTLD[tld]; ok {
		return own
	}
	return p.Markup
}

// Service answers questions about prices. Make one with New.
type Service struct {
	updated  time.Time
	pricing  Pricing
	listings []Listing // ours, sorted by TLD

	before []ReplacedPrices // the lists before
	now    func() time.Time
}

// New prices the TLDs of the embedded file. It fails when the pricing speaks of
// a TLD that we do not sell: that is a mistake in the configuration.
func New(p Pricing) (*Service, error) {
	wholesale, err := readWholesale(wholesaleFile)
	if err != nil {
		return nil, fmt.Errorf("read the embedded price list: %w", err)
	}
	s := &Service{updated: wholesaleDate, pricing: p}
	for _, l := range wholesale {
		s.listings = append(s.listings, l.Marked(p.markup(l.TLD)))
	}
	for tld := range p.PerTLD {
		if _, err := s.Listing(tld); err != nil {
			return nil, fmt.Errorf("a markup of its own for .%s: %w", tld, err)
		}
	}
	return s, nil
}

// Updated returns the day of the figures behind the prices.
func (s *Service) Updated() time.Time { return s.updated }

// Listings returns every TLD we sell, sorted. The caller must not change it.
func (s *Service) Listings() []Listing { return s.listings }

// Listing returns one TLD, or CodeTLDNotSupported.
func (s *Service) Listing(tld deed.TLD) (Listing, error) {
	if l, found := find(s.listings, tld); found {
		return l, nil
	}
	return Listing{}, deed.Errorf(deed.CodeTLDNotSupported, "we do not sell .%s: GET /domains/pricing lists the TLDs we sell", tld)
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

// Range returns the lowest price of a year under any TLD, and the ceiling of all
// orders.
func (s *Service) Range() (least, most deed.USDC) {
	least = s.pricing.Ceiling
	for _, l := range s.listings {
		least = min(least, l.Registration, l.Renewal, l.Transfer)
	}
	return least, s.pricing.Ceiling
}

// maxWholesale is above the price of every name ever sold. A registrar that asks
// more made a mistake, and marking such a sum up could overflow.
const maxWholesale = 100_000_000 * 100 * deed.Cent

// Offer returns the listing that holds for a name of the TLD, of which the
// registry said a. A premium name has prices of its own; a year that the
// registry named no price for costs what the TLD costs.
//
// It fails with CodeTLDNotSupported, and without a code when the registry's
// price cannot be true: a name is never sold at a guess.
func (s *Service) Offer(tld deed.TLD, a registrar.Availability) (Listing, error) {
	l, err := s.Listing(tld)
	if err != nil || !a.Premium {
		return l, err
	}
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
