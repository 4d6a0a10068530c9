package payment

import (
	"context"
	"fmt"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// RestoreStore keeps payments whose purchase is still to be delivered.
type RestoreStore interface {
	// Undelivered returns the payments whose money has come and is not used yet.
	Undelivered(ctx context.Context) ([]order.Payment, error)

	// FailRefunded ends the job of a payment that was paid back before the
	// database was restored: nothing is delivered for it.
	FailRefunded(ctx context.Context, p order.Payment) error
}

// CheckRefunds looks whether the chain has refunds of payments that the books call
// paid and undelivered: the database came from a backup, and went on from there
// once before. Call it before anything is delivered. It returns how many it found.
func (s *Service) CheckRefunds(ctx context.Context, rows RestoreStore) (found int, err error) {
	finder, ok := s.Settler.(settle.RefundFinder)
	if !ok {
		return 0, nil
	}
	open, err := rows.Undelivered(ctx)
	if err != nil {
		return 0, fmt.Errorf("read what is to be delivered: %w", err)
	}
	for _, p := range open {
		refunded, err := finder.Refunded(ctx, settle.Refund{PaymentID: p.ID, Payer: p.Auth.Payer, Nonce: p.Auth.Nonce, Amount: p.Auth.Amount})
		if err != nil {
			return found, fmt.Errorf("look for a refund of %s: %w", p.ID, err)
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
