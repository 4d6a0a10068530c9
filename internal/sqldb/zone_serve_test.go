package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Of the records that were removed from a zone, a limited number is kept. Secondaries with
// an older serial get the whole zone.
func TestRemovedServedRecordsAreLimited(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		first := s.zone(t, "first.com").Serial
		add := func(host string) {
			t.Helper()
			s.clock = s.clock.Add(24 * time.Hour)
			s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID("rec_" + host), Record: dnszone.Record{Type: "A", Host: host, Value: "192.0.2.1", TTL: 300}})
		}
		add("a")
		second := s.zone(t, "first.com").Serial
		err := db.Exec(t.Context(), `
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10001)
			INSERT INTO served (zone_id, owner, type, ttl, data, added_serial, removed_serial)
			SELECT z.id, 'first.com', 16, 300, CAST(100000 + n AS TEXT), z.serial - 1, z.serial + 1 FROM numbers, zones z WHERE z.domain = 'first.com'`)
		if err != nil {
			t.Fatal(err)
		}
		add("b")
		if _, _, _, err := s.served.Changes(t.Context(), "first.com", second); err != nil {
			t.Errorf("from the serial before: %v", err)
		}
		if _, _, _, err := s.served.Changes(t.Context(), "first.com", first); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("from the first serial: got %v", err)
		}
	})
}
