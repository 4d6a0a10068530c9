// Package registration buys names.
//
// Register does everything that can be refused for free, collects the price, and
// waits a while for the job that the payment set going. The job is advanced by
// whoever comes: the waiting request or the worker, on any node. Its order is:
// write down that we ask, ask the registrar, write down that we look, look the
// order up under our own reference, and only then call the name ours. A
// registrar's silence is never taken for a yes or a no.
package registration

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
)

// Store keeps jobs and registrations.
type Store interface {
	// Job returns the job with its steps, or CodeNotFound.
	Job(ctx context.Context, id string) (deed.Job, error)

	// JobOf returns the job that the payment, or the one it is an alias of, set
	// going.
	JobOf(ctx context.Context, p deed.Payment) (deed.Job, error)

	// MoveJob writes j down in its next state, to be looked at again at next.
	// It returns false when another process has moved it.
	MoveJob(ctx context.Context, j deed.Job, to deed.JobState, next time.Time) (moved bool, err error)

	// CompleteJob ends the job with a name: the registration is written, the
	// claim dropped and the payment consumed, in one transaction.
	CompleteJob(ctx context.Context, j deed.Job, r deed.Registration) error

	// FailJob ends the job without one: the claim is dropped and the payment is
	// owed back, in one transaction.
	FailJob(ctx context.Context, j deed.Job) error
}

// Registrations finds what is due and what we hold.
type Registrations interface {
	// DueJobs returns jobs that Advance should be called for now.
	DueJobs(ctx context.Context, most int) ([]string, error)

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (deed.Registration, error)
}

// Prices says what a new name costs.
type Prices interface {
	Registration(name deed.Name, years int) (deed.Quote, error)
	MinYears(tld deed.TLD) (int, error)
}

// Service buys names. Fill every field but Step.
type Service struct {
	Store     Store
	Names     Registrations
	Registrar deed.Registrar
	Prices    Prices
	Wait      time.Duration // how long a request waits for its job
	Now       func() time.Time

	// Step is called between any two steps, where a test may let us die.
	Step func(name string)
}

// An Order is a request for a new name.
type Order struct {
	Name     deed.Name
	Years    int       // 0 is the least the registry sells
	MaxPrice deed.USDC // 0 is any
}

// An Outcome is how far an order got while its request waited.
type Outcome struct {
	Job          deed.Job
	Quote        deed.Quote
	Registration deed.Registration // when the job is completed
}

// Quote checks an order and returns its price. All checks are free and come
// before any money moves.
func (s *Service) Quote(ctx context.Context, o Order) (deed.Quote, error) {
	q, err := s.price(o)
	if err != nil {
		return q, err
	}
	if o.MaxPrice > 0 && q.Amount > o.MaxPrice {
		return q, deed.Invalid("maxPriceUsd", "%s costs %s USDC, which is more", q.For, q.Amount)
	}
	a, err := s.Registrar.Available(ctx, o.Name)
	if err != nil {
		return q, fmt.Errorf("ask whether %s is available: %w", o.Name, err)
	}
	if !a.Available {
		return q, deed.Errorf(deed.CodeDomainUnavailable, "%s is %s", o.Name, a.Reason)
	}
	if a.Premium {
		// Premium names have a price of their own, which we do not sell at yet.
		return q, deed.Errorf(deed.CodeDomainUnavailable, "%s is a premium name, and those are not sold yet", o.Name)
	}
	return q, nil
}

func (s *Service) price(o Order) (deed.Quote, error) {
	years := o.Years
	if years == 0 {
		var err error
		if years, err = s.Prices.MinYears(o.Name.TLD()); err != nil {
			return deed.Quote{}, err
		}
	}
	return s.Prices.Registration(o.Name, years)
}

// Register buys a name. It returns as soon as the job has ended, and at the
// latest when the request has waited long enough.
//
// It fails with the codes of Quote, with those of deed.Checkout, and with
// CodeRegistrationFailed or CodeDomainUnavailable when the registry said no
// while the request waited; the payment is then on its way back.
func (s *Service) Register(ctx context.Context, o Order, pay deed.Checkout) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	years := o.Years
	if q, err := s.price(o); err == nil {
		years = q.Years
	}
	want := deed.Purchase{Kind: deed.PurchaseRegistration, Name: o.Name, Years: years}
	p, known, err := pay.Resume(ctx, want)
	if err != nil && !known {
		return Outcome{}, err
	}
	if !known {
		var q deed.Quote
		if q, err = s.Quote(ctx, o); err == nil {
			p, err = pay.Collect(ctx, q, want)
		}
		if err != nil {
			// The same payment may have come twice at once, and the other request
			// was faster: then its answer is ours, and nobody pays again.
			no := err
			if p, known, err = pay.Resume(ctx, want); !known && err == nil {
				return Outcome{Quote: q}, no
			}
		}
	}
	if err != nil {
		return s.refused(ctx, o, p), err
	}
	return s.await(ctx, p)
}

// refused is the outcome of a payment that was known and will not do. A void
// one may be replaced: the price is told again. One that belongs to another
// purchase may not: its job is named.
func (s *Service) refused(ctx context.Context, o Order, p deed.Payment) Outcome {
	if p.State == deed.PaymentVoid {
		q, _ := s.price(o) // without a price there is no offer
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
func (s *Service) await(ctx context.Context, p deed.Payment) (Outcome, error) {
	read := context.WithoutCancel(ctx)
	for {
		j, err := s.Store.JobOf(read, p)
		if deed.CodeOf(err) == deed.CodeNotFound {
			// It was signed anew for an order that was paid, and its payer sent it
			// to the chain himself.
			return Outcome{}, deed.Errorf(deed.CodePaymentInvalid, "this payment came on top of another for the same order: it goes back to the payer")
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("read the job of payment %s: %w", p.ID, err)
		}
		q := deed.Quote{Amount: p.Auth.Amount, Years: j.Purchase.Years, For: string(j.Purchase.Name)}
		switch j.State {
		case deed.JobCompleted:
			r, err := s.Names.Registration(read, j.Purchase.Name)
			return Outcome{Job: j, Quote: q, Registration: r}, err
		case deed.JobFailed:
			return Outcome{Job: j, Quote: q}, failure(j)
		case deed.JobAwaitingPayment, deed.JobCancelled:
			return Outcome{Job: j, Quote: q}, nil
		}
		if err := s.Advance(ctx, j.ID); err != nil || ctx.Err() != nil {
			return Outcome{Job: j, Quote: q}, nil // the worker goes on
		}
		if again, err := s.Store.Job(read, j.ID); err == nil && again.State == j.State && again.Attempts == j.Attempts {
			return Outcome{Job: again, Quote: q}, nil // it waits for something: so does the caller, elsewhere
		}
	}
}

// failure is what a buyer is told of a job that failed.
func failure(j deed.Job) error {
	code := deed.CodeRegistrationFailed
	if j.Refusal == deed.CodeDomainUnavailable {
		code = deed.CodeDomainUnavailable
	}
	return &deed.Error{Code: code, Message: j.Failure}
}

// Due returns jobs that Advance should be called for now.
func (s *Service) Due(ctx context.Context, most int) ([]string, error) {
	return s.Names.DueJobs(ctx, most)
}
