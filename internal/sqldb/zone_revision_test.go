package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// New signatures have a new serial, and the records are at the revision of the last change:
// who has read them can still change them on that condition, and restore them later.
func TestSignaturesAreNoRevision(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const name = "example.com"
		s := newTestEnv(db)
		s.sell(t, name, dnszone.Record{Type: "TXT", Host: "@", Value: "the first", TTL: 300})
		s.clock = s.clock.Add(time.Hour)
		s.change(t, name, dnszone.RecordOp{Op: dnszone.OpAdd, ID: "second", Record: dnszone.Record{Type: "TXT", Host: "@", Value: "the second", TTL: 300}})
		list, err := s.zones.Revisions(t.Context(), name)
		if err != nil || len(list) != 2 {
			t.Fatalf("got %v, %v", list, err)
		}
		for range 2 {
			s.clock = s.clock.Add(time.Hour)
			if err := s.zones.Resign(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		for _, cached := range []bool{true, false} {
			if !cached {
				db.ForgetZones()
			}
			z, err := s.zones.Zone(t.Context(), name)
			if err != nil || z.Revision != list[0].Serial || z.Serial != s.zone(t, name).Serial || z.Serial <= z.Revision {
				t.Fatalf("got revision %d, serial %d, %v, want revision %d", z.Revision, z.Serial, err, list[0].Serial)
			}
			if records, err := s.zones.RecordsAt(t.Context(), name, z.Revision); err != nil || len(records) != 2 {
				t.Errorf("got %v, %v", records, err)
			}
			c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: z.Owner, IfRevision: z.Revision, Ops: []dnszone.RecordOp{{Op: dnszone.OpDelete, ID: "second"}}}
			if next, err := c.Apply(z, s.clock); err != nil || next.Revision != next.Serial || next.Serial <= z.Serial {
				t.Errorf("got revision %d, serial %d, %v", next.Revision, next.Serial, err)
			}
		}
	})
}
