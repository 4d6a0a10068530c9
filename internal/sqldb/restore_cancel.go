package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Cancellable implements registration.UndonePayments.
func (s Payments) Cancellable(ctx context.Context, after string, limit int) ([]order.Payment, error) {
	return readPayments(ctx, s.DB.read, `
		WHERE state = 'consumed' AND kind = 'registration' AND chain_id = $1 AND asset = $2 AND id > $3
		  AND EXISTS (SELECT 1 FROM registrations r WHERE r.payment_id = payments.id) ORDER BY id LIMIT $4`, s.ChainID, s.Asset, after, limit)
}

// RecordCancellation implements registration.CancelRecorder. The cancellation may be open
// in the backup, or may have been given up there.
func (s Cancellations) RecordCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := lockPayer(ctx, tx, c.Wallet); err != nil {
			return err
		}
		now := s.Now().Unix()
		marked, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrations SET cancelling_at = $1 WHERE domain = $2 AND reference = $3 AND payment_id = $4`, now, c.Name, c.Reference, c.PaymentID))
		if err == nil && !marked {
			err = fmt.Errorf("the registration of %s has changed meanwhile: run this again", c.Name)
		}
		if err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `
			INSERT INTO cancellations (reference, domain, backend, payment_id, wallet, paid, fee, state, created_at, next_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 'deleting', $8, $8)
			ON CONFLICT (reference) DO UPDATE SET paid = excluded.paid, fee = excluded.fee, state = 'deleting', reason = '', next_at = excluded.next_at
			RETURNING tries`,
			c.Reference, c.Name, c.Backend, c.PaymentID, c.Wallet, c.Paid, c.Fee, now).Scan(&c.Tries)
		if err != nil {
			return fmt.Errorf("store the cancellation of %s: %w", c.Name, err)
		}
		return s.finish(ctx, tx, c)
	})
}

// SecuredCancellations implements registration.CancelRecorder.
func (s Cancellations) SecuredCancellations(ctx context.Context) (all []lifecycle.Cancellation, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, selectCancellation+`WHERE state = 'deleting' AND secured_at IS NOT NULL ORDER BY reference`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanCancellation(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// UnsecureCancellation implements registration.CancelRecorder.
func (s Cancellations) UnsecureCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		changed, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE cancellations SET secured_at = NULL WHERE reference = $1 AND state = 'deleting' AND tries = $2`, c.Reference, c.Tries))
		if err == nil && !changed {
			err = errors.New("another process has changed it meanwhile: run this again")
		}
		return err
	})
}

// RecordUndone implements registration.UndonePayments and fulfil.RestoreStore. The name of
// an unclaimed payment is not known: its registry has deleted it.
func (s Payments) RecordUndone(ctx context.Context, p order.Payment, amount deed.USDC) error {
	part := order.PartRefund{Label: order.RefundUndo, Amount: amount, Reason: "the registration that it paid for was cancelled before the database was restored from a backup"}
	if !part.Valid(p) {
		return fmt.Errorf("payment %s: %s USDC of %s USDC cannot have been refunded", p.ID, amount, p.Auth.Amount)
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) (err error) {
		now, delivered := s.Now(), true
		switch p.State {
		case order.PaymentUnclaimed:
		case order.PaymentSettled:
			p, delivered, err = movePayment(ctx, tx, p, paymentMove{to: order.PaymentConsumed, at: now})
			if err == nil && delivered {
				err = s.endUndone(ctx, tx, p, amount, now)
			}
		default:
			return nil
		}
		if err != nil || !delivered {
			return err
		}
		owed, err := owePart(ctx, tx, p, part, now)
		if err == nil && owed {
			post(tx, p, now, consumedEntry(p))
		}
		return err
	})
}

// endUndone completes the job of a registration that was delivered and cancelled, and
// records both. It was deleted at its registry, so it gets no zone.
func (s Payments) endUndone(ctx context.Context, tx *Tx, p order.Payment, refunded deed.USDC, now time.Time) error {
	j, err := s.DB.readJob(ctx, tx, order.JobID(p.ID))
	if err != nil {
		return err
	}
	attempts := max(j.Attempts, 1)
	reference := order.OrderReference(j.ID, attempts)
	_, err = tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, attempts = $2, reference = $3, updated_at = $4, next_at = NULL, steps = steps || $5 WHERE id = $6`,
		order.JobCompleted, attempts, reference, now.Unix(), nextStep(order.JobCompleted, now), j.ID)
	if err != nil {
		return err
	}
	if err := dropClaim(ctx, tx, j.ID); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO former_registrations (reference, domain, owner, payment_id, created_at, expires_at, ended_at, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'cancelled')`,
		reference, p.Purchase.Name, j.Owner, p.ID, j.Created.Unix(), j.Created.AddDate(p.Purchase.Years, 0, 0).Unix(), now.Unix())
	if err != nil {
		return fmt.Errorf("record the registration of %s: %w", p.Purchase.Name, err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO cancellations (reference, domain, backend, payment_id, wallet, paid, fee, state, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'done', $8)`,
		reference, p.Purchase.Name, j.Backend, p.ID, p.Auth.Payer, p.Auth.Amount, p.Auth.Amount-refunded, now.Unix())
	if err != nil {
		return fmt.Errorf("record the cancellation of %s: %w", p.Purchase.Name, err)
	}
	return nil
}
