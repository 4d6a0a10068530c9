package registration

import (
	"context"
	"errors"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// UndonePayments stores payments for registrations that were cancelled after the backup.
type UndonePayments interface {
	// Cancellable returns the payments of registrations that may have been cancelled
	// since, by ID, beginning after one.
	Cancellable(ctx context.Context, after string, limit int) ([]order.Payment, error)

	// RecordUndone records that a payment that is not delivered in the database was, and
	// that the amount went back when the registration was cancelled. Nothing is written
	// about a payment that another process has moved.
	RecordUndone(ctx context.Context, p order.Payment, amount deed.USDC) error
}

// A CancelRecorder stores cancellations that were done after the backup.
type CancelRecorder interface {
	// RecordCancellation ends the registration, and makes the refund due that the chain
	// has already, in one transaction.
	RecordCancellation(ctx context.Context, c lifecycle.Cancellation) error

	SecuredCancellations
}

const cancelPage = 500 // registrations that are compared with the chain at once

// endCancelled ends the registrations in the backup that were cancelled since: the chain
// has their refund.
func (r *Restore) endCancelled(ctx context.Context, dryRun bool) (all []Recovered, err error) {
	var errs []error
	for after := ""; ; {
		some, err := r.Undone.Cancellable(ctx, after, cancelPage)
		if err != nil || len(some) == 0 {
			return all, errors.Join(append(errs, err)...)
		}
		after = some[len(some)-1].ID
		refunds := make([]settle.Refund, len(some))
		for i, p := range some {
			refunds[i] = p.RefundOf(order.RefundUndo)
		}
		back, err := r.Chain.RefundedAll(ctx, refunds)
		if err != nil {
			return all, errors.Join(append(errs, fmt.Errorf("look for cancelled registrations: %w", err))...)
		}
		for i, p := range some {
			if !back[i] {
				continue
			}
			one, err := r.endOne(ctx, p, dryRun)
			if err != nil {
				errs = append(errs, fmt.Errorf("end the cancelled registration of %s: %w", p.Purchase.Name, err))
				continue // with the next one
			}
			all = append(all, one)
		}
	}
}

// endOne ends the registration that a payment bought, and that was cancelled.
func (r *Restore) endOne(ctx context.Context, p order.Payment, dryRun bool) (Recovered, error) {
	back, err := r.undone(ctx, p)
	if err != nil {
		return Recovered{}, err
	}
	is, err := r.Names.Registration(ctx, p.Purchase.Name)
	if err == nil && !dryRun {
		err = r.Cancels.RecordCancellation(ctx, lifecycle.Cancellation{
			Name: is.Name, Reference: is.Reference, Backend: is.Backend, PaymentID: p.ID, Wallet: p.Auth.Payer, Paid: p.Auth.Amount, Fee: p.Auth.Amount - back,
		})
	}
	return Recovered{Payment: p, Cancelled: back}, err
}

// undone returns what was refunded because the registration was cancelled that the payment
// bought, or 0.
func (r *Restore) undone(ctx context.Context, p order.Payment) (deed.USDC, error) {
	back, err := r.Chain.RefundedAmount(ctx, p.RefundOf(order.RefundUndo))
	if err == nil && (back < 0 || back > p.Auth.Amount) {
		err = fmt.Errorf("%s USDC of %s USDC were refunded: investigate it", back, p.Auth.Amount)
	}
	return back, err
}

// recordUndone records that the payment was delivered, and what went back.
func (r *Restore) recordUndone(ctx context.Context, p order.Payment, back deed.USDC) error {
	if err := r.Undone.RecordUndone(ctx, p, back); err != nil {
		return err
	}
	return r.checkRefunds(ctx, p.ID)
}

// resumeUndone ends the job of a registration that was delivered and cancelled since the
// backup. It returns false for one that was not.
func (r *Restore) resumeUndone(ctx context.Context, j order.Job) (bool, error) {
	if j.Purchase.Kind != order.PurchaseRegistration {
		return false, nil
	}
	p, err := r.Payments.Payment(ctx, j.PaymentID)
	if err != nil {
		return false, err
	}
	back, err := r.undone(ctx, p)
	if err != nil || back == 0 {
		return false, err
	}
	if j.State == order.JobAwaitingPayment {
		if p, err = r.settled(ctx, p); err != nil {
			return true, err
		}
	}
	return true, r.recordUndone(ctx, p, back)
}
