package sqldb_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Changes of the catalog get one serial when it is asked for. What was undone until then
// is no change.
func TestCatalogSerialIsOfManyChanges(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "served.com")
		s.sell(t, "twice.com")
		label, serial := s.member(t, "served.com")
		serve := func(name deed.Name, steps ...bool) {
			t.Helper()
			for _, served := range steps {
				if err := s.zones.SetServed(t.Context(), name, served); err != nil {
					t.Fatal(err)
				}
			}
		}
		serve("served.com", false, true, false)
		serve("twice.com", false, true)
		s.sell(t, "new.com")
		changes, next, err := s.served.CatalogChanges(t.Context(), serial, 10)
		if err != nil || next != serial+1 || len(changes) != 2 {
			t.Fatalf("got %+v at %d, %v, want two changes at %d", changes, next, err, serial+1)
		}
		added, _ := s.member(t, "new.com")
		for _, c := range changes {
			if c != (dnssec.MemberChange{Origin: "served.com", Label: label}) && c != (dnssec.MemberChange{Origin: "new.com", Label: added, Added: true}) {
				t.Errorf("got %+v", c)
			}
		}
		if gone, after := s.member(t, "served.com"); gone != "" || after != next {
			t.Errorf("got %q at %d, want nothing at %d", gone, after, next)
		}
		if kept, _ := s.member(t, "twice.com"); kept == "" {
			t.Error("a zone that is served again is not listed")
		}
	})
}
