package sqldb_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// shortIDs is how the id of a record looks (API.md, 3).
var shortIDs = regexp.MustCompile(`^[a-z0-9]{1,14}$`)

func TestNewRecordIDs(t *testing.T) {
	seen := map[dnszone.RecordID]bool{}
	for range 10_000 {
		id := sqldb.NewRecordID()
		if !shortIDs.MatchString(string(id)) || id.Short() != id || seen[id] {
			t.Fatalf("got %q", id)
		}
		seen[id] = true
	}
}

// Ids of testdata/version11.sql, by what the record is.
const (
	oldApex = dnszone.RecordID("rec_gcqhuvqw52qnhtnuj4li2rxhb7")
	oldText = dnszone.RecordID("rec_wc4cl4o6sv32ch5vasd7hceypx") // deleted
	oldWWW  = dnszone.RecordID("rec_3cte2zmbhaibmpoz5a4j6lz6uu") // changed
	oldAPI  = dnszone.RecordID("rec_tp4jiopcui4b5ixoxacegokpvd") // not added yet
)

// eachVersion11 runs f on a database that was at version 11, with its records,
// and was opened by this version.
func eachVersion11(t *testing.T, f func(t *testing.T, db *sqldb.DB, raw *sql.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deed.db")
		raw := version11(t, goose.DialectSQLite3, "sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)")
		f(t, openNow(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenSQLite(ctx, path) }), raw)
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		raw := version11(t, goose.DialectPostgres, "pgx", url)
		f(t, openNow(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenPostgres(ctx, url) }), raw)
	})
}

// version11 makes the tables of version 11 and fills them.
func version11(t *testing.T, dialect goose.Dialect, driver, dsn string) *sql.DB {
	t.Helper()
	raw, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() }) // only a test's connections
	p, err := goose.NewProvider(dialect, raw, os.DirFS("migrations"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), 11); err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("testdata/version11.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), string(rows)); err != nil {
		t.Fatal(err)
	}
	return raw
}

func openNow(t *testing.T, open func(context.Context) (*sqldb.DB, error)) *sqldb.DB {
	t.Helper()
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db.Timeout = time.Minute         // a busy machine must not fail a test
	t.Cleanup(func() { db.Close() }) // the database is deleted after the test
	return db
}

// The records of an older database have short ids, which follow from the old
// ones, in every edition; what they say has not changed.
func TestMigrationMakesRecordIDsShort(t *testing.T) {
	eachVersion11(t, func(t *testing.T, db *sqldb.DB, raw *sql.DB) {
		s := newTestEnv(db)
		z, err := s.zones.Zone(t.Context(), "first.com")
		if err != nil || len(z.Records) != 2 {
			t.Fatalf("got %+v, %v", z, err)
		}
		for _, want := range []dnszone.Record{{ID: oldApex.Short(), Host: "@", Value: "192.0.2.1"}, {ID: oldWWW.Short(), Host: "www", Value: "192.0.2.11"}} {
			if r, err := z.Record(want.ID); err != nil || !shortIDs.MatchString(string(r.ID)) || r.Host != want.Host || r.Value != want.Value {
				t.Errorf("got %+v, %v, want %+v", r, err, want)
			}
		}
		var long int
		if err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM records WHERE length(id) > 14`).Scan(&long); err != nil || long > 0 {
			t.Errorf("%d records have long ids, %v", long, err)
		}
		// What a change left behind is found by either id, as its stored purchase or
		// a caller names it.
		for _, id := range []dnszone.RecordID{oldWWW, oldWWW.Short()} {
			for revision, want := range map[uint32]string{1_800_000_060: "192.0.2.10", 1_800_000_120: "192.0.2.11"} {
				if r, err := s.zones.RecordAt(t.Context(), "first.com", id, revision); err != nil || r.Value != want || r.ID != oldWWW.Short() {
					t.Errorf("%s at %d: got %+v, %v", id, revision, r, err)
				}
			}
		}
		before, after, err := s.zones.Around(t.Context(), "first.com", 1_800_000_180)
		if err != nil || len(before) != 3 || len(after) != 2 {
			t.Errorf("got %d and %d records, %v", len(before), len(after), err)
		}
		wantSound(t, db)
	})
}

// A payment of that time is bound to the same purchase as before: its stored
// fingerprint is that of a request which names the record by its old id.
func TestMigrationKeepsFingerprints(t *testing.T) {
	eachVersion11(t, func(t *testing.T, db *sqldb.DB, raw *sql.DB) {
		value, ttl := "192.0.2.11", 300
		requests := map[string]dnszone.Change{
			"3": {Kind: dnszone.ChangeUpdate, Ops: []dnszone.RecordOp{{Op: dnszone.OpUpdate, ID: oldWWW, Patch: dnszone.RecordPatch{Value: &value}}}},
			"4": {Kind: dnszone.ChangeDelete, Ops: []dnszone.RecordOp{{Op: dnszone.OpDelete, ID: oldText}}},
			"6": {Kind: dnszone.ChangeUpdate, Ops: []dnszone.RecordOp{{Op: dnszone.OpUpdate, ID: oldWWW, Patch: dnszone.RecordPatch{TTL: &ttl}}}},
			"7": {Kind: dnszone.ChangeDelete, Ops: []dnszone.RecordOp{{Op: dnszone.OpDelete, ID: oldApex}}},
		}
		for nonce, c := range requests {
			c.Zone, c.By = "first.com", wallet
			var stored string
			if err := raw.QueryRowContext(t.Context(), `SELECT fingerprint FROM payments WHERE nonce = $1`, nonce).Scan(&stored); err != nil {
				t.Fatal(err)
			}
			if got := order.PurchaseOf(c).Fingerprint(); got != stored {
				t.Errorf("payment %s: got %s, want %s", nonce, got, stored)
			}
		}
	})
}

// Changes that were paid for before are made after the migration, though they
// name records by their old ids, and the record that one of them adds has a short
// one.
func TestChangesFromBeforeTheMigration(t *testing.T) {
	eachVersion11(t, func(t *testing.T, db *sqldb.DB, _ *sql.DB) {
		s := newTestEnv(db)
		s.clock = noon.Add(time.Hour)
		due, err := s.jobs.DueChanges(t.Context(), 10)
		if err != nil || len(due) != 3 {
			t.Fatalf("got %v, %v", due, err)
		}
		for _, id := range due {
			j, err := s.jobs.Job(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, done, err := s.zones.ChangeZone(t.Context(), j); err != nil || !done {
				t.Fatal(done, err)
			}
			if j, err = s.jobs.Job(t.Context(), id); err != nil || j.State != order.JobCompleted {
				t.Errorf("got %s: %s, %v", j.State, j.Failure, err)
			}
			if op := j.Purchase.Change.Ops[0]; op.Op == dnszone.OpAdd {
				if r, err := s.zones.RecordAt(t.Context(), j.Purchase.Name, op.ID, j.Revision); err != nil || r.ID != oldAPI.Short() {
					t.Errorf("got %+v, %v", r, err)
				}
			}
		}
		z, err := s.zones.Zone(t.Context(), "first.com")
		if err != nil || len(z.Records) != 2 {
			t.Fatalf("got %+v, %v", z, err)
		}
		if r, err := z.Record(oldAPI); err != nil || r.ID != oldAPI.Short() || r.Value != "192.0.2.20" {
			t.Errorf("got %+v, %v", r, err)
		}
		if r, err := z.Record(oldWWW); err != nil || r.ID != oldWWW.Short() || r.TTL != 300 {
			t.Errorf("got %+v, %v", r, err)
		}
		wantSound(t, db)
	})
}

// Old record ids stay valid, also mixed with new ones.
func TestOldRecordIDsStayValid(t *testing.T) {
	eachVersion11(t, func(t *testing.T, db *sqldb.DB, _ *sql.DB) {
		s := newTestEnv(db)
		s.clock, s.sold = noon.Add(time.Hour), 100
		ttl, fresh := 60, sqldb.NewRecordID()
		s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpUpdate, ID: oldWWW, Patch: dnszone.RecordPatch{TTL: &ttl}},
			dnszone.RecordOp{Op: dnszone.OpAdd, ID: fresh, Record: dnszone.Record{Type: "TXT", Host: "@", Value: "new", TTL: 60}}, dnszone.RecordOp{Op: dnszone.OpDelete, ID: oldApex})
		z, err := s.zones.Zone(t.Context(), "first.com")
		if err != nil || len(z.Records) != 2 {
			t.Fatalf("got %+v, %v", z, err)
		}
		if r, err := z.Record(oldWWW); err != nil || r.TTL != 60 || r.ID != oldWWW.Short() {
			t.Errorf("got %+v, %v", r, err)
		}
		s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpDelete, ID: oldWWW.Short()}, dnszone.RecordOp{Op: dnszone.OpDelete, ID: fresh})
		if z, err := s.zones.Zone(t.Context(), "first.com"); err != nil || len(z.Records) != 0 {
			t.Errorf("got %+v, %v", z, err)
		}
		wantSound(t, db)
	})
}

// While nodes are replaced one at a time, one of the version before may write a
// record with an id of its own kind. It is shown, changed and deleted by either.
func TestRecordsOfAnEarlierNode(t *testing.T) {
	eachVersion11(t, func(t *testing.T, db *sqldb.DB, raw *sql.DB) {
		s := newTestEnv(db)
		s.clock, s.sold = noon.Add(time.Hour), 100
		ttl := 60
		for i, id := range []dnszone.RecordID{oldWWW, oldWWW.Short()} {
			old := oldWWW[:len(oldWWW)-1] + dnszone.RecordID(rune('a'+i))
			if _, err := raw.ExecContext(t.Context(), `UPDATE records SET id = $1 WHERE id = $2 AND removed_serial IS NULL`, old, oldWWW.Short()); err != nil {
				t.Fatal(err)
			}
			z, err := s.zones.Zone(t.Context(), "first.com")
			if err != nil || len(z.Records) != 2 || z.Records[1].ID != oldWWW.Short() {
				t.Fatalf("got %+v, %v", z, err)
			}
			ttl += 60
			s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpUpdate, ID: id, Patch: dnszone.RecordPatch{TTL: &ttl}})
			z, err = s.zones.Zone(t.Context(), "first.com")
			if r, none := z.Record(id); err != nil || none != nil || r.TTL != ttl || r.ID != oldWWW.Short() || len(z.Records) != 2 {
				t.Errorf("got %+v, %v", z, err)
			}
			wantSound(t, db)
		}
		if _, err := raw.ExecContext(t.Context(), `UPDATE records SET id = $1 WHERE id = $2 AND removed_serial IS NULL`, oldApex, oldApex.Short()); err != nil {
			t.Fatal(err)
		}
		s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpDelete, ID: oldApex.Short()})
		if z, err := s.zones.Zone(t.Context(), "first.com"); err != nil || len(z.Records) != 1 {
			t.Errorf("got %+v, %v", z, err)
		}
		wantSound(t, db)
	})
}

// A record id is never reused within a zone: the change fails and is refunded.
func TestRecordIDIsNeverUsedAgain(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "first.com")
		add := func(id dnszone.RecordID, host string) dnszone.RecordOp {
			return dnszone.RecordOp{Op: dnszone.OpAdd, ID: id, Record: dnszone.Record{Type: "A", Host: host, Value: "192.0.2.1", TTL: 60}}
		}
		s.change(t, "first.com", add("gone", "a"), add("lives", "b"))
		s.change(t, "first.com", dnszone.RecordOp{Op: dnszone.OpDelete, ID: "gone"})
		for _, id := range []dnszone.RecordID{"gone", "lives"} {
			j := s.paid(t, order.PurchaseOf(dnszone.Change{Kind: dnszone.ChangeBatch, Zone: "first.com", By: wallet, Ops: []dnszone.RecordOp{add("fresh", "c"), add(id, "d")}}))
			if _, done, err := s.zones.ChangeZone(t.Context(), j); err != nil || !done {
				t.Fatal(done, err)
			}
			p, err := s.payments.Payment(t.Context(), j.PaymentID)
			if j, failed := s.jobs.Job(t.Context(), j.ID); failed != nil || j.State != order.JobFailed || err != nil || p.State != order.PaymentRefundDue {
				t.Errorf("%s: the job is %s, the payment %s, %v, %v", id, j.State, p.State, failed, err)
			}
		}
		if z, err := s.zones.Zone(t.Context(), "first.com"); err != nil || len(z.Records) != 1 || z.Records[0].ID != "lives" {
			t.Errorf("got %+v, %v", z, err)
		}
		// Another zone may use it: ids are unique per zone.
		s.sell(t, "second.com")
		s.change(t, "second.com", add("gone", "a"))
		wantSound(t, db)
	})
}

// wantSound fails the test when an invariant is violated.
func wantSound(t *testing.T, db *sqldb.DB) {
	t.Helper()
	findings, err := sqldb.Audit{DB: db}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Broken > 0 {
			t.Errorf("%d × %s", f.Broken, f.Invariant)
		}
	}
}
