package sqldb_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// compareCached fails unless the zone is the same with and without what is cached.
func (s *testEnv) compareCached(t *testing.T, name deed.Name) {
	t.Helper()
	read := func() (dnszone.Zone, any) {
		z, err := s.zones.Zone(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		served, err := s.served.Zone(t.Context(), string(name))
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			t.Fatal(err)
		}
		return z, served
	}
	z, served := read()
	s.zones.DB.ForgetZones()
	fresh, freshServed := read()
	if !reflect.DeepEqual(z, fresh) {
		t.Errorf("cached: %+v, stored: %+v", z, fresh)
	}
	if !reflect.DeepEqual(served, freshServed) {
		t.Errorf("cached: %+v, stored: %+v", served, freshServed)
	}
}

// What is cached of a zone is what the database has, after changes of this node and of
// another, renewed signatures, withdrawals and changes that failed.
func TestCachedZones(t *testing.T) {
	const name = "example.com"
	steps := func(t *testing.T, nodes ...*testEnv) {
		dice := rand.New(rand.NewPCG(5, 6))
		for _, n := range nodes {
			n.clock = n.clock.Add(123_456_789) // the database has whole seconds
		}
		nodes[0].sell(t, name, dnszone.Record{Type: "TXT", Host: "@", Value: "the first", TTL: 300})
		nodes[0].compareCached(t, name)
		for i := range 60 {
			s := nodes[dice.IntN(len(nodes))]
			s.sold = 1000 * (i + 1) // nonces and IDs that no node has used
			var err error
			switch dice.IntN(8) {
			case 0:
				err = s.zones.Resign(t.Context(), name)
			case 1:
				err = s.zones.SetServed(t.Context(), name, dice.IntN(2) == 0)
			case 2:
				s.fail(t, name)
			default:
				s.change(t, name, s.randomOps(t, dice, name)...)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range nodes {
				n.clock = n.clock.Add(time.Duration(dice.IntN(2)) * time.Hour)
				if dice.IntN(3) == 0 { // the others keep what they have
					n.compareCached(t, name)
				}
			}
		}
		for _, n := range nodes {
			n.compareCached(t, name)
		}
	}
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { steps(t, newTestEnv(db)) })
	t.Run("two nodes", func(t *testing.T) {
		url := sqldbtest.MigratedPostgresURL(t)
		var nodes []*testEnv
		for range 2 {
			db, err := sqldb.OpenPostgres(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() }) // the database goes away with the test
			db.Timeout = time.Minute
			nodes = append(nodes, newTestEnv(db))
		}
		steps(t, nodes...)
	})
}

// fail makes a change that is refused when it is to be applied.
func (s *testEnv) fail(t *testing.T, name deed.Name) {
	t.Helper()
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: name, By: wallet, Ops: []dnszone.RecordOp{{Op: dnszone.OpDelete, ID: "rec_never"}}}
	j := s.paid(t, order.PurchaseOf(c))
	if _, _, err := s.zones.ChangeZone(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if j, err := s.jobs.Job(t.Context(), j.ID); err != nil || j.State != order.JobFailed {
		t.Fatalf("got %s, %v", j.State, err)
	}
}

// The cache is bounded, whatever is changed.
func TestCachedZonesAreBounded(t *testing.T) {
	s := newTestEnv(sqldbtest.SQLite(t))
	var ops []dnszone.RecordOp
	for i := range 100 {
		ops = append(ops, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprintf("rec_%d", i)), Record: dnszone.Record{Type: "TXT", Host: fmt.Sprint("h", i), Value: "x", TTL: 60}})
	}
	for i := range 120 {
		name := deed.Name(fmt.Sprintf("bounded%d.com", i))
		s.sell(t, name)
		for k := range ops {
			ops[k].ID = dnszone.RecordID(fmt.Sprintf("rec_%d_%d", i, k))
		}
		s.change(t, name, ops...)
	}
	if zones, size := s.zones.DB.CachedZones(); zones == 0 || zones >= 120 || size > 4<<20 {
		t.Errorf("%d zones are cached, the younger ones with %d bytes", zones, size)
	}
}
