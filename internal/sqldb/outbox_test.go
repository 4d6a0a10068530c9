package sqldb_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

// A zone stays in the outbox until its newest change has propagated, and counts as
// behind when that takes too long.
func TestOutbox(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		s.clock = s.clock.Add(time.Second)
		due := func() int {
			t.Helper()
			names, err := s.zones.DueOutbox(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(names)
		}
		markPropagated := func(serial uint32) {
			t.Helper()
			if err := s.zones.MarkPropagated(t.Context(), "first.com", serial); err != nil {
				t.Fatal(err)
			}
		}
		behind := func() int {
			t.Helper()
			n, err := s.zones.Behind(t.Context(), s.clock.Add(-time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		first := s.zone(t, "first.com").Serial
		if due() != 1 || behind() != 0 {
			t.Errorf("a new zone: %d due, %d behind", due(), behind())
		}
		markPropagated(first)
		if due() != 0 {
			t.Error("a propagated zone is due")
		}
		s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpAdd, ID: "rec_1", Record: dnszone.Record{Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300}})
		markPropagated(first) // of the state before
		if due() != 1 {
			t.Error("a change is not due")
		}
		if err := s.zones.DelayOutbox(t.Context(), "first.com", s.clock.Add(time.Hour)); err != nil || due() != 0 {
			t.Errorf("it is due before its time: %v", err)
		}
		s.clock = s.clock.Add(2 * time.Hour)
		if due() != 1 || behind() != 1 {
			t.Errorf("two hours later: %d due, %d behind", due(), behind())
		}
		markPropagated(s.zone(t, "first.com").Serial)
		if due() != 0 || behind() != 0 {
			t.Errorf("at the end: %d due, %d behind", due(), behind())
		}
	})
}

// A change stays in the outbox while a server lacks it, is checked again after a
// few seconds, and an operator is warned once when that takes too long.
func TestPropagationChecker(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		serves := uint32(0) // the serial that the slowest server has
		now := func() time.Time { return s.clock }
		checker := zone.PropagationChecker{Outbox: s.zones, Now: now, Raise: s.zones.RaiseSerial, Query: func(_ context.Context, _ deed.Name, serial uint32) zone.Propagation {
			return zone.Propagation{InSync: serves >= serial, Latest: serves}
		}}
		var counted, warned []int
		monitor := zone.PropagationMonitor{Outbox: s.zones, Now: now, Count: func(n int) { counted = append(counted, n) }, Warn: func(n int) { warned = append(warned, n) }}
		check := func(after time.Duration, want int) {
			t.Helper()
			s.clock = s.clock.Add(after)
			names, err := checker.Due(t.Context(), 10)
			if err != nil || len(names) != want {
				t.Errorf("got %v, %v, want %d", names, err, want)
			}
			for _, name := range names {
				if err := checker.Advance(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
			if err := monitor.Check(t.Context()); err != nil {
				t.Error(err)
			}
		}
		check(time.Second, 1)
		check(time.Second, 0) // in a few seconds
		check(time.Minute, 1)
		check(time.Minute, 1)
		serves = s.zone(t, "first.com").Serial
		check(time.Minute, 1)
		check(time.Minute, 0)
		if !slices.Equal(counted, []int{0, 0, 1, 1, 0, 0}) || !slices.Equal(warned, []int{1}) {
			t.Errorf("counted %v, warned of %v", counted, warned)
		}
	})
}

// A zone of a restored database whose serial had been ahead of the clock gets a later serial
// than the name servers have, which would ignore it; not one that no clock explains.
func TestServersAheadOfARestoredZone(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		ahead := s.zone(t, "first.com").Serial + 90*86400
		checker := zone.PropagationChecker{Outbox: s.zones, Now: func() time.Time { return s.clock }, Raise: s.zones.RaiseSerial, Query: func(_ context.Context, _ deed.Name, serial uint32) zone.Propagation {
			return zone.Propagation{InSync: ahead >= serial, Latest: ahead} // a server that is ahead has this serial or a later one
		}}
		if err := checker.Advance(t.Context(), "first.com"); err != nil {
			t.Error(err)
		}
		raised := s.zone(t, "first.com").Serial
		if raised <= ahead {
			t.Errorf("got serial %d, want more than %d", raised, ahead)
		}
		ahead = raised
		s.clock = s.clock.Add(time.Minute)
		if err := checker.Advance(t.Context(), "first.com"); err != nil {
			t.Error(err)
		}
		if due, err := checker.Due(t.Context(), 10); err != nil || len(due) > 0 || s.zone(t, "first.com").Serial != raised {
			t.Errorf("got %v, %v, serial %d, want it propagated", due, err, s.zone(t, "first.com").Serial)
		}
		ahead = 1<<32 - 2
		if err := checker.Advance(t.Context(), "first.com"); err == nil || s.zone(t, "first.com").Serial != raised {
			t.Errorf("got %v, serial %d", err, s.zone(t, "first.com").Serial)
		}
	})
}

// A name that ends after it was found due is no failure.
func TestRowsOfANameThatHasEnded(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		aliases := &zone.AliasUpdater{Aliases: s.zones, Now: s.zones.Now}
		if err := aliases.Advance(t.Context(), "@/ended.com"); err != nil {
			t.Errorf("alias: %v", err)
		}
		outbox := &zone.PropagationChecker{Outbox: s.zones, Now: s.zones.Now}
		if err := outbox.Advance(t.Context(), "ended.com"); err != nil {
			t.Errorf("outbox: %v", err)
		}
	})
}
