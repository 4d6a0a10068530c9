package sqldb

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// MovePayment implements fulfil.Store.
func (s Payments) MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (order.Payment, error) {
	if to == order.PaymentSettling || to == order.PaymentRefunding {
		return s.beginPayment(ctx, p, to)
	}
	next := p
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) (err error) {
		now, moved := s.Now(), false
		if next, moved, err = movePayment(ctx, tx, p, to, txHash, now); err != nil {
			return err
		}
		if moved {
			return s.afterMove(ctx, tx, p, to, now)
		}
		next, err = readPayment(ctx, tx, p.ID)
		return err
	})
	if err != nil {
		return p, err
	}
	return next, nil
}

// beginPayment stores that a payment is about to be settled or refunded, which changes
// nothing else.
func (s Payments) beginPayment(ctx context.Context, p order.Payment, to order.PaymentState) (next order.Payment, err error) {
	moved := false
	err = s.DB.single(ctx, func(ctx context.Context, tx *Tx) (err error) {
		next, moved, err = movePayment(ctx, tx, p, to, "", s.Now())
		return err
	})
	if err != nil {
		return p, err
	}
	if !moved {
		return s.Payment(ctx, p.ID)
	}
	return next, nil
}

// afterMove updates the ledger and the job after a transition.
func (s Payments) afterMove(ctx context.Context, tx *Tx, p order.Payment, to order.PaymentState, now time.Time) error {
	switch to {
	case order.PaymentSettled:
		if err := post(ctx, tx, p, settledEntry(p), now); err != nil {
			return err
		}
		return moveJob(ctx, tx, p.ID, order.JobAwaitingPayment, order.JobQueued, now)
	case order.PaymentVoid, order.PaymentReleased:
		if err := s.DB.eraseAuthCode(ctx, tx, p); err != nil {
			return err
		}
		if err := endMandateOf(ctx, tx, p, mandateEnd{order.MandateFailed, "the wallet could not pay: renew the name, or sign a new mandate", now}); err != nil {
			return err
		}
		return moveJob(ctx, tx, p.ID, order.JobAwaitingPayment, order.JobCancelled, now)
	case order.PaymentRefunded:
		return post(ctx, tx, p, ledgerEntry{name: "refunded", to: "owed", from: "refunds", amount: p.Refund().Amount}, now)
	}
	return nil
}

// movePayment makes one state transition and returns the payment after it. It returns
// false when the payment is no longer in p.State, because another process has moved it.
func movePayment(ctx context.Context, tx *Tx, p order.Payment, to order.PaymentState, txHash string, now time.Time) (order.Payment, bool, error) {
	if !p.State.CanBecome(to) {
		return p, false, fmt.Errorf("payment %s: there is no transition from %s to %s", p.ID, p.State, to)
	}
	if p.State == order.PaymentConsumed && !p.Part.Valid(p) {
		return p, false, fmt.Errorf("payment %s: %+v of it cannot be refunded", p.ID, p.Part)
	}
	settled, refunded, refundID := p.TxHash, "", p.RefundID
	switch to {
	case order.PaymentSettled:
		settled = txHash
	case order.PaymentRefunded:
		refunded = txHash
	case order.PaymentRefundDue:
		if refundID == "" {
			refundID = newPublicID("ref_")
		}
	}
	var next any
	switch to {
	case order.PaymentSettling, order.PaymentRefundDue, order.PaymentRefunding:
		next = now.Unix()
	}
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE payments SET state = $1, tx_hash = $2, refund_tx = $3, refund_id = $4, changed_at = $5, next_at = $6,
		                    tries = 0, stuck_at = NULL, cause = '', lost_at = NULL
		 WHERE id = $7 AND state = $8 AND alias_of IS NULL`,
		to, settled, refunded, refundID, now.Unix(), next, p.ID, p.State))
	if err != nil || !moved {
		return p, false, err
	}
	move := PaymentMove{From: p.State, Since: p.Changed, At: now}
	p.State, p.TxHash, p.RefundTx, p.RefundID = to, settled, refunded, refundID
	p.Changed, p.Tries, p.StuckAt = time.Unix(now.Unix(), 0), 0, time.Time{}
	move.Payment = p
	tx.moves = append(tx.moves, move)
	if e, ok := event.OfPayment(p, now); ok {
		tx.emit(e)
	}
	return p, true, nil
}

// DelayPayment implements fulfil.Store.
func (s Payments) DelayPayment(ctx context.Context, id string, d order.Delay) error {
	stuck := int64(0)
	if d.Stuck {
		stuck = s.Now().Unix()
	}
	return s.DB.single(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE payments SET next_at = $1, tries = tries + 1, cause = $2,
			                    stuck_at = CASE WHEN $3 = 0 THEN NULL ELSE coalesce(stuck_at, $3) END
			 WHERE id = $4 AND next_at IS NOT NULL`,
			d.Until.Unix(), d.Cause, stuck, id)
		return err
	})
}
