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

// pollInterval is how often the worker checks an order.
const pollInterval = 2 * time.Second

// pollIntervals are the intervals for orders that wait for a third party.
var pollIntervals = map[registrar.OrderState]time.Duration{registrar.OrderParked: pollInterval, registrar.OrderPending: time.Minute}

// Advance implements order.Kind.
func (s *Service) Advance(ctx context.Context, j order.Job) error {
	s.step(string(j.State))
	switch j.State {
	case order.JobQueued:
		return s.submit(ctx, j)
	case order.JobSubmitting:
		return s.takeOver(ctx, j)
	case order.JobVerifying:
		err := s.verify(ctx, j)
		s.Delivered(ctx, j) // the lookup may have completed the registration
		return err
	}
	return nil
}

// takeOver continues the job of a process that placed an order and then crashed.
// While the lease runs, that process may still be working.
func (s *Service) takeOver(ctx context.Context, j order.Job) error {
	if s.Now().Before(j.Lease) {
		return nil
	}
	_, err := s.Store.MoveJob(ctx, j, order.JobVerifying, s.Now())
	return err
}

// verify looks the order up. Done is final, whatever the registrar answered before.
// Absent may mean "not yet": without a final refusal it counts only after a quiet
// window. The window starts when the call has ended, since the order may have been
// sent as late as that. An order that waits for a third party is cancelled when the
// deadline has passed.
func (s *Service) verify(ctx context.Context, j order.Job) error {
	o, err := s.Registrar.Order(ctx, s.order(j))
	if err != nil {
		return s.unanswered(ctx, j, err)
	}
	j.Waiting = waitingFor[o.State]
	s.step("looked up")
	now := s.Now()
	switch {
	case o.State == registrar.OrderDone:
		return s.complete(ctx, j, s.registrationOf(ctx, j, o))
	case o.State == registrar.OrderParked, o.State == registrar.OrderPending:
		if !now.Before(j.Deadline) {
			_ = s.Registrar.Cancel(ctx, s.order(j)) // the next lookup tells whether it was cancelled
		}
		return s.later(ctx, j, pollIntervals[o.State])
	case o.Refusal != "":
		j.Refusal = o.Refusal
		return s.fail(ctx, j, refusalMessage(j))
	case j.Refusal != "":
		return s.fail(ctx, j, refusalMessage(j))
	case now.Before(j.Lease.Add(s.quietWindow(j))):
		j.Waiting = waitUnconfirmed
		return s.later(ctx, j, pollInterval)
	}
	return s.absent(ctx, j, now)
}

// quietWindow is how long an order must be absent before it counts as not placed. A
// registry with maintenance windows may execute an order late or refuse all of them for
// a while, so there each attempt waits longer than the one before.
func (s *Service) quietWindow(j order.Job) time.Duration {
	quiet := order.QuietWindow
	if s.Route == nil || s.Route.Deadline(j.Backend) == 0 {
		return quiet
	}
	for range j.Attempts - 1 {
		quiet *= 6
	}
	return quiet
}

// complete ends the job with its registration. The DS of a name that was transferred to us with
// our name servers waits, from before the registration is stored: they may be its servers since
// a moment ago, and resolvers may still ask others, which do not have its key.
func (s *Service) complete(ctx context.Context, j order.Job, r lifecycle.Registration) error {
	if p := j.Purchase; p.Kind == order.PurchaseTransfer && len(p.Nameservers) == 0 && len(r.DS) == 0 && lifecycle.SameServers(r.Nameservers, s.Nameservers) {
		if err := s.Arrived(ctx, r); err != nil {
			return err
		}
	}
	return s.Store.CompleteJob(ctx, j, r)
}

// registrationOf returns the registration that a completed order resulted in. The
// registry's other fields are read once, best effort; Lifecycle corrects them later.
func (s *Service) registrationOf(ctx context.Context, j order.Job, o registrar.OrderStatus) lifecycle.Registration {
	r := lifecycle.Registration{
		Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusActive, Reference: j.Reference, Backend: j.Backend, PaymentID: j.PaymentID,
		Created: o.Created, Expires: o.Expires, Updated: s.RegistryNow(), Nameservers: s.servers(j.Purchase), Locked: true, PremiumRenewal: j.Purchase.Facts.PremiumRenewal,
	}
	if j.Purchase.Kind == order.PurchaseRenewal {
		return r
	}
	h := o.Holding
	if h == nil {
		read, err := s.Manager.Holding(ctx, r.Name)
		if err != nil {
			return r
		}
		h = &read
	}
	r.Locked, r.Nameservers, r.Glue, r.DS = h.Locked, lifecycle.KeepOrder(r.Nameservers, h.Nameservers), h.Glue, h.DS
	return r
}

// absent handles an order that was not placed: it is placed again under a new
// reference, or given up. The old reference is cancelled first, so that an order
// that is executed late can never be a duplicate.
func (s *Service) absent(ctx context.Context, j order.Job, now time.Time) error {
	if err := s.Registrar.Cancel(ctx, s.order(j)); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return s.unanswered(ctx, j, err)
	}
	if o, err := s.Registrar.Order(ctx, s.order(j)); err != nil || o.State != registrar.OrderAbsent {
		return s.later(ctx, j, pollInterval) // it was executed while being cancelled
	}
	if j.Attempts < order.JobAttempts && now.Before(j.Deadline) {
		_, err := s.Store.MoveJob(ctx, j, order.JobQueued, now)
		return err
	}
	return s.fail(ctx, j, "the registry did not answer; the payment goes back to the payer")
}

func refusalMessage(j order.Job) string {
	switch {
	case j.Refusal == deed.CodeDomainUnavailable:
		return fmt.Sprintf("%s was taken by somebody else; the payment goes back to the payer", j.Purchase.Name)
	case j.Refusal == deed.CodeValidation && j.Purchase.Kind == order.PurchaseTransfer:
		return "the registry refused the code, or the name is locked; the payment goes back to the payer"
	}
	return "the registry refused the order; the payment goes back to the payer"
}

func (s *Service) fail(ctx context.Context, j order.Job, why string) error {
	j.Failure = why
	return s.Store.FailJob(ctx, j)
}

// waitUnanswered is what a buyer is told while the registry does not answer.
const waitUnanswered = "the registry does not answer at the moment: the order is looked up until it does, and the payment goes back if there is no name"

// waitUnconfirmed is what a buyer is told while an order has no known outcome.
const waitUnconfirmed = "the registry has not confirmed the order: it is looked up, and sent again if it was lost"

// waitingFor is what a buyer is told about an order that waits for a third party.
var waitingFor = map[registrar.OrderState]string{
	registrar.OrderParked:  "the registry has the order, and a person there must approve it",
	registrar.OrderPending: "the registry has the order and has not decided yet",
}

// unanswered postpones a job whose registry does not answer, and says so to the buyer
// and to the operator.
func (s *Service) unanswered(ctx context.Context, j order.Job, cause error) error {
	j.Waiting = waitUnanswered
	if err := s.later(ctx, j, pollInterval); err != nil {
		return err
	}
	return order.Pending(fmt.Errorf("the registrar does not answer: %w", cause))
}

// later postpones the job without changing its state.
func (s *Service) later(ctx context.Context, j order.Job, d time.Duration) error {
	_, err := s.Store.MoveJob(context.WithoutCancel(ctx), j, j.State, s.Now().Add(d))
	return err
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("job: " + name)
	}
}
