package registration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// LostPayments stores payments that we settled but have no request for, because the
// database was restored from a backup and is behind the chain.
type LostPayments interface {
	// Lost returns the payments that may be lost: all that are unclaimed.
	Lost(ctx context.Context) ([]order.Payment, error)

	// ParkLost is Lost, and no node refunds these payments any more, nor can their
	// payers claim them: they wait for a decision.
	ParkLost(ctx context.Context) ([]order.Payment, error)

	// Payment returns the payment, or CodeNotFound.
	Payment(ctx context.Context, id string) (order.Payment, error)

	// ClaimPayment assigns the payment to p.Purchase. Placed are the orders that were
	// placed for it before.
	ClaimPayment(ctx context.Context, p order.Payment, placed order.Placed) (order.Payment, error)

	// FailPlaced makes a payment due for refund that was refunded before the restore, and
	// fails its job, which is created with p.Purchase for an unclaimed one. The order that
	// was placed is looked up, since its registry may execute it late. Nothing is written
	// about a payment that another process has moved.
	FailPlaced(ctx context.Context, p order.Payment, placed order.Placed) error

	MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error)
}

// EndedNames stores registrations that may have ended since the backup.
type EndedNames interface {
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)
	EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error
}

// HoldingReader reads which order a registry holds a name for.
type HoldingReader interface {
	Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error)
}

// Restore finishes the restore of a backup. Fill every field.
type Restore struct {
	Payments LostPayments
	Names    EndedNames
	Holdings HoldingReader
	Jobs     OpenJobs
	JobRows  JobReader
	Chain    RefundedPayments
	Undone   UndonePayments
	Cancels  CancelRecorder
	Now      func() time.Time
	Orders   registrar.OrderFinder
	Lookup   registrar.Registrar
	Mandates LostMandates
	Prices   RenewalPrices
	Servers  []string // our own, used unless the buyer specified others
}

// A Recovered is the decision on one lost payment.
type Recovered struct {
	Payment   order.Payment
	Order     registrar.Order // that it paid for; without a name the payment is refunded
	Cancelled deed.USDC       // was refunded because what it paid for was cancelled; usually 0
	Undecided string          // why the decision is left to an operator; "" if it is not
}

// Finish decides on all lost payments: one that paid for an order that the registrar has
// is recorded again with a job for that order, and the others are refunded, renewals that
// are not done among them.
//
//   - A registration that was cancelled since the backup ends, and what was refunded for it
//     is recorded.
//   - A name that is being cancelled in the backup is locked again before it is deleted. If
//     it is neither in our account nor free, it was not deleted by us: nothing is refunded.
//   - An order that was refunded before the restore is not delivered, even if the registrar
//     has executed it since.
//   - A payment whose order may be at a registrar that cannot find it is left undecided,
//     unless it was refunded before, or its mandate tells what it renewed, and so is one for a renewal whose price is not clear.
//     Until it is decided on, no node refunds it.
//   - Jobs that were open in the backup continue from their last known attempt, or end when
//     their payment was refunded since. A renewal that is not done is cancelled, unless its
//     job knows of its order.
//
// With dryRun nothing is written. It is idempotent. Nodes may run on the restored database:
// nothing is written about a payment or job that they have moved since it was read, and for
// a payment that is an error. They refund unclaimed transfers that are not parked before the
// call. The nodes that used the lost database must have stopped a minute ago, and
// none of our transactions may be pending.
func (r *Restore) Finish(ctx context.Context, dryRun bool) (all []Recovered, err error) {
	read := r.Payments.ParkLost
	if dryRun {
		read = r.Payments.Lost
	}
	lost, err := read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read lost payments: %w", err)
	}
	all, err = r.endCancelled(ctx, dryRun)
	errs := []error{err, r.recheckSecured(ctx, dryRun), r.resume(ctx, dryRun)}
	for _, p := range lost {
		one, err := r.decide(ctx, p, dryRun)
		if err != nil {
			errs = append(errs, fmt.Errorf("decide on payment %s: %w", p.ID, err))
			continue // with the next payment
		}
		all = append(all, one)
	}
	return all, errors.Join(errs...)
}

// decide decides on one lost payment.
func (r *Restore) decide(ctx context.Context, p order.Payment, dryRun bool) (Recovered, error) {
	back, err := r.undone(ctx, p)
	if err != nil || back > 0 {
		if err == nil && !dryRun {
			err = r.recordUndone(ctx, p, back)
		}
		return Recovered{Payment: p, Cancelled: back}, err
	}
	return r.decideByOrder(ctx, p, dryRun)
}

// decideByOrder decides on a lost payment by the order that it paid for.
func (r *Restore) decideByOrder(ctx context.Context, p order.Payment, dryRun bool) (Recovered, error) {
	o, placed, err := r.find(ctx, order.JobID(p.ID), dryRun)
	if errors.Is(err, registrar.ErrOrdersNotSearchable) {
		o, placed, err = r.findByMandate(ctx, p, err)
	}
	if errors.Is(err, registrar.ErrOrdersNotSearchable) {
		var back bool
		undecided := err.Error()
		if back, err = r.Chain.Refunded(ctx, p.Refund()); err == nil && !back {
			return Recovered{Payment: p, Undecided: undecided}, nil
		}
	}
	if err == nil && o.Kind == registrar.OrderRenew && !dryRun {
		_, err = r.doneRenewal(ctx, o)
	}
	back := false
	if err == nil && o.Name != "" {
		back, err = r.Chain.Refunded(ctx, p.Refund())
	}
	switch {
	case err != nil:
		return Recovered{}, fmt.Errorf("find its order: %w", err)
	case back && dryRun:
		return Recovered{Payment: p}, nil
	case back:
		p.Purchase = r.purchase(o)
		return Recovered{Payment: p}, r.failPlaced(ctx, p, placed)
	}
	found := Recovered{Payment: p, Order: o}
	if o.Name != "" {
		p.Purchase = r.purchase(o)
		found.Undecided, err = r.setSource(ctx, &p)
	}
	switch {
	case err != nil || found.Undecided != "" || dryRun:
	case o.Name != "":
		err = r.claim(ctx, p, placed)
	default:
		p, err = r.Payments.MovePayment(ctx, p, order.PaymentRefundDue, "")
		err = unlessMoved(p, order.PaymentRefundDue, err)
	}
	return found, err
}

// unlessMoved returns an error when the payment is not in the state that was decided on,
// because another process has moved it first.
func unlessMoved(p order.Payment, decided order.PaymentState, err error) error {
	if err == nil && p.State != decided {
		err = fmt.Errorf("it is %s, and was to become %s: it has changed meanwhile: run this again", p.State, decided)
	}
	return err
}

// claim records a payment again, with the order that it paid for. The name may have left
// us and have come back by this order, both since the backup: then the registration in
// the backup has ended.
func (r *Restore) claim(ctx context.Context, p order.Payment, placed order.Placed) error {
	claimed, err := r.Payments.ClaimPayment(ctx, p, placed)
	if deed.CodeOf(err) != deed.CodeDomainUnavailable || !p.Purchase.Kind.ClaimsName() {
		return unlessMoved(claimed, order.PaymentSettled, err)
	}
	ended, endErr := r.endFormer(ctx, p.Purchase.Name)
	if endErr != nil || !ended {
		return errors.Join(err, endErr)
	}
	claimed, err = r.Payments.ClaimPayment(ctx, p, placed)
	return unlessMoved(claimed, order.PaymentSettled, err)
}

// endFormer ends the registration of a name that the registry holds for another order by
// now, or not for us. It returns false when there is none.
func (r *Restore) endFormer(ctx context.Context, name deed.Name) (bool, error) {
	was, err := r.Names.Registration(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	h, err := r.Holdings.Holding(ctx, name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound: // its order is pending
	case err != nil:
		return false, err
	case h.Reference == "" || h.Reference == was.Reference:
		return false, nil
	}
	left := lifecycle.Event{Name: name, Reference: was.Reference, Type: lifecycle.EventLeft, At: r.Now(), About: was.Expires}
	return true, r.Names.EndRegistration(ctx, was, "transferred_out", []lifecycle.Event{left})
}

// find returns the last order that was placed for a job. An order that may still be
// executed counts: its job waits for the outcome. It fails with
// registrar.ErrOrdersNotSearchable when no order was found but there may be one.
func (r *Restore) find(ctx context.Context, job string, dryRun bool) (registrar.Order, order.Placed, error) {
	var unknown error
	for attempt := order.JobAttempts; attempt > 0; attempt-- {
		reference := order.OrderReference(job, attempt)
		o, err := r.Orders.FindOrder(ctx, reference)
		switch {
		case deed.CodeOf(err) == deed.CodeNotFound:
			continue
		case errors.Is(err, registrar.ErrOrdersNotSearchable):
			unknown = err
			continue
		case err != nil:
			return o, order.Placed{}, err
		}
		status, err := r.close(ctx, o, dryRun)
		if err != nil {
			return o, order.Placed{}, err
		}
		if status.State != registrar.OrderAbsent {
			return o, order.Placed{Attempts: attempt, Backend: o.Backend}, nil
		}
	}
	return registrar.Order{}, order.Placed{}, unknown
}

// close returns the status of an order. An absent one is cancelled first, so that it
// is not executed after its payment was refunded.
func (r *Restore) close(ctx context.Context, o registrar.Order, dryRun bool) (registrar.OrderStatus, error) {
	status, err := r.Lookup.Order(ctx, o)
	if err != nil || status.State != registrar.OrderAbsent || dryRun {
		return status, err
	}
	if err := r.Lookup.Cancel(ctx, o); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return status, err
	}
	return r.Lookup.Order(ctx, o) // it may have been executed while being cancelled
}

// purchase returns the purchase of an order. The initial records of a new name are
// not known to the registrar and are lost.
func (r *Restore) purchase(o registrar.Order) order.Purchase {
	p := order.Purchase{Kind: order.PurchaseRegistration, Name: o.Name, Years: o.Years}
	switch o.Kind {
	case registrar.OrderRenew:
		p.Kind, p.Facts.Restore = order.PurchaseRenewal, o.Restore
	case registrar.OrderTransfer:
		p.Kind = order.PurchaseTransfer
	}
	if o.Kind != registrar.OrderRenew && !slices.Equal(o.Nameservers, r.Servers) {
		p.Nameservers = o.Nameservers
	}
	return p
}
