package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// Years returns the fewest and the most years of one order.
func (s *Service) Years(tld deed.TLD) (least, most int, err error) {
	l, err := s.heldListing(tld)
	return l.MinYears, l.MaxYears, err
}

// GraceDays returns how many days after its expiry a name can be renewed.
func (s *Service) GraceDays(tld deed.TLD) int {
	if l, found := find(s.catalogue, tld); found {
		return l.GraceDays
	}
	return defaultGraceDays
}

// defaultGraceDays applies to a TLD that is no longer sold.
const defaultGraceDays = 45

// Registration returns the price of a new name for a number of years.
//
// It fails with CodeTLDNotSupported, with CodeValidation when the registry does
// not sell it for that number of years or in that script, and with CodeTooExpensive.
func (s *Service) Registration(name deed.Name, years int) (order.Quote, error) {
	return s.NewName(name, years, registrar.Availability{})
}

// Indicative returns the price of a new name that shows what names cost, and its TLD: com,
// or if that is not sold for less than the ceiling, the next one that is.
func (s *Service) Indicative() (deed.TLD, order.Quote, error) {
	err := error(deed.Errorf(deed.CodeTLDNotSupported, "we sell no names"))
	for _, l := range slices.Concat(s.Standard(), s.Listings()) {
		var q order.Quote
		if q, err = s.Registration(deed.Name("example."+string(l.TLD)), l.MinYears); err == nil {
			q.For = fmt.Sprintf("a .%s name for %s", l.TLD, inYears(l.MinYears))
			return l.TLD, q, nil
		}
	}
	return "", order.Quote{}, err
}

// NewName is Registration with the availability that the registry returned, which
// decides whether the name is premium.
func (s *Service) NewName(name deed.Name, years int, a registrar.Availability) (order.Quote, error) {
	l, err := s.Offer(name.TLD(), a)
	if err != nil {
		return order.Quote{}, err
	}
	if name.Label().IsIDN() && !l.IDN {
		return order.Quote{}, deed.Invalid("domain", ".%s is sold in ASCII letters only", l.TLD)
	}
	amount, err := l.RegistrationPrice(years)
	if err != nil {
		return order.Quote{}, err
	}
	cost := s.cost(l.TLD)
	if a.Premium {
		cost.Registration = a.Wholesale
		if a.Renewal > 0 {
			cost.Renewal = a.Renewal
		}
	}
	q := order.Quote{Amount: amount, Cost: cost.Registration + deed.USDC(years-1)*cost.Renewal, Years: years, For: fmt.Sprintf("%s for %s", name, inYears(years)), Premium: a.Premium}
	if !a.Premium {
		q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.RegistrationPrice(years) })
	}
	return q, q.Within(s.pricing.Ceiling)
}

// Renewal returns the price of renewing a name, with or without a restore from
// redemption.
func (s *Service) Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error) {
	premium := r.PremiumRenewal > 0
	l, err := s.heldListing(r.Name.TLD())
	if err == nil && premium {
		l, err = s.premium(l, registrar.Availability{Premium: premium, Wholesale: r.PremiumRenewal, Renewal: r.PremiumRenewal})
	}
	if err != nil {
		return order.Quote{}, err
	}
	cost := s.cost(l.TLD)
	if premium {
		cost.Renewal = r.PremiumRenewal
	}
	q := order.Quote{Amount: l.RenewalPrice(years, restore), Cost: cost.RenewalPrice(years, restore), Years: years, For: fmt.Sprintf("%s for %s more", r.Name, inYears(years)), Premium: premium}
	if !premium {
		q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.RenewalPrice(years, restore), nil })
	}
	if restore {
		q.For += ", out of redemption"
	}
	return q, q.Within(s.pricing.Ceiling)
}

// Transfer returns the price of a transfer from another registrar, which includes
// one year.
func (s *Service) Transfer(name deed.Name) (order.Quote, error) {
	l, err := s.Listing(name.TLD())
	if err != nil {
		return order.Quote{}, err
	}
	q := order.Quote{Amount: l.Transfer, Cost: s.cost(l.TLD).Transfer, Years: 1, For: fmt.Sprintf("the transfer of %s and 1 year", name)}
	q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.Transfer, nil })
	return q, q.Within(s.pricing.Ceiling)
}

// A PriceStore stores the published price lists.
type PriceStore interface {
	// PublishPrices stores the list if it differs from the last one, and returns
	// those that were replaced after the time.
	PublishPrices(ctx context.Context, list []Listing, at, after time.Time) ([]ReplacedPrices, error)
}

// Publish stores the current prices for all nodes, and keeps accepting the prices
// they replace for order.HoldPrice.
func (s *Service) Publish(ctx context.Context, store PriceStore, now func() time.Time) error {
	s.now = now
	return s.publish(ctx, store, s.current.Load())
}

// publish stores a price list and quotes from it.
func (s *Service) publish(ctx context.Context, store PriceStore, p *prices) error {
	at := s.now()
	before, err := store.PublishPrices(ctx, p.listings, at, at.Add(-order.HoldPrice))
	if err != nil {
		return fmt.Errorf("publish the prices: %w", err)
	}
	next := *p
	next.before = before
	s.current.Store(&next)
	return nil
}

// held returns the recently replaced prices under a TLD that are still accepted. A
// list without such a price is skipped.
func (s *Service) held(tld deed.TLD, price func(Listing) (deed.USDC, error)) []deed.USDC {
	var prices []deed.USDC
	for _, list := range s.current.Load().before {
		if l, found := find(list.Listings, tld); found && s.now().Before(list.At.Add(order.HoldPrice)) {
			if p, err := price(l); err == nil {
				prices = append(prices, p)
			}
		}
	}
	return prices
}
