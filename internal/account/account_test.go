package account_test

import (
	"context"
	"slices"
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
	expiring     []lifecycle.Registration
}

func (s *store) Wallet(_ context.Context, w deed.Wallet, soon time.Time) (account.Account, error) {
	s.soon = soon
	return account.Account{Wallet: w}, nil
}

func (s *store) Domains(_ context.Context, _ deed.Wallet, status lifecycle.Status, before time.Time, _ account.Page) ([]account.OwnedDomain, int, error) {
	s.status, s.before = status, before
	return nil, 0, nil
}

func (s *store) Transactions(context.Context, deed.Wallet, account.Page) ([]order.Movement, int, error) {
	return nil, 0, nil
}

func (s *store) Expiring(_ context.Context, _ deed.Wallet, before time.Time, limit int) ([]lifecycle.Registration, int, error) {
	s.before = before
	return slices.Clone(s.expiring[:min(limit, len(s.expiring))]), len(s.expiring), nil
}

// Owners are warned of what ends within thirty days, most urgent first, and of how
// much more there is.
func TestWarnings(t *testing.T) {
	now := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	s := &store{}
	service := &account.Service{Store: s, Now: func() time.Time { return now }}
	if got, err := service.Warnings(t.Context(), "0x01"); err != nil || got == nil || len(got) != 0 || !s.before.Equal(now.AddDate(0, 0, 30)) {
		t.Errorf("without names: got %#v, %v", got, err)
	}
	name := func(status lifecycle.Status, left time.Duration) lifecycle.Registration {
		return lifecycle.Registration{Name: "a.com", Status: status, Expires: now.Add(left)}
	}
	const day = 24 * time.Hour
	for want, r := range map[string]lifecycle.Registration{
		"a.com expires on 2026-03-31, in 30 days: renew it to keep it":                                                         name(lifecycle.StatusActive, 30*day),
		"a.com expires on 2026-03-03, in 1 day: renew it to keep it":                                                           name(lifecycle.StatusActive, 47*time.Hour),
		"a.com expires on 2026-03-01, in less than a day: renew it to keep it":                                                 name(lifecycle.StatusSuspended, time.Hour),
		"the term of a.com ends on 2026-03-01, and another registrar has asked for it: it can be renewed when that is decided": name(lifecycle.StatusTransferring, time.Hour),
		"a.com expired on 2026-02-28: renew it, or it stops working when its grace ends":                                       name(lifecycle.StatusExpired, -day),
		"a.com expired on 2026-01-20 and does not work any more: renew it, with its restore fee, or it is deleted":             name(lifecycle.StatusRedemption, -40*day),
		"": name(lifecycle.StatusActive, 30*day+1),
	} {
		if got := account.Warning(r, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for range 13 {
		s.expiring = append(s.expiring, name(lifecycle.StatusActive, day))
	}
	if got, err := service.Warnings(t.Context(), "0x01"); err != nil || len(got) != 11 || got[10] != "3 more names end soon, too" {
		t.Errorf("got %q, %v", got, err)
	}
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
