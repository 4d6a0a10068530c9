package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// A ledgerEntry transfers an amount between two accounts. Reason is why a part of a
// payment was returned.
type ledgerEntry struct {
	name, to, from string
	amount         deed.USDC
	reason         string
}

func settledEntry(p order.Payment) ledgerEntry {
	return ledgerEntry{name: "settled", to: "treasury", from: "owed", amount: p.Auth.Amount}
}

func consumedEntry(p order.Payment) ledgerEntry {
	return ledgerEntry{name: "consumed", to: "owed", from: "revenue", amount: p.Auth.Amount}
}

// post queues entries of the payment: each is two lines that sum to zero.
func post(tx *Tx, p order.Payment, now time.Time, entries ...ledgerEntry) {
	var lines [][]any
	for _, e := range entries {
		lines = append(lines,
			[]any{p.ID, e.name, e.to, e.amount, now.Unix(), e.reason},
			[]any{p.ID, e.name, e.from, -e.amount, now.Unix(), e.reason})
	}
	tx.queueRows("ledger", []string{"payment_id", "entry", "account", "amount", "at", "reason"}, lines)
}

// RefundPart makes a part of a consumed payment due for refund. It returns false, and
// writes nothing, when the payment is not consumed, or no longer.
func (s Payments) RefundPart(ctx context.Context, paymentID string, part order.PartRefund) (refunded bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		refunded, err = refundPart(ctx, tx, paymentID, part, s.Now())
		return err
	})
	return refunded, err
}

// refundPart makes a part of a consumed payment due for refund: it is taken out of the
// revenue, with the reason, and owed to the payer. It returns false when the payment is
// not consumed, or no longer.
func refundPart(ctx context.Context, tx *Tx, paymentID string, part order.PartRefund, now time.Time) (bool, error) {
	p, err := readPayment(ctx, tx, paymentID)
	if err != nil || p.State != order.PaymentConsumed {
		return false, err
	}
	return owePart(ctx, tx, p, part, now)
}

// owePart makes a part of a payment due for refund. It returns false when another process
// has moved the payment.
func owePart(ctx context.Context, tx *Tx, p order.Payment, part order.PartRefund, now time.Time) (bool, error) {
	p.Part = part
	_, moved, err := movePayment(ctx, tx, p, paymentMove{to: order.PaymentRefundDue, at: now})
	if err != nil || !moved {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE payments SET refund_amount = $1, refund_label = $2, refund_reason = $3 WHERE id = $4`,
		part.Amount, part.Label, part.Reason, p.ID)
	if err != nil {
		return false, err
	}
	post(tx, p, now, ledgerEntry{name: "returned", to: "revenue", from: "owed", amount: part.Amount, reason: part.Reason})
	return true, nil
}
