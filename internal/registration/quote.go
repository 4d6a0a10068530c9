package registration

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// An Order is a request to register, renew or transfer a name.
type Order struct {
	Kind        order.PurchaseKind
	Name        deed.Name
	Years       int              // 0 means the minimum
	MaxPrice    *deed.USDC       // nil means no limit
	Offered     deed.USDC        // the amount of the payment in the request; 0 without one
	Nameservers []string         // empty means our own
	Records     []dnszone.Record // initial records of a new name
	AuthCode    deed.Secret      // of a transfer
	From        time.Time        // the expiry that a renewal must start at; zero for any
}

// purchase returns the order as plain data.
func (s *Service) purchase(o Order) order.Purchase {
	years := o.Years
	if years == 0 {
		years = 1
		if o.Kind == order.PurchaseRegistration {
			if least, err := s.Prices.MinYears(o.Name.TLD()); err == nil {
				years = least
			}
		}
	}
	return order.Purchase{
		Kind: o.Kind, Name: o.Name, Years: years,
		Nameservers: o.Nameservers, Records: o.Records, AuthCode: o.AuthCode.Reveal(), From: o.From.UTC(),
	}
}

// Quote validates an order and returns its price and the facts it found. All checks
// are free and come before any money moves.
func (s *Service) Quote(ctx context.Context, o Order) (q order.Quote, facts order.PurchaseFacts, err error) {
	years := s.purchase(o).Years
	switch o.Kind {
	case order.PurchaseRenewal:
		q, facts, err = s.quoteRenewal(ctx, o, years)
	case order.PurchaseTransfer:
		q, err = s.quoteTransfer(ctx, o)
	default:
		q, facts, err = s.quoteNew(ctx, o, years)
	}
	return q, facts, err
}

// withHeldPrices adds the recently quoted prices of a premium name to the quote, and
// fails when the price exceeds the caller's maximum.
func (s *Service) withHeldPrices(ctx context.Context, o Order, q order.Quote, facts order.PurchaseFacts) (order.Quote, error) {
	if q.Premium {
		what := fmt.Sprintf("%s %s %d %t", o.Kind, o.Name, q.Years, facts.Restore)
		held, err := s.Offers.Offered(ctx, what, q.Amount, s.Now())
		if err != nil {
			return q, fmt.Errorf("store the price offered for %s: %w", o.Name, err)
		}
		q.Held = held
	}
	return q, o.checkMaxPrice(q)
}

func (s *Service) quoteNew(ctx context.Context, o Order, years int) (q order.Quote, facts order.PurchaseFacts, err error) {
	if q, err = s.Prices.NewName(o.Name, years, registrar.Availability{}); err != nil {
		return q, facts, err
	}
	a, err := s.Registrar.Available(ctx, o.Name)
	if err != nil {
		return q, facts, fmt.Errorf("check whether %s is available: %w", o.Name, err)
	}
	if a.Premium {
		facts.PremiumRenewal = a.Renewal
		if q, err = s.Prices.NewName(o.Name, years, a); err != nil {
			return q, facts, err
		}
	}
	if q, err = s.withHeldPrices(ctx, o, q, facts); err != nil {
		return q, facts, err
	}
	if !a.Available {
		return q, facts, deed.WithNext(deed.Errorf(deed.CodeDomainUnavailable, "%s is %s", o.Name, a.Reason), deed.Next{Action: deed.ActionSearch, Domain: o.Name})
	}
	return q, facts, nil
}

// checkMaxPrice fails when the price exceeds the caller's maximum. For a payment of
// a held price, that price counts.
func (o Order) checkMaxPrice(q order.Quote) error {
	price := q.Amount
	if q.Accepts(o.Offered) {
		price = o.Offered
	}
	if o.MaxPrice != nil && price > *o.MaxPrice {
		return deed.Invalid("maxPriceUsd", "%s costs %s USDC, which is more", q.For, price)
	}
	return nil
}

// maxYears is how far ahead registries let a name be registered.
const maxYears = 10

func (s *Service) quoteRenewal(ctx context.Context, o Order, years int) (q order.Quote, facts order.PurchaseFacts, err error) {
	r, err := s.Names.Registration(ctx, o.Name)
	if err != nil {
		return q, facts, err
	}
	now := s.RegistryNow()
	state := r.StateAt(now, s.Prices.GraceDays(r.Name.TLD()))
	switch {
	case state.Phase == lifecycle.PhasePendingDelete, state.Phase == lifecycle.PhaseGone:
		return q, facts, deed.Invalid("domain", "%s waits to be deleted: it is too late to renew it", r.Name)
	case r.Status == lifecycle.StatusTransferring:
		return q, facts, deed.Invalid("domain", "%s is on its way to another registrar", r.Name)
	case !o.From.IsZero() && !o.From.Equal(r.Expires):
		return q, facts, deed.Invalid("expectedExpiresAt", "%s expires at %s", r.Name, r.Expires.Format(time.RFC3339))
	case r.Expires.AddDate(years, 0, 0).After(now.AddDate(maxYears, 0, 0)):
		return q, facts, deed.Invalid("years", "%s expires at %s, and no name can be held for more than ten years ahead", r.Name, r.Expires.Format(time.RFC3339))
	}
	facts.Restore = state.Phase == lifecycle.PhaseRedemption
	if q, err = s.Prices.Renewal(r, years, facts.Restore); err != nil {
		return q, facts, err
	}
	if q, err = s.withHeldPrices(ctx, o, q, facts); err != nil {
		return q, facts, err
	}
	return q, facts, s.reachable(ctx, r)
}

// reachable fails with CodeUnavailable when the registry could not execute a
// renewal now.
func (s *Service) reachable(ctx context.Context, r lifecycle.Registration) error {
	h, err := s.Manager.Holding(ctx, r.Name)
	if err != nil {
		return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the registry cannot be asked about %s now: try again in a minute", r.Name), Err: err, Retry: time.Minute}
	}
	if !h.Expires.Equal(r.Expires) {
		return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the registry has another expiry for %s, which we are looking into: try again in a minute", r.Name), Retry: time.Minute}
	}
	return nil
}

func (s *Service) quoteTransfer(ctx context.Context, o Order) (order.Quote, error) {
	q, err := s.Prices.Transfer(o.Name)
	if err != nil {
		return q, err
	}
	if err := o.checkMaxPrice(q); err != nil {
		return q, err
	}
	if _, err := s.Names.Registration(ctx, o.Name); err == nil {
		return q, deed.Errorf(deed.CodeDomainUnavailable, "%s is registered here already", o.Name)
	} else if deed.CodeOf(err) != deed.CodeNotFound {
		return q, err
	}
	if err := s.Registrar.Transferable(ctx, o.Name, o.AuthCode); err != nil {
		return q, fmt.Errorf("check whether %s can be transferred: %w", o.Name, err)
	}
	return q, nil
}
