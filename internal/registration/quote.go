package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// Complete implements order.Kind: without a number of years, a registration is for the minimum,
// and everything else for one.
func (s *Service) Complete(p order.Purchase) order.Purchase {
	if p.Years == 0 {
		p.Years = 1
		if p.Kind == order.PurchaseRegistration {
			if least, _, err := s.Prices.Years(p.Name.TLD()); err == nil {
				p.Years = least
			}
		}
	}
	p.From = p.From.UTC()
	return p
}

// Quote implements order.Kind.
func (s *Service) Quote(ctx context.Context, r order.Request) (q order.Quote, full order.Purchase, err error) {
	r.Purchase = s.Complete(r.Purchase)
	full = r.Purchase
	if err := checkNewServers(r.Name, r.Nameservers); err != nil {
		return q, full, err
	}
	if err := dnszone.CheckForwards(r.Records, s.Forwards); err != nil {
		return q, full, err
	}
	switch r.Kind {
	case order.PurchaseRenewal:
		q, full.Facts, err = s.quoteRenewal(ctx, r)
	case order.PurchaseTransfer:
		q, err = s.quoteTransfer(ctx, r)
	default:
		q, full.Facts, err = s.quoteNew(ctx, r)
	}
	q = q.WithoutLoss(s.MaxLoss)
	if q.Premium {
		full.Facts.PremiumCost = q.Cost
	}
	if err == nil {
		full.Facts, err = s.agreement(ctx, r.Name, full.Facts)
	}
	if err == nil && s.Route != nil {
		err = s.Route.Affords(ctx, r.Name, q.Amount)
	}
	return q, full, err
}

// withHeldPrices adds the recently quoted prices of a premium name to the quote, and
// fails when the price exceeds the caller's maximum.
func (s *Service) withHeldPrices(ctx context.Context, r order.Request, q order.Quote, facts order.PurchaseFacts) (order.Quote, error) {
	if q.Premium {
		what := fmt.Sprintf("%s %s %d %t", r.Kind, r.Name, q.Years, facts.Restore)
		held, err := s.Offers.Offered(ctx, what, q.Amount, s.Now())
		if err != nil {
			return q, fmt.Errorf("store the price offered for %s: %w", r.Name, err)
		}
		q.Held = held
	}
	return q, r.CheckMaxPrice(q)
}

func (s *Service) quoteNew(ctx context.Context, r order.Request) (q order.Quote, facts order.PurchaseFacts, err error) {
	if q, err = s.Prices.NewName(r.Name, r.Years, registrar.Availability{}); err != nil {
		return q, facts, err
	}
	if err := s.checkTerm(ctx, registrar.Order{Kind: registrar.OrderRegister, Name: r.Name, Years: r.Years}); err != nil {
		return q, facts, err
	}
	a, err := s.Registrar.Available(ctx, r.Name)
	if err != nil {
		return q, facts, fmt.Errorf("check whether %s is available: %w", r.Name, err)
	}
	if a.Premium {
		facts.PremiumRenewal = a.Renewal
		if q, err = s.Prices.NewName(r.Name, r.Years, a); err != nil {
			return q, facts, err
		}
	}
	if q, err = s.withHeldPrices(ctx, r, q, facts); err != nil {
		return q, facts, err
	}
	if !a.Available {
		return q, facts, deed.WithNext(s.unavailable(ctx, r.Name, a.Reason), deed.Next{Action: deed.ActionSearch, Domain: r.Name})
	}
	return q, facts, s.checkUnclaimed(ctx, r)
}

// unavailable returns the error for a name that the registrar does not sell. Of a name that
// is registered here it says by whom: a buyer whose answer was lost asks again without a
// payment, and is told that the name is bought already.
func (s *Service) unavailable(ctx context.Context, name deed.Name, reason string) error {
	if is, err := s.Names.Registration(ctx, name); err == nil {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is registered here, by %s", name, is.Owner)
	}
	return deed.Errorf(deed.CodeDomainUnavailable, "%s is %s", name, reason)
}

// checkUnclaimed fails with CodeDomainUnavailable when the name is registered here, or
// when somebody else has paid for it and the registrar does not know it yet. What the
// payer itself is buying is found by the checkout. The claim of the name, which is
// stored with the payment, decides.
func (s *Service) checkUnclaimed(ctx context.Context, r order.Request) error {
	if r.MayBeBuyer {
		return nil
	}
	taken, err := s.Names.Taken(ctx, []deed.Name{r.Name}, r.Payer)
	if err != nil {
		return fmt.Errorf("check whether %s is being bought: %w", r.Name, err)
	}
	if len(taken) > 0 {
		return deed.WithNext(deed.Errorf(deed.CodeDomainUnavailable, "%s is registered here, or has been paid for and is being bought", r.Name), deed.Next{Action: deed.ActionSearch, Domain: r.Name})
	}
	return nil
}

// maxYears is how far ahead registries let a name be registered.
const maxYears = 10

func (s *Service) quoteRenewal(ctx context.Context, want order.Request) (q order.Quote, facts order.PurchaseFacts, err error) {
	r, err := s.Names.Registration(ctx, want.Name)
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
	case r.Cancelling:
		return q, facts, deed.Invalid("domain", "%s is being cancelled by its owner", r.Name)
	case !want.From.IsZero() && !want.From.Equal(r.Expires):
		return q, facts, deed.Invalid("expectedExpiresAt", "%s expires at %s", r.Name, r.Expires.Format(time.RFC3339))
	case r.Expires.AddDate(want.Years, 0, 0).After(now.AddDate(maxYears, 0, 0)):
		return q, facts, deed.Invalid("years", "%s expires at %s, and no name can be held for more than ten years ahead", r.Name, r.Expires.Format(time.RFC3339))
	}
	if err := s.checkRenewalYears(ctx, r, want.Years); err != nil {
		return q, facts, err
	}
	facts.Restore = state.Phase == lifecycle.PhaseRedemption
	if r.PremiumRenewal, err = s.premiumRenewal(ctx, r); err != nil {
		return q, facts, err
	}
	facts.PremiumRenewal = r.PremiumRenewal
	if q, err = s.Prices.Renewal(r, want.Years, facts.Restore); err != nil {
		return q, facts, err
	}
	if q, err = s.withHeldPrices(ctx, want, q, facts); err != nil {
		return q, facts, err
	}
	differs := s.checkRegistry(ctx, r, want.Years, facts.Restore)
	if differs == nil {
		return q, facts, nil
	}
	switch now, err := s.Names.Registration(ctx, r.Name); {
	case err != nil:
		return q, facts, err
	case !now.Expires.Equal(r.Expires):
		return s.quoteRenewal(ctx, want) // it was renewed while the registry was asked
	}
	return q, facts, differs
}

// checkRenewalYears fails when the registry does not renew the name for that number of years at
// once.
func (s *Service) checkRenewalYears(ctx context.Context, r lifecycle.Registration, years int) error {
	least, most, err := s.Prices.Years(r.Name.TLD())
	switch {
	case err != nil:
		return err
	case years < least || years > most:
		return deed.Invalid("years", ".%s is renewed for %s at once, not for %d", r.Name.TLD(), order.Term(least, most), years)
	}
	return s.checkTerm(ctx, registrar.Order{Kind: registrar.OrderRenew, Backend: r.Backend, Name: r.Name, Years: years})
}

// checkTerm fails with CodeValidation when the registrar does not take the order for its years.
func (s *Service) checkTerm(ctx context.Context, o registrar.Order) error {
	if limiter, ok := s.Registrar.(registrar.TermLimiter); ok {
		return limiter.CheckTerm(ctx, o)
	}
	return nil
}

// premiumRenewal returns what the registry charges today for a year of a premium name: an
// order at the price of the day it was bought would be refused if that has risen since.
func (s *Service) premiumRenewal(ctx context.Context, r lifecycle.Registration) (deed.USDC, error) {
	lister, ok := s.Registrar.(registrar.PriceLister)
	if r.PremiumRenewal == 0 || !ok {
		return r.PremiumRenewal, nil
	}
	years, _, err := s.Prices.Years(r.Name.TLD()) // the fewest: a registry may have no price for less
	if err != nil {
		return 0, err
	}
	p, err := lister.Price(ctx, registrar.Order{Kind: registrar.OrderRenew, Backend: r.Backend, Name: r.Name, Years: years})
	switch {
	case err != nil && deed.CodeOf(err) == deed.CodeUnavailable:
		return 0, notAnswered(r.Name, err)
	case err != nil || p.Total <= 0:
		return r.PremiumRenewal, nil // it tells none
	}
	return p.PerYear(years), nil
}

// notAnswered is the error of a registry that did not answer a question about a name.
func notAnswered(name deed.Name, err error) error {
	return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the registry cannot be asked about %s now: try again in a minute", name), Err: err, Retry: time.Minute}
}

// checkRegistry fails when the registry could not execute a renewal now as it is quoted. A
// name that the registry shows differently than our record is compared with it soon, unless
// an order explains the difference.
func (s *Service) checkRegistry(ctx context.Context, r lifecycle.Registration, years int, restore bool) error {
	h, err := s.Manager.Holding(ctx, r.Name)
	var failure error
	switch prohibited := h.RenewalProhibited(years, restore); {
	case err != nil && deed.CodeOf(err) != deed.CodeNotFound:
		return notAnswered(r.Name, err)
	case err != nil:
		failure = changedAtRegistry(r.Name, "does not show %s in our account")
	case h.PendingTransfer():
		failure = deed.Invalid("domain", "%s is on its way to another registrar", r.Name)
	case !h.Expires.Equal(r.Expires):
		failure = changedAtRegistry(r.Name, "has another expiry for %s")
	case h.Phase == lifecycle.PhasePendingDelete, (h.Phase == lifecycle.PhaseRedemption) != restore:
		failure = changedAtRegistry(r.Name, "has %s in another phase")
	case prohibited != "":
		failure = deed.Invalid("domain", "the registry does not allow renewals of %s now (%s)", r.Name, prohibited)
	default:
		return nil
	}
	switch open, err := s.Names.HasOpenOrder(ctx, r.Name); {
	case err != nil:
		return errors.Join(failure, err)
	case open:
		return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("another renewal of %s is in progress: try again in a few seconds", r.Name), Retry: openOrderRetry}
	}
	return errors.Join(failure, s.Names.CompareSoon(ctx, r.Name))
}

// openOrderRetry is when a caller may ask again about a name that is being renewed.
const openOrderRetry = 5 * time.Second

// changedAtRegistry is the error of a name that the registry shows differently.
func changedAtRegistry(name deed.Name, how string) error {
	return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the registry "+how+", which we are looking into: try again in a minute", name), Retry: time.Minute}
}

func (s *Service) quoteTransfer(ctx context.Context, r order.Request) (order.Quote, error) {
	q, err := s.Prices.Transfer(r.Name)
	if err != nil {
		return q, err
	}
	if err := r.CheckMaxPrice(q); err != nil {
		return q, err
	}
	if _, err := s.Names.Registration(ctx, r.Name); err == nil {
		return q, deed.Errorf(deed.CodeDomainUnavailable, "%s is registered here already", r.Name)
	} else if deed.CodeOf(err) != deed.CodeNotFound {
		return q, err
	}
	if err := s.checkUnclaimed(ctx, r); err != nil {
		return q, err
	}
	if err := s.Registrar.Transferable(ctx, r.Name, r.AuthCode); err != nil {
		return q, fmt.Errorf("check whether %s can be transferred: %w", r.Name, err)
	}
	return q, nil
}
