package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
)

// An interruptedManager calls a function once, before a DS or name servers are set.
type interruptedManager struct {
	registrar.Manager
	before func()
}

func (m *interruptedManager) interrupt() {
	if f := m.before; f != nil {
		m.before = nil
		f()
	}
}

func (m *interruptedManager) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	m.interrupt()
	return m.Manager.SetDS(ctx, name, ds)
}

func (m *interruptedManager) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	m.interrupt()
	return m.Manager.SetNameservers(ctx, name, hosts)
}

// openUnsigned returns the owner of a name whose DS is due.
func openUnsigned(t *testing.T, s *env) *mover {
	m := openMover(t, s)
	delegated(t, m.put("nameservers", away))
	delegated(t, m.put("nameservers", home)) // the DS was removed, and the move is canceled
	s.clock.advance(26 * time.Hour)          // no cache has that DS any more
	m.is("before", m.domain(t, "first.com"), "ns1.deed.example", "", 0)
	m.ds.Now = s.clock.Now
	m.ds.Ready = func(context.Context, deed.Name, time.Duration) (bool, error) { return true, nil }
	return m
}

// An owner who changes the name servers while the DS of our key is published does not keep
// that DS: the servers elsewhere have no such key. The change waits, because resolvers may
// have seen the DS.
func TestOwnerMovesWhileTheDSIsPublished(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		m.ds.Manager = &interruptedManager{Manager: s.registry, before: func() { delegated(t, m.put("nameservers", away)) }}
		if err := m.ds.Advance(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		m.is("waits", m.domain(t, "first.com"), "ns1.deed.example", "withdrawing", 0)
		m.is("moved", m.due(25*time.Hour), "ns1.example.net", "", 0)
	})
}

// The other way round, the DS is published between the steps of the owner's change.
func TestDSIsPublishedWhileTheOwnerMoves(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		s.api.Registrations.Manager = &interruptedManager{Manager: s.registry, before: func() {
			if err := m.ds.Advance(t.Context(), "first.com"); err != nil {
				t.Error(err)
			}
		}}
		delegated(t, m.put("nameservers", away))
		m.is("moved", m.due(25*time.Hour), "ns1.example.net", "", 0)
	})
}

// Registries list name servers in an order of their own. It has no meaning: the DS of a
// name that is served by us is published.
func TestOrderOfServersHasNoMeaning(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		other := slices.Clone(m.ds.Servers)
		slices.Reverse(other)
		if err := s.registry.SetNameservers(t.Context(), "first.com", other); err != nil {
			t.Fatal(err)
		}
		s.pass(t, 48*time.Hour) // the name is compared with the registry
		due, err := m.ds.Due(t.Context(), 10)
		if err != nil || len(due) != 1 {
			t.Fatalf("got %v, %v", due, err)
		}
		if err := m.ds.Advance(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		if d := m.domain(t, "first.com"); len(d.DNSSEC.DS) != 1 {
			t.Errorf("got %+v", d.DNSSEC)
		}
	})
}

// The servers of a name that are stored in another order than the configured one, by an
// earlier version or before the operator reordered them, are brought into that order when
// the name is compared with its registry, and its DS is published.
func TestStoredOrderOfServersIsCorrected(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		names := sqldb.Registrations{DB: s.db, Now: s.clock.Now, Zones: s.api.Zones.Store.(sqldb.Zones)}
		was, err := names.Registration(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		is := was
		is.Nameservers = slices.Clone(was.Nameservers)
		slices.Reverse(is.Nameservers)
		if written, err := names.UpdateRegistration(t.Context(), was, is, nil, s.clock.Now()); err != nil || !written {
			t.Fatalf("got %t, %v", written, err)
		}
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) > 0 {
			t.Fatalf("got %v, %v: this order is not found", due, err)
		}
		events := len(m.domain(t, "first.com").Events)
		s.pass(t, 48*time.Hour)
		if due, err := m.ds.Due(t.Context(), 10); err != nil || len(due) != 1 {
			t.Fatalf("the DS is due: got %v, %v", due, err)
		}
		if err := m.ds.Advance(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		d := m.domain(t, "first.com")
		m.is("published", d, m.ds.Servers[0], "", 1)
		if len(d.Events) != events {
			t.Errorf("the owner was told of an order without meaning: %+v", d.Events)
		}
	})
}

// A DS is stored for a name whose servers were written in another order since it was due.
func TestDSIsStoredWhateverTheOrderOfServers(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		m := openUnsigned(t, s)
		m.ds.Servers = slices.Clone(m.ds.Servers)
		slices.Reverse(m.ds.Servers)
		if err := m.ds.Advance(t.Context(), "first.com"); err != nil {
			t.Fatal(err)
		}
		if d := m.domain(t, "first.com"); len(d.DNSSEC.DS) != 1 {
			t.Errorf("got %+v", d.DNSSEC)
		}
	})
}
