// Package account tells a wallet what it has and what it spent. It only reads.
package account

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
)

// soon is when a name that expires counts as expiring.
const soon = 30 * 24 * time.Hour

// Store reads what belongs to a wallet.
type Store interface {
	// Wallet returns what we know of the wallet; names that expire before soon
	// are counted as such.
	Wallet(ctx context.Context, w deed.Wallet, soon time.Time) (deed.Account, error)

	// Transactions returns the wallet's payments and refunds, the newest first,
	// and how many there are in all.
	Transactions(ctx context.Context, w deed.Wallet, limit, offset int) (list []deed.Movement, total int, err error)
}

// Service answers a wallet. Fill both fields.
type Service struct {
	Store Store
	Now   func() time.Time
}

// Account returns what the wallet has.
func (s *Service) Account(ctx context.Context, w deed.Wallet) (deed.Account, error) {
	a, err := s.Store.Wallet(ctx, w, s.Now().Add(soon))
	if err != nil {
		return a, fmt.Errorf("read the account of %s: %w", w, err)
	}
	return a, nil
}

// Transactions returns a page of what the wallet paid and got back.
func (s *Service) Transactions(ctx context.Context, w deed.Wallet, limit, offset int) ([]deed.Movement, int, error) {
	list, total, err := s.Store.Transactions(ctx, w, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("read the transactions of %s: %w", w, err)
	}
	return list, total, nil
}
