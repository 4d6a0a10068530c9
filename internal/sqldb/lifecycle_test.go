package sqldb_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// An owner action during a registry query is not overwritten by its older answer, even
// within one second.
func TestOwnerActionDuringRegistryQuery(t *testing.T) {
	acts := map[string]func(r *lifecycle.Registration){
		"nameservers": func(r *lifecycle.Registration) { r.Nameservers = []string{"ns1.example.net", "ns2.example.net"} },
		"lock":        func(r *lifecycle.Registration) { r.Locked = !r.Locked },
		"handover":    func(r *lifecycle.Registration) { r.Owner = "0x00000000000000000000000000000000000000aa" },
	}
	for kind, change := range acts {
		t.Run(kind, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				s := newTestEnv(db)
				s.sell(t, "first.com")
				was, err := s.names.Registration(t.Context(), "first.com")
				if err != nil {
					t.Fatal(err)
				}
				is := was
				change(&is)
				if err := s.names.RecordAction(t.Context(), is, lifecycle.OwnerAction{Wallet: was.Owner, Kind: lifecycle.ActionKind(kind)}); err != nil {
					t.Fatal(err)
				}
				late := was
				late.Status = lifecycle.StatusExpired
				if written, err := s.names.UpdateRegistration(t.Context(), was, late, nil, s.clock); err != nil || written {
					t.Errorf("written %v, %v", written, err)
				}
				got, err := s.names.Registration(t.Context(), "first.com")
				if err != nil || got.Locked != is.Locked || got.Owner != is.Owner || !slices.Equal(got.Nameservers, is.Nameservers) || got.Status != was.Status {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		})
	}
}

// Concurrent owner actions do not overwrite each other.
func TestConcurrentActions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		was, err := s.names.Registration(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		const heir = "0x00000000000000000000000000000000000000aa"
		unlocked, moved, given := was, was, was
		unlocked.Locked = !was.Locked
		moved.Nameservers = []string{"ns1.example.net", "ns2.example.net"}
		given.Owner, given.Locked = heir, unlocked.Locked
		if err := s.names.RecordAction(t.Context(), given, lifecycle.OwnerAction{Wallet: was.Owner, Kind: lifecycle.ActionHandover, After: 1}); !errors.Is(err, lifecycle.ErrConcurrentAction) {
			t.Errorf("a handover with a concurrent action: %v", err)
		}
		for _, act := range []struct {
			kind lifecycle.ActionKind
			is   lifecycle.Registration
		}{{lifecycle.ActionUnlock, unlocked}, {lifecycle.ActionNameservers, moved}, {lifecycle.ActionHandover, given}} {
			if err := s.names.RecordAction(t.Context(), act.is, lifecycle.OwnerAction{Wallet: was.Owner, Kind: act.kind, After: 2}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.names.Registration(t.Context(), "first.com")
		if err != nil || got.Locked != unlocked.Locked || !slices.Equal(got.Nameservers, moved.Nameservers) || got.Owner != heir {
			t.Errorf("got %+v, %v", got, err)
		}
		s.clock = s.clock.Add(time.Minute)
		if due, err := s.names.DueNames(t.Context(), "", 10); err != nil || !slices.Contains(due, "first.com") {
			t.Errorf("it is not compared with the registry: %v, %v", due, err)
		}
	})
}

// An action that is not stored, because the DS was changed meanwhile, may have been done at
// the registry: the name is compared soon.
func TestRefusedActionIsCompared(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		was, err := s.names.Registration(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		if written, err := s.names.UpdateRegistration(t.Context(), was, was, nil, s.clock.Add(24*time.Hour)); err != nil || !written {
			t.Fatal(written, err)
		}
		stale := lifecycle.OwnerAction{Wallet: was.Owner, Kind: lifecycle.ActionNameservers, HadDS: []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "ab"}}}
		if err := s.names.RecordAction(t.Context(), was, stale); !errors.Is(err, lifecycle.ErrConcurrentAction) {
			t.Fatal(err)
		}
		s.clock = s.clock.Add(time.Minute)
		if due, err := s.names.DueNames(t.Context(), "", 10); err != nil || !slices.Contains(due, "first.com") {
			t.Errorf("got %v, %v", due, err)
		}
	})
}
