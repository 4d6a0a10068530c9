// Package account tells a wallet what it has and what it spent. It only reads.
package account

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// soon is when a name that expires counts as expiring.
const soon = 30 * 24 * time.Hour

// Store reads what belongs to a wallet.
type Store interface {
	// Wallet returns what we know of the wallet; names that expire before soon
	// are counted as such.
	Wallet(ctx context.Context, w deed.Wallet, soon time.Time) (Account, error)

	// Domains returns the names of the wallet that pass the filter, by name, and
	// how many there are in all. Those that expire before the given time count
	// as expiring; a zero time is no condition.
	Domains(ctx context.Context, w deed.Wallet, status lifecycle.Status, before time.Time, p Page) (list []OwnedDomain, total int, err error)

	// Transactions returns the wallet's payments and refunds, the newest first,
	// and how many there are in all.
	Transactions(ctx context.Context, w deed.Wallet, limit, offset int) (list []order.Movement, total int, err error)
}

// A Filter chooses among the names of a wallet.
type Filter struct {
	Status lifecycle.Status // "" for any
	Days   int              // that are left, at most; 0 for any
}

// Service answers a wallet. Fill both fields.
type Service struct {
	Store Store
	Now   func() time.Time // the registry's clock: it says what expires soon
}

// Account returns what the wallet has.
func (s *Service) Account(ctx context.Context, w deed.Wallet) (Account, error) {
	a, err := s.Store.Wallet(ctx, w, s.Now().Add(soon))
	if err != nil {
		return a, fmt.Errorf("read the account of %s: %w", w, err)
	}
	return a, nil
}

// Domains returns a page of the names that the wallet has. It fails with
// CodeValidation when there is no such status.
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

// Transactions returns a page of what the wallet paid and got back.
func (s *Service) Transactions(ctx context.Context, w deed.Wallet, limit, offset int) ([]order.Movement, int, error) {
	list, total, err := s.Store.Transactions(ctx, w, limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("read the transactions of %s: %w", w, err)
	}
	return list, total, nil
}
