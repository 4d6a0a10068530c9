package sqldb_test

import (
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Zones take turns, so one whose targets answer slowly delays the others little.
func TestZonesTakeTurnsWithAliases(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		var slow []dnszone.Record
		for i := range 10 {
			slow = append(slow, dnszone.Record{Type: "ALIAS", Host: string(rune('a' + i)), Value: "slow.example.net", TTL: 60})
		}
		s.sell(t, "slow.com", slow...)
		for _, name := range []deed.Name{"one.com", "two.com"} {
			s.clock = s.clock.Add(time.Minute)
			s.sell(t, name, dnszone.Record{Type: "ALIAS", Host: "@", Value: "host.example.net", TTL: 60})
		}
		for limit, want := range map[int][]string{3: {"a/slow.com", "@/one.com", "@/two.com"}, 4: {"a/slow.com", "@/one.com", "@/two.com", "b/slow.com"}} {
			if due, err := s.zones.DueAliases(t.Context(), limit); err != nil || !slices.Equal(due, want) {
				t.Errorf("got %v, %v, want %v", due, err, want)
			}
		}
		if due, err := s.zones.DueAliases(t.Context(), 100); err != nil || len(due) != 12 {
			t.Errorf("got %v, %v", due, err)
		}
	})
}
