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

// registrarTimeout bounds one call to the registrar.
const registrarTimeout = 20 * time.Second

// submit places the order. The reference is stored first; from then on only a
// lookup by that reference tells the outcome of the order.
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
	j, err := s.routed(ctx, j)
	if err != nil {
		return err
	}
	j.Attempts++
	j.Reference = order.OrderReference(j.ID, j.Attempts)
	j.Submitted, j.Lease, j.Refusal = now, now.Add(order.JobLease), ""
	mine, err := s.Store.MoveJob(ctx, j, order.JobSubmitting, j.Lease)
	if err != nil {
		return err
	}
	if !mine {
		return s.later(ctx, waiting, pollInterval) // until the other job of this name has ended; other jobs are not blocked
	}
	j.State = order.JobSubmitting
	s.step("about to order")
	left := registrarTimeout - s.Now().Sub(now)
	if left <= 0 {
		return nil // this process was suspended, and another may have looked the order up and found nothing: sending it now could order twice
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), left)
	defer cancel()
	placed := s.Registrar.Place(call, s.order(j))
	s.step("ordered")
	if placed == nil && s.completeNow(ctx, j) {
		return nil
	}
	if code := deed.CodeOf(placed); placed != nil && code != deed.CodeUnavailable {
		j.Refusal = code
	}
	j.Lease = s.Now() // release the lease: nothing more is sent after this
	_, err = s.Store.MoveJob(context.WithoutCancel(ctx), j, order.JobVerifying, s.Now())
	if err == nil && placed != nil && j.Refusal == "" {
		err = order.Pending(placed) // the outcome is unknown: the operator is told why
	}
	return err
}

// routed returns the job with the registrar of its orders.
func (s *Service) routed(ctx context.Context, j order.Job) (routed order.Job, err error) {
	if j.Backend != "" || s.Route == nil {
		return j, nil
	}
	if j.Purchase.Kind.ClaimsName() { // nobody here holds it
		j.Backend, err = s.Route.SellerOf(j.Purchase.Name.TLD())
	} else {
		j.Backend, err = s.Route.BackendOf(ctx, j.Purchase.Name)
	}
	if err != nil {
		return j, err
	}
	paid := j.Created.Add(j.Deadline.Sub(j.Purchase.Deadline(j.Created))) // the deadline moved by as long as that took
	if until := paid.Add(s.Route.Deadline(j.Backend)); until.After(j.Deadline) {
		j.Deadline = until // its registry may be down for maintenance for hours
	}
	return j, nil
}

// completeNow completes the job of an order that was just accepted, if it is done. If not,
// and after an error, verify looks it up again.
func (s *Service) completeNow(ctx context.Context, j order.Job) bool {
	o, err := s.Registrar.Order(ctx, s.order(j))
	if err != nil || o.State != registrar.OrderDone {
		return false
	}
	s.step("looked up")
	if err := s.complete(ctx, j, s.registrationOf(ctx, j, o)); err != nil {
		return false
	}
	s.Delivered(ctx, j)
	return true
}

// renewalStart returns the expiry that a renewal starts at, or why it can no
// longer start: the name was transferred away while the payment settled, or another
// renewal came first and this one was for a specific start only, or is to restore a name
// that has been restored. A later attempt may be to renew what the first has restored.
func (s *Service) renewalStart(ctx context.Context, j order.Job) (from time.Time, why string, err error) {
	r, err := s.Names.Registration(ctx, j.Purchase.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return from, fmt.Sprintf("%s is no longer registered here; the payment goes back to the payer", j.Purchase.Name), nil
	case err != nil:
		return from, "", err
	case !j.Purchase.From.IsZero() && !j.Purchase.From.Equal(r.Expires):
		return from, fmt.Sprintf("%s expires at %s by now; the payment goes back to the payer", r.Name, r.Expires.Format(time.RFC3339)), nil
	case j.Purchase.ByMandate() && r.Owner != j.Owner:
		return from, fmt.Sprintf("%s has another owner by now; the payment goes back to the payer", r.Name), nil
	case j.Purchase.Facts.Restore && j.Attempts == 0 && s.restored(r):
		return from, fmt.Sprintf("%s was restored meanwhile, and a year costs less by now; the payment goes back to the payer", r.Name), nil
	case !s.Now().Before(j.Deadline):
		return from, "an earlier renewal of the name did not come to an end; the payment goes back to the payer", nil
	}
	return r.Expires, "", nil
}

// restored reports whether a name that was in redemption no longer is.
func (s *Service) restored(r lifecycle.Registration) bool {
	phase := r.StateAt(s.RegistryNow(), s.Prices.GraceDays(r.Name.TLD())).Phase
	return phase == lifecycle.PhaseActive || phase == lifecycle.PhaseGrace
}

// order returns the order of the last attempt, to place it or to look it up.
func (s *Service) order(j order.Job) registrar.Order {
	o := orderOf(j, s.servers(j.Purchase))
	if cost := j.Purchase.Facts.PremiumCost; cost > 0 {
		o.MaxCost = cost + s.MaxLoss
	}
	return o
}

// orderOf returns the order of the last attempt, with the name servers of a new name.
func orderOf(j order.Job, servers []string) registrar.Order {
	p := j.Purchase
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: j.Reference, Backend: j.Backend, Name: p.Name, Years: p.Years, Nameservers: servers, Submitted: j.Submitted}
	switch p.Kind {
	case order.PurchaseRenewal:
		o.Kind, o.From, o.Restore, o.Nameservers = registrar.OrderRenew, j.From, p.Facts.Restore, nil
	case order.PurchaseTransfer:
		o.Kind, o.AuthCode, o.Nameservers = registrar.OrderTransfer, p.AuthCode, nil // it keeps its own until a move
	}
	return o
}

// servers returns the name servers of a new name.
func (s *Service) servers(p order.Purchase) []string {
	if len(p.Nameservers) > 0 {
		return lifecycle.KeepOrder(s.Nameservers, p.Nameservers)
	}
	return s.Nameservers
}
