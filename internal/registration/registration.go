// Package registration buys names, renews them, takes them over from other
// registrars, and lives with them until they end.
//
// Buy does everything that can be refused for free, collects the price, and
// waits a while for the job that the payment set going. The job is advanced by
// whoever comes: the waiting request or the worker, on any node. Its order is:
// write down that we ask, ask the registrar, write down that we look, look the
// order up under our own reference, and only then call the name ours. A
// registrar's silence is never taken for a yes or a no. From then on Lifecycle
// compares the name with the registry, whose word counts, and tells its owner
// what is coming.
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

// Store keeps jobs.
type Store interface {
	// Job returns the job with its steps, or CodeNotFound.
	Job(ctx context.Context, id string) (order.Job, error)

	// JobOf returns the job that the payment, or the one it is an alias of, set
	// going.
	JobOf(ctx context.Context, p order.Payment) (order.Job, error)

	// MoveJob writes j down in its next state, to be looked at again at next.
	// It returns false when another process has moved it, or when it must wait
	// for another job of its name.
	MoveJob(ctx context.Context, j order.Job, to order.JobState, next time.Time) (moved bool, err error)

	// CompleteJob ends the job with a name that is ours, or longer ours, since
	// r.Updated: the registration is written, the claim dropped and the payment
	// consumed, in one transaction.
	CompleteJob(ctx context.Context, j order.Job, r lifecycle.Registration) error

	// FailJob ends the job without one: the claim is dropped and the payment is
	// owed back, in one transaction.
	FailJob(ctx context.Context, j order.Job) error
}

// Queue says which jobs are due.
type Queue interface {
	// DueJobs returns jobs that Advance should be called for now.
	DueJobs(ctx context.Context, limit int) ([]string, error)

	// WakeJobs makes every open job due, because the registry's clock was moved.
	WakeJobs(ctx context.Context) error
}

// Finder finds jobs by the ids that callers know.
type Finder interface {
	// PublicJob returns the job with its steps, or CodeNotFound.
	PublicJob(ctx context.Context, publicID string) (order.Job, error)
}

// Names are the names we hold.
type Names interface {
	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// Events returns what happened to a registration, oldest first.
	Events(ctx context.Context, reference string) ([]lifecycle.Event, error)

	// Acts counts what owners did with a registration.
	CountActions(ctx context.Context, reference string) (int, error)

	// Act writes down what its owner made of a name. It fails with
	// CodeOwnershipDenied when the name has changed hands meanwhile, and a
	// hand-over with lifecycle.ErrConcurrentAction when its owner did something else.
	RecordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error
}

// Prices says what orders cost.
type Prices interface {
	NewName(name deed.Name, years int, a registrar.Availability) (order.Quote, error)
	Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error)
	Transfer(name deed.Name) (order.Quote, error)
	MinYears(tld deed.TLD) (int, error)
	GraceDays(tld deed.TLD) int
}

// Offers remembers prices that stand in no list.
type Offers interface {
	// Offered writes down what something was offered for, and returns for what
	// else it was within order.HoldPrice.
	Offered(ctx context.Context, what string, price deed.USDC, at time.Time) (others []deed.USDC, err error)
}

// Service buys names and looks after them. Fill every field but Publish, Pause and
// Step.
type Service struct {
	Store       Store
	Queue       Queue
	Finder      Finder
	Names       Names
	Registrar   registrar.Registrar
	Manager     registrar.Manager
	Prices      Prices
	Offers      Offers
	Nameservers []string         // ours, that a new name is given when its buyer names none
	Wait        time.Duration    // how long a request waits for its job
	Now         func() time.Time // of all nodes
	RegistryNow func() time.Time // the registry's clock

	// Publish makes the zone of a name that has just become ours visible here,
	// now; others see it in a moment.
	Publish func(ctx context.Context, name deed.Name)

	// Pause waits a moment, while somebody else is at work on the job that a
	// request waits for. Without it the request does not wait.
	Pause func(ctx context.Context)

	// Step is called between any two steps, where a test may let us die.
	Step func(name string)
}

// An Outcome is how far an order got while its request waited.
type Outcome struct {
	Job          order.Job
	Quote        order.Quote
	Registration lifecycle.Registration // when the job is completed
}

// Buy does what the order asks for. It returns as soon as the job has ended, and
// at the latest when the request has waited long enough.
//
// It fails with the codes of Quote, with those of order.Checkout, and with
// CodeRegistrationFailed or CodeDomainUnavailable when the registry said no
// while the request waited; the payment is then on its way back.
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

// refused is the outcome of a payment that was known and will not do. A void
// or released one may be replaced: the price is told again. One that belongs to another
// purchase may not: its job is named.
func (s *Service) refused(ctx context.Context, o Order, p order.Payment) Outcome {
	if p.State.EndedUnpaid() {
		q, _, _ := s.Quote(context.WithoutCancel(ctx), o) // without a price there is no offer
		return Outcome{Quote: q}
	}
	j, err := s.Store.JobOf(context.WithoutCancel(ctx), p)
	if err != nil {
		return Outcome{} // without a job there is none to name
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
			// It was signed anew for an order that was paid, and somebody sent it to
			// the chain.
			return Outcome{}, deed.Errorf(deed.CodePaymentInvalid, "this payment came on top of another for the same order: it goes back to the payer")
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("read the job of payment %s: %w", p.ID, err)
		}
		out := Outcome{Job: j, Quote: order.Quote{Amount: p.Auth.Amount, Years: j.Purchase.Years, For: string(j.Purchase.Name)}}
		switch j.State {
		case order.JobCompleted:
			s.publish(read, j) // who completed it may not have come so far
			out.Registration, err = s.Result(read, j)
			return out, err
		case order.JobFailed:
			return out, failure(j)
		case order.JobAwaitingPayment, order.JobCancelled:
			return out, nil
		}
		if err := s.Advance(ctx, j.ID); err != nil || ctx.Err() != nil {
			return out, nil // the worker goes on
		}
		again, err := s.Store.Job(read, j.ID)
		if err == nil && again.State == j.State && again.Attempts == j.Attempts && !s.pause(ctx, again) {
			return Outcome{Job: again, Quote: out.Quote}, nil // it waits for something: so does the caller, elsewhere
		}
	}
}

// pause waits for another who is at work on the job. It returns false when
// there is nothing to wait for that a request can wait for.
func (s *Service) pause(ctx context.Context, j order.Job) bool {
	working := j.State == order.JobSubmitting || j.State == order.JobQueued
	if s.Pause == nil || !working || ctx.Err() != nil {
		return false
	}
	s.Pause(ctx)
	return ctx.Err() == nil
}

// Result returns the name that a completed job has brought, as it is now. When
// it is no longer ours, it returns what the job left behind.
func (s *Service) Result(ctx context.Context, j order.Job) (lifecycle.Registration, error) {
	r, err := s.Names.Registration(ctx, j.Purchase.Name)
	brought := j.Purchase.Kind == order.PurchaseRenewal || r.Reference == j.Reference
	if err == nil && brought {
		return r, nil
	}
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return r, err
	}
	return lifecycle.Registration{
		Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusTransferred, Created: j.Updated, Expires: j.Until, Nameservers: j.Purchase.Nameservers,
	}, nil
}

// failure is what a buyer is told of a job that failed.
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
