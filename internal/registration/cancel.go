package registration

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Cancellations stores cancellations of registrations.
type Cancellations interface {
	CancellationReader

	// BeginCancellation stores the cancellation of a registration that is as r says. It
	// fails with CodeValidation when an order for the name is in progress or a renewal
	// was paid, with CodeRateLimited beyond the limit, and with CodeUnavailable when the
	// registration was changed meanwhile.
	BeginCancellation(ctx context.Context, c lifecycle.Cancellation, r lifecycle.Registration, limit lifecycle.CancelLimit) error

	CancellationSteps
}

// A CancellationReader reads cancellations and their payments. What does not exist is
// CodeNotFound.
type CancellationReader interface {
	Payment(ctx context.Context, id string) (order.Payment, error)
	Cancellation(ctx context.Context, reference string) (lifecycle.Cancellation, error)

	// LastCancellation returns the last one of the name by the wallet that is done.
	LastCancellation(ctx context.Context, name deed.Name, who deed.Wallet) (lifecycle.Cancellation, error)

	// DueCancellations returns references that AdvanceCancellation should be called for.
	DueCancellations(ctx context.Context, limit int) ([]string, error)
}

// CancellationSteps are the steps of a cancellation. They have no effect when another
// process was faster.
type CancellationSteps interface {
	// LeaseCancellation stores that this process asks the registry. It returns false
	// when another one does.
	LeaseCancellation(ctx context.Context, c lifecycle.Cancellation, lease, quiet time.Time) (bool, error)

	// SecureCancellation stores that the name can no longer leave our account by a
	// transfer, before a deletion is sent.
	SecureCancellation(ctx context.Context, c lifecycle.Cancellation) error

	// DelayCancellation ends the lease, with c.Quiet, until the next attempt.
	DelayCancellation(ctx context.Context, c lifecycle.Cancellation, next time.Time) error

	// FinishCancellation ends the registration and makes its refund due, in one
	// transaction.
	FinishCancellation(ctx context.Context, c lifecycle.Cancellation) error

	// KeepName ends the cancellation without effect, for c.Reason.
	KeepName(ctx context.Context, c lifecycle.Cancellation) error
}

// Cancel cancels the registration of a name in its add grace period: the name is
// deleted at the registry, and what was paid for it, less what the registry keeps, goes
// back to its payer. With dryRun it checks everything and changes nothing. A repeated
// call returns the same cancellation; one whose outcome is open is continued by the
// worker.
//
// It fails with CodeValidation when the name cannot be cancelled, or not any more, and
// with CodeRateLimited when the wallet or the month has no cancellation left.
func (s *Service) Cancel(ctx context.Context, who deed.Wallet, name deed.Name, dryRun bool) (lifecycle.Cancellation, error) {
	if s.Cancels == nil || s.Route == nil {
		return lifecycle.Cancellation{}, deed.Invalid("domain", "registrations cannot be cancelled here")
	}
	r, err := s.Names.Registration(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		if c, lastErr := s.Cancels.LastCancellation(ctx, name, who); lastErr == nil {
			return c, nil // the answer was lost, and the request was repeated
		}
		return lifecycle.Cancellation{}, err
	}
	if err == nil {
		err = r.OwnedBy(who)
	}
	if err != nil {
		return lifecycle.Cancellation{}, err
	}
	if !r.Cancelling {
		c, limit, err := s.checkCancel(ctx, r)
		if err != nil || dryRun {
			return c, err
		}
		if err := s.Cancels.BeginCancellation(ctx, c, r, limit); err != nil {
			return c, err
		}
		s.step("cancellation stored")
	}
	if !dryRun {
		err = s.AdvanceCancellation(ctx, r.Reference)
	}
	c, readErr := s.Cancels.Cancellation(ctx, r.Reference)
	switch {
	case readErr != nil:
		return c, readErr
	case c.State == lifecycle.CancelKept:
		return c, deed.Invalid("domain", "%s", c.Reason)
	case c.State == lifecycle.CancelDone:
		return c, nil
	}
	return c, err
}

// checkCancel checks for free whether the registration can be cancelled now, and
// returns its cancellation.
func (s *Service) checkCancel(ctx context.Context, r lifecycle.Registration) (c lifecycle.Cancellation, limit lifecycle.CancelLimit, err error) {
	p, err := s.Cancels.Payment(ctx, r.PaymentID)
	if err != nil {
		return c, limit, fmt.Errorf("read the payment of %s: %w", r.Name, err)
	}
	limit = lifecycle.CancelLimit{Terms: s.Route.CancelTerms(r.Backend), Wallet: s.CancelsPerWallet, Period: cancelPeriod}
	c = lifecycle.Cancellation{
		Name: r.Name, Reference: r.Reference, Backend: r.Backend, PaymentID: p.ID, Wallet: r.Owner, Paid: p.Auth.Amount, Fee: limit.Terms.Fee, State: lifecycle.CancelDeleting,
	}
	switch {
	case limit.Terms.Monthly == 0 && limit.Terms.Percent == 0 || limit.Wallet == 0:
		err = deed.Invalid("domain", "registrations of .%s cannot be cancelled", r.Name.TLD())
	case p.Purchase.Kind != order.PurchaseRegistration:
		err = deed.Invalid("domain", "%s came here by transfer: only a registration can be cancelled", r.Name)
	case p.Auth.Payer != r.Owner:
		err = deed.Invalid("domain", "%s was handed over, and only the wallet that paid for a name can cancel it", r.Name)
	case r.PremiumRenewal > 0 && !limit.Terms.Premium:
		err = deed.Invalid("domain", "%s is a premium name, and its registry does not take it back", r.Name)
	case r.Status == lifecycle.StatusTransferring:
		err = deed.Invalid("domain", "%s is on its way to another registrar", r.Name)
	case r.Status != lifecycle.StatusActive:
		err = deed.Invalid("domain", "%s is %s, and only an active name can be cancelled", r.Name, r.Status)
	case p.State != order.PaymentConsumed:
		err = deed.Invalid("domain", "the payment of %s is being refunded already", r.Name)
	case c.Refund() <= 0:
		err = deed.Invalid("domain", "the registry keeps %s USDC of a cancelled registration, and %s cost %s: nothing would be refunded", c.Fee, r.Name, c.Paid)
	case r.Expires.After(r.Created.AddDate(p.Purchase.Years, 1, 0)):
		err = deed.Invalid("domain", "%s has been renewed, and a renewed name cannot be cancelled", r.Name)
	default:
		err = s.checkAddGrace(ctx, r)
	}
	return c, limit, err
}

// checkAddGrace fails unless the registry has the name in its add grace period.
func (s *Service) checkAddGrace(ctx context.Context, r lifecycle.Registration) error {
	h, err := s.Manager.Holding(ctx, r.Name)
	switch {
	case err != nil:
		return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the registry cannot be asked about %s now: try again in a minute", r.Name), Err: err, Retry: time.Minute}
	case h.Reference != "" && h.Reference != r.Reference, h.PendingTransfer():
		return deed.Invalid("domain", "%s is on its way to another registrar", r.Name)
	case !slices.Contains(h.EPPStatus, addPeriod):
		return deed.Invalid("domain", "the days in which %s could be cancelled are over (add grace period)", r.Name)
	}
	return nil
}

const (
	addPeriod    = "addPeriod"         // RFC 3915: the registry takes the name back
	cancelPeriod = 30 * 24 * time.Hour // in which the cancellations of a wallet are counted

	cancelFirstDelays = 30          // attempts at pollInterval
	cancelDelay       = time.Minute // between later attempts
)

// AdvanceCancellation makes the next step of a cancellation, if one can be made now. It
// is safe for concurrent use by any number of processes.
//
// Before the first deletion is sent the name is locked, and gets a new auth code that
// nobody receives: from then on a name that is not in our account was deleted, and did
// not leave by a transfer.
//
// A deletion that was sent may be executed as late as the end of its quiet window. Until
// then the cancellation does not end: not as kept, because the name may still be
// deleted, and not as done, because the name could be registered again and that one
// deleted.
func (s *Service) AdvanceCancellation(ctx context.Context, reference string) error {
	c, err := s.Cancels.Cancellation(ctx, reference)
	began := s.Now()
	if err != nil || c.State != lifecycle.CancelDeleting || began.Before(c.Lease) {
		return err
	}
	lease := began.Add(order.JobLease)
	mine, err := s.Cancels.LeaseCancellation(ctx, c, lease, lease.Add(order.QuietWindow))
	if err != nil || !mine {
		return err
	}
	c.Tries++
	s.step("about to delete")
	ctx = context.WithoutCancel(ctx)
	call, cancel := context.WithTimeout(ctx, registrarTimeout)
	defer cancel()
	outcome := s.deleteName(call, &c, began)
	s.step("deleted")
	switch {
	case outcome == deletionUnknown:
		c.Quiet = lease.Add(order.QuietWindow)
	case outcome == deletionOpen, began.Before(c.Quiet): // an earlier deletion may have been executed since the registry was asked
	case outcome == deletionDone:
		return s.Cancels.FinishCancellation(ctx, c)
	case outcome == deletionRefused:
		return s.Cancels.KeepName(ctx, c)
	}
	delay := pollInterval
	if c.Tries > cancelFirstDelays {
		delay = cancelDelay
	}
	return s.Cancels.DelayCancellation(ctx, c, s.Now().Add(delay))
}
