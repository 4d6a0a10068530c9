package sqldb_test

import (
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// What an older binary would lose is what the migrations after its version have added.
func TestSchemaSaysWhatAnOlderBinaryLoses(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		version, added, err := db.Schema(t.Context(), 31)
		if err != nil || version < 36 {
			t.Fatalf("got %d, %v", version, err)
		}
		found := map[string]bool{}
		for _, a := range added {
			if a.Version <= 31 || a.Rows != 0 {
				t.Errorf("got %+v", a)
			}
			found[a.Table+"."+a.Column] = true
		}
		if !found["aliases."] || !found["registrations.roid"] || !found["registrations.ds_next_at"] || found["mandates."] || found["zones.ds_next_at"] {
			t.Errorf("got %v", found)
		}
		if _, _, err := db.Schema(t.Context(), 21); err != nil {
			t.Error(err)
		}
		if _, none, err := db.Schema(t.Context(), version); err != nil || len(none) > 0 {
			t.Errorf("got %v, %v", none, err)
		}
	})
}
