package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/settle"
)

// OpenJobs stores jobs that have not ended.
type OpenJobs interface {
	Unfinished(ctx context.Context) ([]order.Job, error)

	// ResumeJob makes the job look up the last order that was placed for it, after the
	// backup.
	ResumeJob(ctx context.Context, j order.Job, placed order.Placed) error

	// CompleteRenewal ends a job whose renewal was done by the last order that was
	// placed for it: it need not wait for other renewals of the name any more.
	CompleteRenewal(ctx context.Context, j order.Job, placed order.Placed, expires time.Time) error
}

// JobReader reads jobs.
type JobReader interface {
	Job(ctx context.Context, id string) (order.Job, error)
}

// RefundedPayments reads settlements and refunds from the chain.
type RefundedPayments interface {
	settle.RefundFinder

	// RefundedAll is Refunded for many.
	RefundedAll(ctx context.Context, all []settle.Refund) ([]bool, error)

	Settle(ctx context.Context, a settle.Authorization) (txHash string, err error)
}

// resume decides on the jobs that were open in the backup.
func (r *Restore) resume(ctx context.Context, dryRun bool) error {
	jobs, err := r.Jobs.Unfinished(ctx)
	if err != nil || dryRun {
		return err
	}
	var errs []error
	for _, j := range jobs {
		if err := r.resumeJob(ctx, j); err != nil {
			errs = append(errs, fmt.Errorf("decide on job %s: %w", j.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Restore) resumeJob(ctx context.Context, j order.Job) error {
	if undone, err := r.resumeUndone(ctx, j); undone || err != nil {
		return err
	}
	o, placed, err := r.find(ctx, j.ID, false)
	if err != nil && !errors.Is(err, registrar.ErrOrdersNotSearchable) {
		return err
	}
	// A registrar that cannot be searched recognises the order when it is placed or looked
	// up again.
	p, err := r.Payments.Payment(ctx, j.PaymentID)
	if err != nil {
		return err
	}
	back, err := r.Chain.Refunded(ctx, p.Refund())
	switch {
	case err != nil:
		return err
	case !back && o.Name != "":
		return r.resumeOrder(ctx, j.ID, o, placed)
	case !back:
		return nil
	}
	if j.State == order.JobAwaitingPayment {
		if p, err = r.settled(ctx, p); err != nil {
			return err
		}
	}
	if p.State != order.PaymentSettled {
		return nil
	}
	return r.failPlaced(ctx, p, placed)
}

// failPlaced records that the payment was refunded before the restore, whatever its order
// came to.
func (r *Restore) failPlaced(ctx context.Context, p order.Payment, placed order.Placed) error {
	if err := r.Payments.FailPlaced(ctx, p, placed); err != nil {
		return err
	}
	return r.checkRefunds(ctx, p.ID)
}

// checkRefunds returns an error unless the payment is refunded, or was: another process has
// moved it first.
func (r *Restore) checkRefunds(ctx context.Context, paymentID string) error {
	p, err := r.Payments.Payment(ctx, paymentID)
	if err == nil && !p.State.Refunds() {
		err = unlessMoved(p, order.PaymentRefundDue, nil)
	}
	return err
}

// resumeOrder makes a job continue with the order that was found for it. A node stores an
// attempt before it places its order, so the job is read after the order was found: an
// order of an attempt that the job does not have was placed before the restore.
func (r *Restore) resumeOrder(ctx context.Context, id string, o registrar.Order, placed order.Placed) error {
	j, err := r.JobRows.Job(ctx, id)
	switch {
	case err != nil || j.State.Ended():
		return err
	case o.Kind == registrar.OrderRenew && j.State != order.JobAwaitingPayment:
		return r.resumeRenewal(ctx, j, o, placed)
	}
	return r.Jobs.ResumeJob(ctx, j, placed)
}

// resumeRenewal completes a renewal that is done, and cancels one that is not, unless its
// job already waits for it: perhaps a node on the restored database has placed it.
func (r *Restore) resumeRenewal(ctx context.Context, j order.Job, o registrar.Order, placed order.Placed) error {
	if j.State != order.JobQueued && j.Attempts == placed.Attempts {
		return r.completeRenewal(ctx, j, o, placed)
	}
	expires, err := r.doneRenewal(ctx, o)
	if err != nil {
		return err
	}
	return r.Jobs.CompleteRenewal(ctx, j, placed, expires)
}

// completeRenewal completes a renewal that is done, and leaves another to its job.
func (r *Restore) completeRenewal(ctx context.Context, j order.Job, o registrar.Order, placed order.Placed) error {
	status, err := r.Lookup.Order(ctx, o)
	if err != nil || status.State != registrar.OrderDone {
		return err
	}
	return r.Jobs.CompleteRenewal(ctx, j, placed, status.Expires)
}

// doneRenewal returns the expiry that a renewal led to. One that is not done is
// cancelled, with an error: by now it would start at an expiry from which another
// renewal may have started. The next run finds that its payment paid for nothing.
func (r *Restore) doneRenewal(ctx context.Context, o registrar.Order) (expires time.Time, err error) {
	status, err := r.Lookup.Order(ctx, o)
	if err != nil || status.State == registrar.OrderDone {
		return status.Expires, err
	}
	if err := r.Lookup.Cancel(ctx, o); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return time.Time{}, err
	}
	return time.Time{}, fmt.Errorf("order %s was cancelled: run this again", o.Reference)
}

// settled records the settlement of a payment that was refunded since.
func (r *Restore) settled(ctx context.Context, p order.Payment) (order.Payment, error) {
	txHash, err := r.Chain.Settle(ctx, p.Auth)
	if settle.Refused(err) {
		return p, nil // another transfer used its nonce, and the watcher handles it
	}
	if err == nil && p.State == order.PaymentAuthorized {
		p, err = r.Payments.MovePayment(ctx, p, order.PaymentSettling, "")
	}
	if err == nil && p.State == order.PaymentSettling {
		p, err = r.Payments.MovePayment(ctx, p, order.PaymentSettled, txHash)
	}
	return p, err
}
