package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// MovePayment implements fulfil.Store.
func (s Payments) MovePayment(ctx context.Context, p order.Payment, to order.PaymentState, txHash string) (next order.Payment, err error) {
	err = s.DB.atOnce(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		if next, err = queueMove(tx, p, errNotMoved, paymentMove{to, txHash, now}); err != nil {
			return err
		}
		return s.afterMove(ctx, tx, p, to, now)
	})
	if errors.Is(err, errNotMoved) { // another process was faster
		next, err = s.Payment(ctx, p.ID)
	}
	if err != nil {
		return p, err
	}
	return next, nil
}

// afterMove updates the ledger and the job after a transition.
func (s Payments) afterMove(ctx context.Context, tx *Tx, p order.Payment, to order.PaymentState, now time.Time) error {
	switch to {
	case order.PaymentSettled:
		post(tx, p, now, settledEntry(p))
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
		post(tx, p, now, ledgerEntry{name: "refunded", to: "owed", from: "refunds", amount: p.Refund().Amount})
	}
	return nil
}

// A paymentMove is a transition of a payment.
type paymentMove struct {
	to     order.PaymentState
	txHash string // of the transfer that settles or refunds it
	at     time.Time
}

const updatePayment = `
	UPDATE payments SET state = $1, tx_hash = $2, refund_tx = $3, refund_id = $4, changed_at = $5, next_at = $6,
	                    tries = 0, stuck_at = NULL, cause = '', lost_at = NULL
	 WHERE id = $7 AND CASE WHEN lost_at IS NULL THEN 0 ELSE 1 END = $8 AND state = $9 AND alias_of IS NULL`

// apply returns the payment after the transition, and the arguments of updatePayment.
func (m paymentMove) apply(p order.Payment) (next order.Payment, args []any, err error) {
	if !p.State.CanBecome(m.to) {
		return p, nil, fmt.Errorf("payment %s: there is no transition from %s to %s", p.ID, p.State, m.to)
	}
	if p.State == order.PaymentConsumed && !p.Part.Valid(p) {
		return p, nil, fmt.Errorf("payment %s: %+v of it cannot be refunded", p.ID, p.Part)
	}
	next = p
	next.State, next.RefundTx, next.Lost = m.to, "", false
	next.Changed, next.Tries, next.StuckAt = time.Unix(m.at.Unix(), 0), 0, time.Time{}
	switch m.to {
	case order.PaymentSettled:
		next.TxHash = m.txHash
	case order.PaymentRefunded:
		next.RefundTx = m.txHash
	case order.PaymentRefundDue:
		if next.RefundID == "" {
			next.RefundID = newPublicID("ref_")
		}
	}
	var due any
	switch m.to {
	case order.PaymentSettling, order.PaymentRefundDue, order.PaymentRefunding:
		due = m.at.Unix()
	}
	return next, []any{m.to, next.TxHash, next.RefundTx, next.RefundID, m.at.Unix(), due, p.ID, boolInt(p.Lost), p.State}, nil
}

// movePayment makes a transition and returns the payment after it. It returns false when
// the payment is no longer in p.State, because another process has moved it, or was parked
// meanwhile.
func movePayment(ctx context.Context, tx *Tx, p order.Payment, m paymentMove) (order.Payment, bool, error) {
	next, args, err := m.apply(p)
	if err != nil {
		return p, false, err
	}
	moved, err := rowsAffected(tx.ExecContext(ctx, updatePayment, args...))
	if err != nil || !moved {
		return p, false, err
	}
	tx.observe(p, next, m.at)
	return next, true, nil
}

// queueMove queues a transition, or several as one statement, and returns the payment
// after it. The transaction fails with none when another process has moved the payment.
func queueMove(tx *Tx, p order.Payment, none error, moves ...paymentMove) (order.Payment, error) {
	stored, args := []any{boolInt(p.Lost), p.State}, []any(nil)
	for _, m := range moves {
		next, last, err := m.apply(p)
		if err != nil {
			return p, err
		}
		tx.observe(p, next, m.at)
		p, args = next, last
	}
	copy(args[len(args)-len(stored):], stored)
	tx.require(none, updatePayment, args...)
	return p, nil
}

// observe adds a transition to what is told after the commit.
func (tx *Tx) observe(before, after order.Payment, at time.Time) {
	tx.moves = append(tx.moves, PaymentMove{Payment: after, From: before.State, Since: before.Changed, At: at})
	if e, ok := event.OfPayment(after, at); ok {
		tx.emit(e)
	}
}

// DelayPayment implements fulfil.Store.
func (s Payments) DelayPayment(ctx context.Context, id string, d order.Delay) error {
	stuck := int64(0)
	if d.Stuck {
		stuck = s.Now().Unix()
	}
	return s.DB.atOnce(ctx, func(_ context.Context, tx *Tx) error {
		tx.queue(`
			UPDATE payments SET next_at = $1, tries = tries + 1, cause = $2,
			                    stuck_at = CASE WHEN $3 = 0 THEN NULL ELSE coalesce(stuck_at, $3) END
			 WHERE id = $4 AND next_at IS NOT NULL`,
			d.Until.Unix(), storable(d.Cause), stuck, id)
		return nil
	})
}
