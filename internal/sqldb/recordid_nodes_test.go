package sqldb_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A node of the version before may be in the middle of a change when a new one
// starts: the migration waits for it, and makes short what it wrote.
func TestMigrationWaitsForAChange(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	raw := version11(t, goose.DialectPostgres, "pgx", url)
	change, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, change, `UPDATE zones SET changed_at = changed_at WHERE domain = 'first.com'`) // so it locks the zone

	opened := make(chan error, 1)
	var db *sqldb.DB
	go func() {
		var err error
		db, err = sqldb.OpenPostgres(context.WithoutCancel(t.Context()), url)
		opened <- err
	}()
	waitUntilBlocked(t, raw, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE zones SET changed_at%'`, opened)
	exec(t, change, `UPDATE records SET died = 1800000500 WHERE id = $1 AND died IS NULL`, oldWWW)
	exec(t, change, `INSERT INTO records SELECT zone_id, id, type, host, '192.0.2.99', ttl, distance, created_at, updated_at, 1800000500, NULL FROM records WHERE id = $1 AND died = 1800000500`, oldWWW)
	exec(t, change, `UPDATE zones SET serial = 1800000500 WHERE domain = 'first.com'`)
	if err := change.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	db.Timeout = time.Minute         // a busy machine must not fail a test
	t.Cleanup(func() { db.Close() }) // the schema is dropped after the test
	z, err := newTestEnv(db).zones.Zone(t.Context(), "first.com")
	if err != nil || len(z.Records) != 2 {
		t.Fatalf("got %+v, %v", z, err)
	}
	if r, err := z.Record(oldWWW); err != nil || r.Value != "192.0.2.99" || r.ID != oldWWW.Short() {
		t.Errorf("got %+v, %v", r, err)
	}
	var long int
	if err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM records WHERE length(id) > 14`).Scan(&long); err != nil || long > 0 {
		t.Errorf("%d records have long ids, %v", long, err)
	}
}

func exec(t *testing.T, tx *sql.Tx, query string, args ...any) {
	t.Helper()
	res, err := tx.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%s touched %d rows, %v", query, n, err)
	}
}
