package sqldb_test

import (
	"database/sql"
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// While a migration waits for a session that keeps a lock, as pg_dump does, nodes go on.
func TestMigrationLetsNodesGoOn(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	old, err := sqldb.OpenPostgresAt(t.Context(), url, 55)
	if err == nil {
		err = old.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // only a test's connections
	node, err := raw.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close() // likewise
	dump, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Rollback() // it was, unless the test has failed
	if _, err := dump.ExecContext(t.Context(), `LOCK TABLE registrations IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	waitUntilBlocked(t, raw, `SELECT count(*) FROM pg_locks WHERE relation = 'registrations'::regclass AND NOT granted`, opened)
	for _, query := range []string{`SET lock_timeout = '30s'`, `SELECT count(*) FROM registrations`} {
		if _, err := node.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("a node waits for the migration: %v", err)
		}
	}
	if err := dump.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// waitUntilBlocked returns when the migration waits for us, as the query counts.
func waitUntilBlocked(t *testing.T, raw *sql.DB, query string, opened <-chan error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var n int
		if err := raw.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
		select {
		case err := <-opened:
			t.Fatalf("the migration did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatal("no session waits")
}
