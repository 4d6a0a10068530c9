package catalog

import (
	"context"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
)

// A Wholesale is what the registrar of a TLD charges today. A price of zero is not
// known; then that of the catalogue applies.
type Wholesale struct {
	TLD          deed.TLD
	Registration deed.USDC
	Renewal      deed.USDC
	Transfer     deed.USDC
	Restore      deed.USDC
	Closed       bool // no new names are sold: the registrar has stopped, or its price cannot be true
}

// Apply makes today's wholesale prices the basis of all quotes, and publishes the price
// list if it changed. What was quoted before remains payable for order.HoldPrice. TLDs
// that are closed leave the list; their names can still be renewed.
func (s *Service) Apply(ctx context.Context, store PriceStore, live []Wholesale) error {
	p := s.price(live, s.Updated())
	if slices.Equal(p.listings, s.Listings()) {
		p.before = s.current.Load().before
		s.current.Store(p) // costs may differ
		return nil
	}
	p.updated = s.now().UTC().Truncate(time.Second)
	return s.publish(ctx, store, p)
}

// price returns the retail prices of the catalogue and the live wholesale prices.
func (s *Service) price(live []Wholesale, updated time.Time) *prices {
	today := map[deed.TLD]Wholesale{}
	for _, w := range live {
		today[w.TLD] = w
	}
	p := &prices{updated: updated}
	for _, l := range s.catalogue {
		w := today[l.TLD]
		l = merged(l, w)
		p.costs = append(p.costs, l)
		retail := l.Marked(s.pricing.markup(l.TLD))
		if w.Closed {
			p.closed = append(p.closed, retail)
			continue
		}
		p.listings = append(p.listings, retail)
	}
	return p
}

// cost returns the wholesale prices of a TLD.
func (s *Service) cost(tld deed.TLD) Listing {
	l, _ := find(s.current.Load().costs, tld)
	return l
}

// heldListing returns the prices of a TLD for names that are registered here, also when
// no new names are sold in it.
func (s *Service) heldListing(tld deed.TLD) (Listing, error) {
	if l, found := find(s.current.Load().closed, tld); found {
		return l, nil
	}
	return s.Listing(tld)
}

// Catalogue returns the embedded wholesale prices, sorted by TLD.
func (s *Service) Catalogue() []Listing { return s.catalogue }

// maxFactor is how many times its former price a price may be before it is doubted.
const maxFactor = 10

// A doubt is why prices cannot be true.
type doubt struct {
	why        string // "" if there is none
	dangerous  bool   // selling at the former prices could lose money
	impossible bool   // they are no prices at all
}

// doubtOf compares today's prices with those before. A price that is not known is no
// reason for doubt.
func doubtOf(before Listing, now Wholesale) (d doubt) {
	var odd []string
	for _, c := range []struct {
		what       string
		was, price deed.USDC
	}{{"registration", before.Registration, now.Registration}, {"renewal", before.Renewal, now.Renewal}, {"transfer", before.Transfer, now.Transfer}, {"restore", before.Restore, now.Restore}} {
		text := c.what + " for " + c.price.String() + " instead of " + c.was.String()
		switch {
		case c.price == 0:
		case c.price < 0, c.price > maxWholesale:
			odd, d.dangerous, d.impossible = append(odd, text), true, true
		case c.was <= 0:
		case c.price > maxFactor*c.was:
			odd, d.dangerous = append(odd, text), true
		case c.price*maxFactor < c.was:
			odd = append(odd, text)
		}
	}
	d.why = strings.Join(odd, ", ")
	return d
}
