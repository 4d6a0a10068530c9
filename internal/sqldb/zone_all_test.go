package sqldb_test

import (
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// What is done to all zones is done in several transactions: each ends within its timeout,
// however many zones there are, and owners wait for a part of them only.
func TestAllZonesAreChangedInParts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		err := db.Exec(t.Context(), `
			WITH RECURSIVE given (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM given WHERE n < 2500)
			INSERT INTO zones (id, domain, serial, member, generation, renew_at, changed_at, ended_at)
			SELECT 'zone_' || n, 'n' || n || '.com', 1, 'm' || n, 1, 0, 1, CASE WHEN n > 2400 THEN 1 END FROM given`)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.zones.Republish(t.Context()); err != nil || n != 2401 {
			t.Errorf("republish: got %d, %v", n, err)
		}
		if n, err := s.zones.RequestKeyRolls(t.Context(), "n7.com"); err != nil || n != 1 {
			t.Errorf("the key of one zone: got %d, %v", n, err)
		}
		if n, err := s.zones.RequestKeyRolls(t.Context(), ""); err != nil || n != 2400 { // all others
			t.Errorf("all keys: got %d, %v", n, err)
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM zones WHERE renew_at = 1 AND ended_at IS NULL`); err != nil || n != "2401" {
			t.Errorf("got %s zones that are due, %v", n, err)
		}
		if db.Kind() != "PostgreSQL" { // which says what wrote a row
			return
		}
		for _, table := range []string{"zones WHERE renew_at = 1", "key_rolls"} {
			if n, err := db.Text(t.Context(), `SELECT max(n) FROM (SELECT count(*) AS n FROM `+table+` GROUP BY xmin::text) AS parts`); err != nil || n != "1000" {
				t.Errorf("got %s rows of one transaction, %v: %s", n, err, table)
			}
		}
	})
}
