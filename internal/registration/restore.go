package registration

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deed.example/deed"
)

// LostPayments keeps money that we settled ourselves and have no request for: the
// database is older than the chain, because it came from a backup.
type LostPayments interface {
	Lost(ctx context.Context) ([]deed.Payment, error)

	// ClaimPayment has the money buy p.Purchase, for which so many orders were
	// placed before.
	ClaimPayment(ctx context.Context, p deed.Payment, attempts int) (deed.Payment, error)

	MovePayment(ctx context.Context, p deed.Payment, to deed.PaymentState, txHash string) (deed.Payment, error)
}

// Restore finishes the restore of a backup. Fill every field.
type Restore struct {
	Payments LostPayments
	Orders   deed.OrderFinder // nil when the registrar cannot find orders by our reference alone
	Lookup   deed.Registrar
	Servers  []string // ours, that a name has unless its buyer names others
}

// A Recovered is what became of one lost payment.
type Recovered struct {
	Payment deed.Payment
	Order   deed.RegistryOrder // that it had paid for; without a name it goes back
}

// Finish decides on all lost money: what paid for an order that the registrar has
// is put back into the books, where its job ends as any other; the rest goes
// back. With dryRun nothing is written. It may be called any number of times.
func (r *Restore) Finish(ctx context.Context, dryRun bool) (all []Recovered, err error) {
	lost, err := r.Payments.Lost(ctx)
	if err != nil {
		return nil, fmt.Errorf("read lost payments: %w", err)
	}
	var errs []error
	for _, p := range lost {
		order, attempts, err := r.find(ctx, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("look for the order of payment %s: %w", p.ID, err))
			continue // with those behind it
		}
		if !dryRun {
			if order.Name != "" {
				p.Purchase = r.purchase(order)
				_, err = r.Payments.ClaimPayment(ctx, p, attempts)
			} else {
				_, err = r.Payments.MovePayment(ctx, p, deed.PaymentRefundDue, "")
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("decide on payment %s: %w", p.ID, err))
				continue
			}
		}
		all = append(all, Recovered{p, order})
	}
	return all, errors.Join(errs...)
}

// find returns the order that a payment paid for, and its attempt. An order that
// may still be executed counts: its job waits for what becomes of it.
func (r *Restore) find(ctx context.Context, p deed.Payment) (deed.RegistryOrder, int, error) {
	if r.Orders == nil {
		return deed.RegistryOrder{}, 0, nil
	}
	for attempt := deed.JobAttempts; attempt > 0; attempt-- {
		reference := deed.OrderReference(deed.JobID(p.ID), attempt)
		o, err := r.Orders.FindOrder(ctx, reference)
		if deed.CodeOf(err) == deed.CodeNotFound {
			continue
		}
		if err != nil {
			return o, 0, err
		}
		status, err := r.close(ctx, reference, o.Name)
		if err != nil {
			return o, 0, err
		}
		if status.State != deed.OrderAbsent {
			return o, attempt, nil
		}
	}
	return deed.RegistryOrder{}, 0, nil
}

// close says what became of an order. One that is absent is closed first, so that
// it is not executed after its money went back.
func (r *Restore) close(ctx context.Context, reference string, name deed.Name) (deed.OrderStatus, error) {
	status, err := r.Lookup.Order(ctx, reference, name)
	if err != nil || status.State != deed.OrderAbsent {
		return status, err
	}
	if err := r.Lookup.Cancel(ctx, reference); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return status, err
	}
	return r.Lookup.Order(ctx, reference, name) // it may have been executed while we closed it
}

// purchase returns what an order was placed for. The records that a new name was to
// start with are forgotten.
func (r *Restore) purchase(o deed.RegistryOrder) deed.Purchase {
	p := deed.Purchase{Kind: deed.PurchaseRegistration, Name: o.Name, Years: o.Years}
	switch o.Kind {
	case deed.OrderRenew:
		p.Kind, p.Facts.Restore = deed.PurchaseRenewal, o.Restore
	case deed.OrderTransfer:
		p.Kind = deed.PurchaseTransfer
	}
	if o.Kind != deed.OrderRenew && !slices.Equal(o.Nameservers, r.Servers) {
		p.Nameservers = o.Nameservers
	}
	return p
}
