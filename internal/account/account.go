// Package account reports the names and transactions of a wallet. It is read-only.
package account

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// soon is how long before its expiry a name counts as expiring soon.
const soon = 30 * 24 * time.Hour

// Store reads the data of a wallet.
type Store interface {
	// Wallet returns the account of the wallet; names that expire before soon are
	// counted as expiring soon.
	Wallet(ctx context.Context, w deed.Wallet, soon time.Time) (Account, error)

	// Domains returns a page of the names of the wallet, sorted by name, and their
	// total number, unless the page is one after a position. It filters by status and by expiry before a time; zero values
	// do not filter.
	Domains(ctx context.Context, w deed.Wallet, status lifecycle.Status, before time.Time, p Page) (list []OwnedDomain, total int, err error)

	// Expiring returns the names of the wallet that expire before a time or have
	// expired and can be renewed, at most limit, the next to expire first, and their
	// total number.
	Expiring(ctx context.Context, w deed.Wallet, before time.Time, limit int) (list []lifecycle.Registration, total int, err error)

	// Transactions returns a page of the wallet's payments and refunds, newest
	// first, and their total number, unless the page is one after a position.
	Transactions(ctx context.Context, w deed.Wallet, p Page) (list []order.Movement, total int, err error)
}

// A Filter selects names of a wallet.
type Filter struct {
	Status lifecycle.Status // "" for any
	Days   int              // until expiry, at most; 0 for any
}

// Service reads accounts. Fill both fields.
type Service struct {
	Store Store
	Now   func() time.Time // the registry's clock
}

// Account returns the account of the wallet.
func (s *Service) Account(ctx context.Context, w deed.Wallet) (Account, error) {
	a, err := s.Store.Wallet(ctx, w, s.Now().Add(soon))
	if err != nil {
		return a, fmt.Errorf("read the account of %s: %w", w, err)
	}
	return a, nil
}

// Domains returns a page of the names of the wallet. It fails with CodeValidation
// when the status is unknown.
func (s *Service) Domains(ctx context.Context, w deed.Wallet, f Filter, p Page) ([]OwnedDomain, int, error) {
	if f.Status != "" && !f.Status.Known() {
		return nil, 0, deed.Invalid("status", "is one of %s", lifecycle.StatusList())
	}
	var before time.Time
	if f.Days > 0 {
		before = s.Now().AddDate(0, 0, f.Days)
	}
	list, total, err := s.Store.Domains(ctx, w, f.Status, before, p)
	if err != nil {
		return nil, 0, fmt.Errorf("read the names of %s: %w", w, err)
	}
	return list, total, nil
}

// Transactions returns a page of the wallet's payments and refunds.
func (s *Service) Transactions(ctx context.Context, w deed.Wallet, p Page) ([]order.Movement, int, error) {
	list, total, err := s.Store.Transactions(ctx, w, p)
	if err != nil {
		return nil, 0, fmt.Errorf("read the transactions of %s: %w", w, err)
	}
	return list, total, nil
}
