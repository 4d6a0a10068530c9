package account_test

import (
	"context"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// store remembers what it was asked for.
type store struct {
	soon, before time.Time
	status       lifecycle.Status
}

func (s *store) Wallet(_ context.Context, w deed.Wallet, soon time.Time) (account.Account, error) {
	s.soon = soon
	return account.Account{Wallet: w}, nil
}

func (s *store) Domains(_ context.Context, _ deed.Wallet, status lifecycle.Status, before time.Time, _ account.Page) ([]account.OwnedDomain, int, error) {
	s.status, s.before = status, before
	return nil, 0, nil
}

func (s *store) Transactions(context.Context, deed.Wallet, int, int) ([]order.Movement, int, error) {
	return nil, 0, nil
}

// A name expires soon when it has thirty days left or fewer, by the registry's clock.
func TestExpiringSoon(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	s := &store{}
	service := &account.Service{Store: s, Now: func() time.Time { return now }}
	if _, err := service.Account(t.Context(), "0x01"); err != nil || !s.soon.Equal(now.AddDate(0, 0, 30)) {
		t.Errorf("got %s, %v", s.soon, err)
	}
}

// A filter that names no days asks for all; a status that does not exist is an error.
func TestFilter(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	s := &store{}
	service := &account.Service{Store: s, Now: func() time.Time { return now }}
	ask := func(f account.Filter) error {
		_, _, err := service.Domains(t.Context(), "0x01", f, account.Page{Limit: 1})
		return err
	}
	if err := ask(account.Filter{}); err != nil || !s.before.IsZero() {
		t.Errorf("got %s, %v", s.before, err)
	}
	if err := ask(account.Filter{Status: lifecycle.StatusActive, Days: 7}); err != nil || !s.before.Equal(now.AddDate(0, 0, 7)) || s.status != lifecycle.StatusActive {
		t.Errorf("got %s, %s, %v", s.before, s.status, err)
	}
	if err := ask(account.Filter{Status: "lost"}); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("got %v", err)
	}
}
