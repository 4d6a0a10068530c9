package fulfil

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// RestoreStore stores payments that are not delivered yet.
type RestoreStore interface {
	// Undelivered returns the payments that are settled and not consumed.
	Undelivered(ctx context.Context) ([]order.Payment, error)

	// FailRefunded fails the job of a payment that was refunded before the database
	// was restored.
	FailRefunded(ctx context.Context, p order.Payment) error

	// RecordUndone records that the payment was delivered, and that the amount went back
	// when the registration was cancelled.
	RecordUndone(ctx context.Context, p order.Payment, amount deed.USDC) error
}

// CheckRefunds looks for refunds on the chain of payments that the database has as
// settled and undelivered, which happens after a backup was restored. Call it before
// anything is delivered. It returns how many it found.
func (s *Service) CheckRefunds(ctx context.Context, rows RestoreStore) (found int, err error) {
	finder, ok := s.Refunder.(settle.RefundFinder)
	if !ok {
		return 0, nil
	}
	open, err := rows.Undelivered(ctx)
	if err != nil {
		return 0, fmt.Errorf("read undelivered payments: %w", err)
	}
	for _, p := range open {
		refunded, err := finder.Refunded(ctx, p.Refund())
		if err != nil {
			return found, fmt.Errorf("look up a refund of %s: %w", p.ID, err)
		}
		if refunded {
			err = rows.FailRefunded(ctx, p)
		} else {
			refunded, err = recordUndone(ctx, finder, rows, p)
		}
		if err != nil {
			return found, fmt.Errorf("end the job of %s: %w", p.ID, err)
		}
		if refunded {
			found++
		}
	}
	return found, nil
}

// recordUndone ends the job of a registration that was delivered and cancelled before the
// database was restored. It returns false when there is no refund for that.
func recordUndone(ctx context.Context, finder settle.RefundFinder, rows RestoreStore, p order.Payment) (bool, error) {
	if p.Purchase.Kind != order.PurchaseRegistration {
		return false, nil
	}
	amount, err := finder.RefundedAmount(ctx, p.RefundOf(order.RefundUndo))
	if err != nil || amount == 0 {
		return false, err
	}
	return true, rows.RecordUndone(ctx, p, amount)
}
