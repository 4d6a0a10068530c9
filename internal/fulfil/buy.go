package fulfil

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// Buy collects the price of what is requested, and delivers it. It returns as soon as
// the job has ended, or when the request has waited for s.Wait; then the worker
// continues.
//
// It fails with the codes of the Kind's Quote, with those of order.Checkout, and with
// the job's FailureCode when it could not be delivered; the payment is then being
// refunded. While the outcome of a purchase that cannot be polled is open, it fails
// with order.ErrPending.
func (s *Service) Buy(ctx context.Context, r order.Request, pay order.Checkout) (order.Outcome, error) {
	kind, err := s.kind(r.Kind)
	if err != nil {
		return order.Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	r.Purchase = kind.Complete(r.Purchase)
	b := buyer{s, kind, r, pay}
	p, q, known, err := b.pay(ctx)
	switch {
	case err == nil:
		return b.await(ctx, p)
	case known:
		return b.refused(ctx, p), err
	}
	return order.Outcome{Quote: q}, err
}

// buyer executes one request.
type buyer struct {
	s        *Service
	kind     order.Kind
	request  order.Request
	checkout order.Checkout
}

// pay returns the payment for the purchase: that of an earlier request, or a new one
// at the current price. Known reports whether a payment exists: if it is known and
// there is an error, it is void, released, or belongs to another purchase.
func (b buyer) pay(ctx context.Context) (p order.Payment, q order.Quote, known bool, err error) {
	p, known, err = b.checkout.Resume(ctx, b.request.Purchase)
	if err != nil || known {
		return p, q, known, err
	}
	q, full, err := b.kind.Quote(ctx, b.request)
	if err == nil {
		p, err = b.checkout.Collect(ctx, q, full)
	}
	if err != nil {
		// The same payment may have come twice at once, and the other request was
		// faster: then its answer is ours, and nobody pays again.
		no := err
		if p, known, err = b.checkout.Resume(ctx, b.request.Purchase); !known && err == nil {
			return p, q, false, no
		}
		return p, q, known, err
	}
	return p, q, true, nil
}

// refused returns the outcome of a known payment that was not accepted. A void or
// released one may be replaced, so the price is quoted again. For one that belongs
// to another purchase, that purchase's job is returned.
func (b buyer) refused(ctx context.Context, p order.Payment) order.Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.s.Wait)
	defer cancel()
	if p.State.EndedUnpaid() {
		q, _, _ := b.kind.Quote(ctx, b.request) // after an error there may be no price
		return order.Outcome{Quote: q, Payment: p}
	}
	j, err := b.s.Jobs.JobOf(ctx, p)
	if err != nil {
		return order.Outcome{} // no job to refer to
	}
	return order.Outcome{Job: j}
}

// visibleAfter is how long after the end of a job its result is visible on all nodes, whoever
// has completed it: each looks for changes several times a second.
const visibleAfter = 10 * time.Second

// await advances the job of a payment until it ends or the request has waited long
// enough. Requests with a known payment are not counted, however often they are repeated: so
// an order that waits for a third party is looked up no earlier than by the worker, and what
// was delivered a while ago is not made visible again.
func (b buyer) await(ctx context.Context, p order.Payment) (order.Outcome, error) {
	defer b.s.working.begin(order.JobID(p.ID))()
	read := context.WithoutCancel(ctx)
	var last order.Job // as it was advanced before
	for {
		j, err := b.jobOf(read, p)
		if deed.CodeOf(err) == deed.CodeNotFound {
			// It is a second payment for a purchase that was already paid, and was
			// submitted to the chain by someone else.
			return order.Outcome{}, deed.Errorf(deed.CodePaymentInvalid, "this payment came on top of another for the same %s: it goes back to the payer", b.request.Kind.Noun())
		}
		if err != nil {
			return order.Outcome{}, fmt.Errorf("read the job of payment %s: %w", p.ID, err)
		}
		out := order.Outcome{Job: j, Payment: p}
		working := j.State == order.JobSubmitting || j.State == order.JobQueued
		waited := j.State == last.State && j.Attempts == last.Attempts
		switch {
		case j.State == order.JobCompleted:
			if b.s.Now().Before(j.Updated.Add(visibleAfter)) {
				b.kind.Delivered(read, j) // the process that completed it may not have called it
			}
			return out, nil
		case j.State == order.JobFailed:
			return out, &deed.Error{Code: j.FailureCode(), Message: j.Failure}
		case j.State == order.JobAwaitingPayment, j.State == order.JobCancelled:
			if p, err = b.awaitPayment(ctx, j, p); err != nil && p.State.EndedUnpaid() {
				return b.refused(ctx, p), err
			}
			if err != nil || j.Purchase.Kind.Polled() {
				return out, err
			}
		case ctx.Err() != nil, !working && (waited || b.s.Now().Before(j.Next)), waited && !b.s.pause(ctx, j):
			return out, unfinished(j, fmt.Errorf("job %s is %s", j.ID, j.State)) // it waits for a third party
		case waited:
			last = order.Job{} // another process works on it
		default:
			err := b.kind.Advance(ctx, j)
			if err != nil && !(errors.Is(err, order.ErrPending) && j.Purchase.Kind.Polled()) {
				return out, unfinished(j, err)
			}
			last = j
		}
	}
}

// jobOf returns the job of a payment. One that this process has just completed does not
// change any more.
func (b buyer) jobOf(ctx context.Context, p order.Payment) (order.Job, error) {
	if p.Job != nil && p.Job.State == order.JobCompleted {
		return *p.Job, nil
	}
	return b.s.Jobs.JobOf(ctx, p)
}

// awaitPayment waits for the payment of a job that cannot be polled, and returns the
// payment as it is then.
func (b buyer) awaitPayment(ctx context.Context, j order.Job, p order.Payment) (order.Payment, error) {
	if j.Purchase.Kind.Polled() {
		return p, nil
	}
	if !b.s.pause(ctx, j) {
		return p, unfinished(j, fmt.Errorf("job %s is %s", j.ID, j.State))
	}
	p, _, err := b.checkout.Resume(ctx, b.request.Purchase)
	return p, err
}

// unfinished returns what the caller of a job that has not ended is told: to repeat
// the request with the same payment, or nothing when the job can be polled.
func unfinished(j order.Job, cause error) error {
	if j.Purchase.Kind.Polled() {
		return nil
	}
	return order.Pending(cause)
}

// pause waits before a job is read again. It returns false when the request has
// waited long enough.
func (s *Service) pause(ctx context.Context, j order.Job) bool {
	return s.Pause != nil && ctx.Err() == nil && s.Pause(ctx, j) && ctx.Err() == nil
}
