package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// In place of a zone that is not served there is an empty one with a newer serial;
// when it is served again, its serial is newer still.
func TestEmptyZoneAfterWithdrawal(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		r := s.sell(t, "first.com", dnszone.Record{Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300})
		before, err := s.served.Zone(t.Context(), "first.com")
		if err != nil {
			t.Fatal(err)
		}
		if z, err := s.zones.Empty(t.Context(), "first.com"); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("of a served zone: got %v, %v", z, err)
		}
		if z, err := s.zones.Empty(t.Context(), "never.com"); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("of an unknown zone: got %v, %v", z, err)
		}
		withdrawn := r
		withdrawn.Status, withdrawn.Updated = lifecycle.StatusRedemption, s.clock
		s.update(t, r, withdrawn)
		empty, err := s.zones.Empty(t.Context(), "first.com")
		if err != nil || empty.Serial != before.Serial+1 || len(empty.RRs) != 3 {
			t.Errorf("withdrawn: got serial %d with %d records, %v, want %d with SOA and two NS", empty.Serial, len(empty.RRs), err, before.Serial+1)
		}
		s.clock = s.clock.Add(-time.Hour) // even if the clock is behind
		restored := withdrawn
		restored.Status, restored.Updated = lifecycle.StatusActive, s.clock.Add(2*time.Hour)
		s.update(t, withdrawn, restored)
		after, err := s.served.Zone(t.Context(), "first.com")
		if err != nil || int32(after.Serial-empty.Serial) <= 0 || len(after.RRs) != len(before.RRs) {
			t.Errorf("restored: got serial %d with %d records, %v, want more than %d", after.Serial, len(after.RRs), err, empty.Serial)
		}
	})
}
