package mandate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// When a mandate that could not be used is tried again.
const (
	retrySoon   = time.Minute     // by another clock its time has not come; the wallet has too many open payments
	retryLater  = 5 * time.Minute // the chain, the registry or the database did not respond
	retryIdle   = time.Hour       // another renewal is open
	retryFunds  = 6 * time.Hour   // the wallet cannot pay
	retryRefuse = 24 * time.Hour  // the price is too high, or the name cannot be renewed now
)

// Due returns mandates that Advance should be called for now.
func (s *Service) Due(ctx context.Context, limit int) ([]string, error) {
	return s.Store.Due(ctx, limit)
}

// Advance uses a mandate that is due, ends one that can no longer be used, and warns the
// owner of one that will fail. It is idempotent and safe for concurrent use.
func (s *Service) Advance(ctx context.Context, id string) error {
	m, err := s.Store.Mandate(ctx, id)
	if err != nil || m.State != order.MandateActive {
		return err
	}
	r, err := s.Names.Registration(ctx, m.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return s.Store.End(ctx, m, order.MandateRevoked, "the name has ended")
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", m.Name, err)
	}
	now := s.Now()
	switch step := m.Step(r, now); {
	case step.End != "":
		err = s.Store.End(ctx, m, step.End, step.Reason)
	case step.Use:
		err = s.use(ctx, m, r, now)
	default:
		err = s.watch(ctx, m, r, step, now)
	}
	if err != nil {
		return fmt.Errorf("advance mandate %s: %w", id, err)
	}
	return nil
}

// watch checks whether a mandate that is not due yet could be used.
func (s *Service) watch(ctx context.Context, m order.Mandate, r lifecycle.Registration, step order.MandateStep, now time.Time) error {
	err := s.Engine.CheckMandate(ctx, m.Auth)
	switch {
	case errors.Is(err, settle.ErrSpent):
		return s.Store.End(ctx, m, order.MandateFailed, reasonSpent)
	case settle.Refused(err):
		return s.tellFunds(ctx, m, messageOf(err), step.Next)
	case err != nil:
		return errors.Join(err, s.Store.Delay(ctx, m, now.Add(retryLater), false))
	}
	if step.Warn {
		if q, err := s.Prices.Renewal(r, 1, false); err == nil && q.Amount > m.Auth.Amount { // without a price there is nothing to warn of
			return s.tellRefused(ctx, m, m.TooLow(q.Amount), step.Next)
		}
	}
	m.Reason = "" // it is not at risk any more
	return s.Store.Delay(ctx, m, step.Next, false)
}

// reasonSpent is why a mandate fails that its owner cancelled.
const reasonSpent = "its authorization was cancelled or used on the chain: renew the name, or sign a new mandate"

// use buys the renewal. After an error the mandate is tried again, unless its payment
// has begun: then it is no longer active, and a delay does nothing.
func (s *Service) use(ctx context.Context, m order.Mandate, r lifecycle.Registration, now time.Time) error {
	err := s.Engine.UseMandate(ctx, m, m.Purchase(r))
	ctx = context.WithoutCancel(ctx)
	low, tooLow := errors.AsType[*order.CapTooLow](err)
	switch code := deed.CodeOf(err); {
	case err == nil:
		return nil
	case errors.Is(err, settle.ErrSpent):
		return s.Store.End(ctx, m, order.MandateFailed, reasonSpent)
	case errors.Is(err, order.ErrMandateIdle):
		return s.Store.Delay(ctx, m, m.Retry(now, retryIdle), false)
	case errors.Is(err, settle.ErrNotYet), code == deed.CodeRateLimited:
		return s.Store.Delay(ctx, m, m.Retry(now, retrySoon), false)
	case tooLow:
		return s.tellRefused(ctx, m, m.TooLow(low.Price), m.Retry(now, retryRefuse))
	case settle.Refused(err) && m.FundsDue(now):
		return s.tellFunds(ctx, m, messageOf(err), m.Retry(now, retryFunds))
	case settle.Refused(err):
		return s.Store.Delay(ctx, m, m.Retry(now, retryFunds), false)
	case code != deed.CodeUnavailable:
		return s.tellRefused(ctx, m, messageOf(err), m.Retry(now, retryRefuse))
	}
	return errors.Join(err, s.Store.Delay(ctx, m, m.Retry(now, retryLater), false))
}

// tellRefused notifies the owner why the renewal is not possible, once for each reason.
func (s *Service) tellRefused(ctx context.Context, m order.Mandate, reason string, next time.Time) error {
	tell := !m.ToldPrice || m.Reason != reason
	m.ToldPrice, m.Reason = true, reason
	return s.Store.Delay(ctx, m, next, tell)
}

// tellFunds notifies the owner, once, that the wallet cannot pay: what it lacks may change.
func (s *Service) tellFunds(ctx context.Context, m order.Mandate, reason string, next time.Time) error {
	tell := !m.ToldFunds
	m.ToldFunds, m.Reason = true, reason
	return s.Store.Delay(ctx, m, next, tell)
}

// messageOf returns what the owner may see of an error.
func messageOf(err error) string {
	if e, ok := errors.AsType[*deed.Error](err); ok {
		return e.Message
	}
	return "it cannot be used now"
}
