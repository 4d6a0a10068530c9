package catalog

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// MinYears returns for how many years a new name is sold at least.
func (s *Service) MinYears(tld deed.TLD) (int, error) {
	l, err := s.Listing(tld)
	return l.MinYears, err
}

// GraceDays returns for how long after its expiry a name can be renewed.
func (s *Service) GraceDays(tld deed.TLD) int {
	if l, found := find(s.listings, tld); found {
		return l.GraceDays
	}
	return defaultGraceDays
}

// defaultGraceDays is for a TLD that we no longer sell.
const defaultGraceDays = 45

// Registration returns the price of a new name for so many years.
//
// It fails with CodeTLDNotSupported, with CodeValidation when the registry does
// not sell the name for that long or in that script, and with CodeTooExpensive.
func (s *Service) Registration(name deed.Name, years int) (order.Quote, error) {
	return s.NewName(name, years, registrar.Availability{})
}

// NewName returns the price of a new name for so many years, premium or not, as the
// registry says.
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
	q := order.Quote{Amount: amount, Years: years, For: fmt.Sprintf("%s for %s", name, inYears(years)), Premium: a.Premium}
	if !a.Premium {
		q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.RegistrationPrice(years) })
	}
	return q, q.Within(s.pricing.Ceiling)
}

// Renewal returns the price of so many more years for a name we hold, out of
// redemption or not.
func (s *Service) Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error) {
	premium := r.PremiumRenewal > 0
	l, err := s.Offer(r.Name.TLD(), registrar.Availability{Premium: premium, Wholesale: r.PremiumRenewal, Renewal: r.PremiumRenewal})
	if err != nil {
		return order.Quote{}, err
	}
	q := order.Quote{Amount: l.RenewalPrice(years, restore), Years: years, For: fmt.Sprintf("%s for %s more", r.Name, inYears(years)), Premium: premium}
	if !premium {
		q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.RenewalPrice(years, restore), nil })
	}
	if restore {
		q.For += ", out of redemption"
	}
	return q, q.Within(s.pricing.Ceiling)
}

// Transfer returns the price of a name that comes from another registrar, with
// the year it brings.
func (s *Service) Transfer(name deed.Name) (order.Quote, error) {
	l, err := s.Listing(name.TLD())
	if err != nil {
		return order.Quote{}, err
	}
	q := order.Quote{Amount: l.Transfer, Years: 1, For: fmt.Sprintf("the transfer of %s and 1 year", name)}
	q.Held = s.held(l.TLD, func(l Listing) (deed.USDC, error) { return l.Transfer, nil })
	return q, q.Within(s.pricing.Ceiling)
}

// A PriceStore remembers the price lists that we published.
type PriceStore interface {
	// PublishPrices writes the list down if it differs from the last one, and
	// returns those that were replaced after the time.
	PublishPrices(ctx context.Context, list []Listing, at, after time.Time) ([]ReplacedPrices, error)
}

// Publish makes our prices known to all nodes, and holds those they replace for
// as long as we promised.
func (s *Service) Publish(ctx context.Context, store PriceStore, now func() time.Time) error {
	at := now()
	before, err := store.PublishPrices(ctx, s.listings, at, at.Add(-order.HoldPrice))
	if err != nil {
		return fmt.Errorf("publish the prices: %w", err)
	}
	s.before, s.now = before, now
	return nil
}

// held returns what was asked for under a TLD so recently that it can still be
// paid. A list that has no price for it, because it was not sold so, is passed
// over.
func (s *Service) held(tld deed.TLD, price func(Listing) (deed.USDC, error)) []deed.USDC {
	var prices []deed.USDC
	for _, list := range s.before {
		if l, found := find(list.Listings, tld); found && s.now().Before(list.At.Add(order.HoldPrice)) {
			if p, err := price(l); err == nil {
				prices = append(prices, p)
			}
		}
	}
	return prices
}
