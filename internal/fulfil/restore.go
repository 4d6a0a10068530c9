package fulfil

import (
	"context"
	"fmt"

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
		if !refunded {
			continue
		}
		if err := rows.FailRefunded(ctx, p); err != nil {
			return found, fmt.Errorf("end the job of %s: %w", p.ID, err)
		}
		found++
	}
	return found, nil
}
