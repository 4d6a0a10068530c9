package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// reasonRefunded is why an order is not delivered that was refunded before a restore.
const reasonRefunded = "the payment went back to the payer before the database was restored from a backup"

// FailRefunded implements fulfil.RestoreStore.
func (s Payments) FailRefunded(ctx context.Context, p order.Payment) error {
	return s.FailPlaced(ctx, p, order.Placed{})
}

// FailPlaced implements registration.LostPayments. It is one transaction, so that no node
// delivers the order in between.
func (s Payments) FailPlaced(ctx context.Context, p order.Payment, placed order.Placed) error {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if p.State != order.PaymentUnclaimed {
			return s.failRefunded(ctx, tx, p, placed)
		}
		if _, err := lockPayer(ctx, tx, p.Auth.Payer); err != nil {
			return err
		}
		if err := s.claim(ctx, tx, p, placed); err != nil {
			return err
		}
		claimed, err := readPayment(ctx, tx, p.ID)
		if err != nil || claimed.State != order.PaymentSettled {
			return err // another process has moved it
		}
		return s.failRefunded(ctx, tx, claimed, placed)
	})
	if p.State == order.PaymentUnclaimed && deed.CodeOf(err) == deed.CodeDomainUnavailable {
		_, err = s.MovePayment(ctx, p, order.PaymentRefundDue, "") // the name is somebody else's by now
	}
	return err
}

// failRefunded fails the job of a settled payment that was refunded. An order that was
// placed for it is looked up, because its registry may still execute it.
func (s Payments) failRefunded(ctx context.Context, tx *Tx, p order.Payment, placed order.Placed) error {
	now := s.Now()
	_, moved, err := movePayment(ctx, tx, p, paymentMove{to: order.PaymentRefundDue, at: now})
	if err != nil || !moved {
		return err
	}
	if err := failJob(ctx, tx, order.JobID(p.ID), placed, now); err != nil {
		return err
	}
	if err := s.DB.eraseAuthCode(ctx, tx, p); err != nil {
		return err
	}
	if err := endMandateOf(ctx, tx, p, mandateEnd{order.MandateFailed, reasonRefunded, now}); err != nil {
		return err
	}
	j, err := s.DB.readJob(ctx, tx, order.JobID(p.ID))
	if err != nil {
		return err
	}
	if err := watchLateOrder(ctx, tx, j, now); err != nil {
		return err
	}
	if e, ok := event.OfJob(j, now); ok {
		tx.emit(e)
	}
	return nil
}

// failJob fails a job whatever it waits for, with the order that was placed for it.
func failJob(ctx context.Context, tx *Tx, id string, placed order.Placed, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, failure = $2, updated_at = $3, next_at = NULL, steps = steps || $4 WHERE id = $5`,
		order.JobFailed, reasonRefunded, now.Unix(), nextStep(order.JobFailed, now), id)
	if err == nil && placed.Attempts > 0 {
		_, err = tx.ExecContext(ctx, `
			UPDATE jobs SET attempts = $1, reference = $2, backend = $3 WHERE id = $4 AND attempts <= $1`,
			placed.Attempts, order.OrderReference(id, placed.Attempts), placed.Backend, id)
	}
	if err != nil {
		return err
	}
	return dropClaim(ctx, tx, id)
}
