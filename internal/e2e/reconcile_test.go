package e2e_test

import (
	"context"
	"fmt"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

// reconcile compares the env with its registry. It calls meanwhile when it pauses.
func (s *env) reconcile(t *testing.T, meanwhile ...func()) (found map[string]lifecycle.DifferenceKind, all registration.Reconciliation) {
	t.Helper()
	all, err := registration.Reconciler{Names: sqldb.Registrations{DB: s.db, Now: s.clock.Now}, Inventory: s.registry, Manager: s.registry, Pause: func(context.Context) {
		for _, f := range meanwhile {
			f()
		}
	}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found = map[string]lifecycle.DifferenceKind{}
	for _, d := range all.Differences {
		found[string(d.Name)] = d.What
	}
	return found, all
}

// Every change at the registry that was not made here is found, and nothing else;
// the lifecycle then adopts the registry's state.
func TestReconcile(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for _, name := range []string{"same.com", "lock.com", "servers.com", "signed.com", "longer.com", "gone.com"} {
			s.bought(t, name)
		}
		s.pass(t, 61*day)
		if found, all := s.reconcile(t); len(found) != 0 || all.Stored != 6 || all.Registry != 6 {
			t.Errorf("got %+v", all)
		}
		ctx, r := t.Context(), s.registry
		code, err := r.AuthCode(ctx, "gone.com")
		for _, act := range []func() error{
			func() error { return r.SetLock(ctx, "lock.com", false) },
			func() error {
				return r.SetNameservers(ctx, "servers.com", []string{"ns1.example.net", "ns2.example.net"})
			},
			func() error {
				return r.SetDS(ctx, "signed.com", []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: fmt.Sprintf("%064x", 1)}})
			},
			func() error {
				return r.Place(ctx, registrar.Order{Kind: registrar.OrderRenew, Reference: "by hand", Name: "longer.com", Years: 1, From: s.domain(t, "longer.com").ExpiresAt})
			},
			func() error {
				return r.Place(ctx, registrar.Order{Kind: registrar.OrderRegister, Reference: "by hand too", Name: "unknown.com", Years: 1, Nameservers: []string{"ns1.example.net", "ns2.example.net"}})
			},
			func() error { return r.SetLock(ctx, "gone.com", false) },
			func() error { return r.Leave(ctx, "gone.com", code) },
			func() error { return r.Decide(ctx, "gone.com", true) },
		} {
			if err == nil {
				err = act()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		found, all := s.reconcile(t)
		want := map[string]lifecycle.DifferenceKind{
			"lock.com": lifecycle.DiffersLock, "servers.com": lifecycle.DiffersNameservers, "signed.com": lifecycle.DiffersDS, "longer.com": lifecycle.DiffersExpiry,
			"unknown.com": lifecycle.DiffersUnknown, "gone.com": lifecycle.DiffersMissing,
		}
		if fmt.Sprint(found) != fmt.Sprint(want) || all.Stored != 6 || all.Registry != 6 {
			t.Errorf("got %+v, want %v", all, want)
		}
		s.pass(t, day+1)
		if found, all := s.reconcile(t); fmt.Sprint(found) != fmt.Sprint(map[string]lifecycle.DifferenceKind{"unknown.com": lifecycle.DiffersUnknown}) {
			t.Errorf("a day later: got %+v, want that gone.com has left", all)
		}
	})
}

// A pending change or order is not a difference.
func TestReconcileIgnoresPendingChanges(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		s.pass(t, 61*day)
		if got := s.transfer(t, "moving.com", code.Reveal(), s.promise(s.buyer(t), s.transferPrice(t)).header(t)); got.status != 202 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		s.clock.advance(6 * day) // the transfer has completed at the registry, without a notification
		if err := s.registry.SetLock(t.Context(), "first.com", false); err != nil {
			t.Fatal(err)
		}
		if found, all := s.reconcile(t); fmt.Sprint(found) != "map[first.com:lock]" || all.Ordered != 1 {
			t.Errorf("got %+v", all)
		}
		relock := func() {
			if err := s.registry.SetLock(t.Context(), "first.com", true); err != nil {
				t.Error(err)
			}
		}
		if found, all := s.reconcile(t, relock); len(found) != 0 || all.Ordered != 1 {
			t.Errorf("with an act on its way: got %+v", all)
		}
		s.runWorker(t)
		if found, all := s.reconcile(t); len(found) != 0 || all.Ordered != 0 || all.Stored != 2 {
			t.Errorf("when all is done: got %+v", all)
		}
	})
}

// The registry is read page by page, to the end.
func TestReconcileManyNames(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		const many = 1003
		for i := range many {
			err := s.registry.Place(t.Context(), registrar.Order{
				Kind: registrar.OrderRegister, Reference: fmt.Sprint(i), Name: deed.Name(fmt.Sprintf("name-%d.com", i)), Years: 1, Nameservers: []string{"ns1.example.net", "ns2.example.net"},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if found, all := s.reconcile(t); all.Registry != many || len(found) != many || len(all.Differences) != many {
			t.Errorf("got %d of %d, and %d differences", all.Registry, many, len(all.Differences))
		}
	})
}
