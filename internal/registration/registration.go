// Package registration registers, renews and transfers names, and manages them
// until they end.
//
// Buy validates the order for free, collects the price, and waits a while for the
// job that the payment started. The job is advanced by the waiting request or by
// the worker, on any node. Its steps are: store that the order is being submitted,
// place it at the registrar, store that it is being verified, look it up by our own
// reference, and only then record the registration. A missing answer is never taken
// for success or failure. From then on Lifecycle synchronizes the name with the
// registry, which is authoritative, and records the events its owner is notified
// of.
package registration

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// Store stores jobs.
type Store interface {
	// Job returns the job with its steps, or CodeNotFound.
	Job(ctx context.Context, id string) (order.Job, error)

	// JobOf returns the job of the payment, or of the payment it is an alias of.
	JobOf(ctx context.Context, p order.Payment) (order.Job, error)

	// MoveJob stores j in its next state, to be advanced again at next. It returns
	// false when another process has moved it, or when it must wait for another job
	// of its name.
	MoveJob(ctx context.Context, j order.Job, to order.JobState, next time.Time) (moved bool, err error)

	// CompleteJob ends the job with a new or extended registration: the
	// registration is written, the claim dropped and the payment consumed, in one
	// transaction.
	CompleteJob(ctx context.Context, j order.Job, r lifecycle.Registration) error

	// FailJob ends the job without a registration: the claim is dropped and the
	// payment becomes due for refund, in one transaction.
	FailJob(ctx context.Context, j order.Job) error
}

// Queue returns the jobs that are due.
type Queue interface {
	// DueJobs returns jobs that Advance should be called for now.
	DueJobs(ctx context.Context, limit int) ([]string, error)

	// WakeJobs makes every open job due, after the registry's clock was moved.
	WakeJobs(ctx context.Context) error
}

// Finder finds jobs by their public ids.
type Finder interface {
	// PublicJob returns the job with its steps, or CodeNotFound.
	PublicJob(ctx context.Context, publicID string) (order.Job, error)
}

// Names stores registrations and what happened to them.
type Names interface {
	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Events returns the events of a registration, oldest first.
	Events(ctx context.Context, reference string) ([]lifecycle.Event, error)

	// CountActions counts the owner actions on a registration.
	CountActions(ctx context.Context, reference string) (int, error)

	// RecordAction stores an owner action and its result. It fails with
	// CodeOwnershipDenied when the name was handed over concurrently, and for a
	// handover with lifecycle.ErrConcurrentAction after another action.
	RecordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error
}

// Prices quotes orders.
type Prices interface {
	NewName(name deed.Name, years int, a registrar.Availability) (order.Quote, error)
	Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error)
	Transfer(name deed.Name) (order.Quote, error)
	MinYears(tld deed.TLD) (int, error)
	GraceDays(tld deed.TLD) int
}

// Offers stores quoted prices that are not in the price list.
type Offers interface {
	// Offered stores the price that something was offered for, and returns its
	// other prices within order.HoldPrice.
	Offered(ctx context.Context, what string, price deed.USDC, at time.Time) (others []deed.USDC, err error)
}

// Service sells and manages names. Fill every field but Publish, Pause and Step.
type Service struct {
	Store       Store
	Queue       Queue
	Finder      Finder
	Names       Names
	Registrar   registrar.Registrar
	Manager     registrar.Manager
	Prices      Prices
	Offers      Offers
	Nameservers []string         // our own, for new names whose buyer specifies none
	Wait        time.Duration    // how long a request waits for its job
	Now         func() time.Time // shared by all nodes
	RegistryNow func() time.Time // the registry's clock
	Moves       Moves            // nil: name servers change at once
	ParentTTL   ParentTTL

	// Publish publishes the zone of a new name on this node at once; other nodes
	// follow shortly.
	Publish func(ctx context.Context, name deed.Name)

	// Pause waits briefly while another process works on the job that a request
	// waits for. If nil, the request does not wait.
	Pause func(ctx context.Context)

	// Step is called between any two steps, so that a test can crash there.
	Step func(name string)
}

// An Outcome is how far an order got while its request waited.
type Outcome struct {
	Job          order.Job
	Quote        order.Quote
	Registration lifecycle.Registration // when the job is completed
}

// Buy executes an order. It returns as soon as the job has ended, or when the
// request has waited for s.Wait.
//
// It fails with the codes of Quote, with those of order.Checkout, and with
// CodeRegistrationFailed or CodeDomainUnavailable when the registry refused while
// the request waited; the payment is then being refunded.
func (s *Service) Buy(ctx context.Context, o Order, pay order.Checkout) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	want := s.purchase(o)
	p, q, known, err := order.Pay(ctx, pay, want, func(ctx context.Context) (q order.Quote, full order.Purchase, err error) {
		full = want
		q, full.Facts, err = s.Quote(ctx, o)
		return q, full, err
	})
	switch {
	case err == nil:
		return s.await(ctx, p)
	case known:
		return s.refused(ctx, o, p), err
	}
	return Outcome{Quote: q}, err
}

// refused returns the outcome of a known payment that was not accepted. A void or
// released one may be replaced, so the price is quoted again. For one that belongs
// to another purchase, that purchase's job is returned.
func (s *Service) refused(ctx context.Context, o Order, p order.Payment) Outcome {
	if p.State.EndedUnpaid() {
		q, _, _ := s.Quote(context.WithoutCancel(ctx), o) // no price to quote
		return Outcome{Quote: q}
	}
	j, err := s.Store.JobOf(context.WithoutCancel(ctx), p)
	if err != nil {
		return Outcome{} // no job to refer to
	}
	return Outcome{Job: j}
}

// await advances the job of a payment until it ends or the request has waited
// long enough.
func (s *Service) await(ctx context.Context, p order.Payment) (Outcome, error) {
	read := context.WithoutCancel(ctx)
	for {
		j, err := s.Store.JobOf(read, p)
		if deed.CodeOf(err) == deed.CodeNotFound {
			// It is a second payment for an order that was already paid, and was
			// submitted to the chain by someone else.
			return Outcome{}, deed.Errorf(deed.CodePaymentInvalid, "this payment came on top of another for the same order: it goes back to the payer")
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("read the job of payment %s: %w", p.ID, err)
		}
		out := Outcome{Job: j, Quote: order.Quote{Amount: p.Auth.Amount, Years: j.Purchase.Years, For: string(j.Purchase.Name)}}
		switch j.State {
		case order.JobCompleted:
			s.publish(read, j) // the process that completed it may not have published it
			out.Registration, err = s.Result(read, j)
			return out, err
		case order.JobFailed:
			return out, failure(j)
		case order.JobAwaitingPayment, order.JobCancelled:
			return out, nil
		}
		if err := s.Advance(ctx, j.ID); err != nil || ctx.Err() != nil {
			return out, nil // the worker continues
		}
		again, err := s.Store.Job(read, j.ID)
		if err == nil && again.State == j.State && again.Attempts == j.Attempts && !s.pause(ctx, again) {
			return Outcome{Job: again, Quote: out.Quote}, nil // it waits for a third party, so the caller must poll
		}
	}
}

// pause waits while another process works on the job. It returns false when the
// job waits for something that takes longer than a request.
func (s *Service) pause(ctx context.Context, j order.Job) bool {
	working := j.State == order.JobSubmitting || j.State == order.JobQueued
	if s.Pause == nil || !working || ctx.Err() != nil {
		return false
	}
	s.Pause(ctx)
	return ctx.Err() == nil
}

// Result returns the current registration that a completed job created or renewed.
// When it has ended since, it returns the job's result.
func (s *Service) Result(ctx context.Context, j order.Job) (lifecycle.Registration, error) {
	r, err := s.Names.Registration(ctx, j.Purchase.Name)
	isResult := j.Purchase.Kind == order.PurchaseRenewal || r.Reference == j.Reference
	if err == nil && isResult {
		return r, nil
	}
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return r, err
	}
	return lifecycle.Registration{
		Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusTransferred, Created: j.Updated, Expires: j.Until, Nameservers: j.Purchase.Nameservers,
	}, nil
}

// failure returns the error of a failed job.
func failure(j order.Job) error {
	code := deed.CodeRegistrationFailed
	if j.Refusal == deed.CodeDomainUnavailable {
		code = deed.CodeDomainUnavailable
	}
	return &deed.Error{Code: code, Message: j.Failure}
}

// Due returns jobs that Advance should be called for now.
func (s *Service) Due(ctx context.Context, limit int) ([]string, error) {
	return s.Queue.DueJobs(ctx, limit)
}
