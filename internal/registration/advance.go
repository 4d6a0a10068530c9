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

// ask is how long one question to the registrar may take.
const registrarTimeout = 20 * time.Second

// look is how long the worker leaves an order alone between two looks.
const pollInterval = 2 * time.Second

// pollIntervals is how long it leaves one alone that waits for somebody else.
var pollIntervals = map[registrar.OrderState]time.Duration{registrar.OrderParked: pollInterval, registrar.OrderPending: time.Minute}

// Advance makes the next step of the job, if one can be made now. It may be
// called by anyone, at any time, any number of times at once: of those who
// come together one makes the step.
func (s *Service) Advance(ctx context.Context, id string) error {
	j, err := s.Store.Job(ctx, id)
	if err != nil {
		return err
	}
	s.step(string(j.State))
	switch j.State {
	case order.JobQueued:
		err = s.submit(ctx, j)
	case order.JobSubmitting:
		err = s.takeOver(ctx, j)
	case order.JobVerifying:
		err = s.verify(ctx, j)
		s.publish(ctx, j) // the look may have made the name ours
	}
	if err != nil {
		return fmt.Errorf("advance job %s: %w", id, err)
	}
	return nil
}

// submit places the order. The reference is written down first; from then on
// only a look-up under it says what became of the order.
func (s *Service) submit(ctx context.Context, j order.Job) error {
	now, waiting := s.Now(), j
	if j.Purchase.Kind == order.PurchaseRenewal {
		from, why, err := s.renewalStart(ctx, j)
		if err != nil {
			return err
		}
		if why != "" {
			return s.fail(ctx, j, why)
		}
		j.From = from
	}
	j.Attempts++
	j.Reference = order.OrderReference(j.ID, j.Attempts)
	j.Submitted, j.Lease, j.Refusal = now, now.Add(order.JobLease), ""
	mine, err := s.Store.MoveJob(ctx, j, order.JobSubmitting, j.Lease)
	if err != nil {
		return err
	}
	if !mine {
		return s.later(ctx, waiting, pollInterval) // for its turn; no others wait behind it meanwhile
	}
	j.State = order.JobSubmitting
	s.step("about to order")
	left := registrarTimeout - s.Now().Sub(now)
	if left <= 0 {
		return nil // we stood still, and others may have looked and found nothing: an order sent now would be a second one
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), left)
	defer cancel()
	err = s.Registrar.Place(call, s.order(j))
	s.step("ordered")
	if code := deed.CodeOf(err); err != nil && code != deed.CodeUnavailable {
		j.Refusal = code
	}
	j.Lease = s.Now() // given back: from here on nothing more is sent
	_, err = s.Store.MoveJob(context.WithoutCancel(ctx), j, order.JobVerifying, s.Now())
	return err
}

// renewalStart returns the expiry that a renewal begins at, or why it cannot begin any
// more: the name has left us while the money was on its way, or another renewal
// was faster and this one was meant for one start only.
func (s *Service) renewalStart(ctx context.Context, j order.Job) (from time.Time, why string, err error) {
	r, err := s.Names.Registration(ctx, j.Purchase.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return from, fmt.Sprintf("%s is no longer registered here; the payment goes back to the payer", j.Purchase.Name), nil
	case err != nil:
		return from, "", err
	case !j.Purchase.From.IsZero() && !j.Purchase.From.Equal(r.Expires):
		return from, fmt.Sprintf("%s expires at %s by now; the payment goes back to the payer", r.Name, r.Expires.Format(time.RFC3339)), nil
	case !s.Now().Before(j.Deadline):
		return from, "an earlier renewal of the name did not come to an end; the payment goes back to the payer", nil
	}
	return r.Expires, "", nil
}

// order returns what is asked of the registrar.
func (s *Service) order(j order.Job) registrar.Order {
	p := j.Purchase
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: j.Reference, Name: p.Name, Years: p.Years, Nameservers: s.servers(p)}
	switch p.Kind {
	case order.PurchaseRenewal:
		o.Kind, o.From, o.Restore, o.Nameservers = registrar.OrderRenew, j.From, p.Facts.Restore, nil
	case order.PurchaseTransfer:
		o.Kind, o.AuthCode, o.Nameservers = registrar.OrderTransfer, deed.Secret(p.AuthCode), p.Nameservers
	}
	return o
}

// servers returns the name servers of a new name.
func (s *Service) servers(p order.Purchase) []string {
	if len(p.Nameservers) > 0 {
		return p.Nameservers
	}
	return s.Nameservers
}

func (s *Service) publish(ctx context.Context, j order.Job) {
	if s.Publish != nil {
		s.Publish(ctx, j.Purchase.Name)
	}
}

// takeOver goes on for a process that asked the registrar and was not heard of
// again. While its lease runs, it is at work.
func (s *Service) takeOver(ctx context.Context, j order.Job) error {
	if s.Now().Before(j.Lease) {
		return nil
	}
	_, err := s.Store.MoveJob(ctx, j, order.JobVerifying, s.Now())
	return err
}

// verify looks the order up. Done is done, whatever was said before. Absent may
// mean "not yet": without a final refusal we wait out a quiet window before we
// believe it. It begins when the call has ended, since the order may have been
// sent as late as that. An order that waits for somebody is taken back when the
// deadline has passed.
func (s *Service) verify(ctx context.Context, j order.Job) error {
	o, err := s.Registrar.Order(ctx, j.Reference, j.Purchase.Name)
	if err != nil {
		return s.later(ctx, j, pollInterval)
	}
	s.step("looked up")
	now := s.Now()
	switch {
	case o.State == registrar.OrderDone:
		return s.Store.CompleteJob(ctx, j, s.registrationOf(ctx, j, o))
	case o.State == registrar.OrderParked, o.State == registrar.OrderPending:
		if !now.Before(j.Deadline) {
			_ = s.Registrar.Cancel(ctx, j.Reference) // whether it could be taken back, the next look says
		}
		return s.later(ctx, j, pollIntervals[o.State])
	case o.Refusal != "":
		j.Refusal = o.Refusal
		return s.fail(ctx, j, refusalMessage(j))
	case j.Refusal != "":
		return s.fail(ctx, j, refusalMessage(j))
	case now.Before(j.Lease.Add(order.QuietWindow)):
		return s.later(ctx, j, pollInterval)
	}
	return s.absent(ctx, j, now)
}

// brought returns the name as a done order has left it. What the registry says
// beyond its dates is asked for once; the reconciler asks again.
func (s *Service) registrationOf(ctx context.Context, j order.Job, o registrar.OrderStatus) lifecycle.Registration {
	r := lifecycle.Registration{
		Name: j.Purchase.Name, Owner: j.Owner, Status: lifecycle.StatusActive, Reference: j.Reference, PaymentID: j.PaymentID,
		Created: o.Created, Expires: o.Expires, Updated: s.RegistryNow(), Nameservers: s.servers(j.Purchase), Locked: true, PremiumRenewal: j.Purchase.Facts.PremiumRenewal,
	}
	if j.Purchase.Kind == order.PurchaseRenewal {
		return r
	}
	if h, err := s.Manager.Holding(ctx, r.Name); err == nil {
		r.Locked, r.Nameservers, r.DS = h.Locked, h.Nameservers, h.DS
	}
	return r
}

// absent decides on an order that was not placed: it is placed again under a new
// reference, or given up. The old reference is closed first, so that an order
// that is executed late can never be a second one.
func (s *Service) absent(ctx context.Context, j order.Job, now time.Time) error {
	if err := s.Registrar.Cancel(ctx, j.Reference); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return s.later(ctx, j, pollInterval)
	}
	if o, err := s.Registrar.Order(ctx, j.Reference, j.Purchase.Name); err != nil || o.State != registrar.OrderAbsent {
		return s.later(ctx, j, pollInterval) // it was executed while we closed it
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

// later leaves the job as it is for a while.
func (s *Service) later(ctx context.Context, j order.Job, d time.Duration) error {
	_, err := s.Store.MoveJob(context.WithoutCancel(ctx), j, j.State, s.Now().Add(d))
	return err
}

func (s *Service) step(name string) {
	if s.Step != nil {
		s.Step("job: " + name)
	}
}
