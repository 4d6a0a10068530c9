package sqldb_test

import (
	"context"
	"database/sql"
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// listening tells what was heard, "" for each connection.
func listening(t *testing.T, db *sqldb.DB) (heard chan string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	heard, done := make(chan string, 100), make(chan struct{})
	go func() {
		defer close(done)
		db.Listen(ctx, "zones", func(payload string) { heard <- payload }, func(error) {})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return heard
}

// next is what is heard next; the test's own deadline ends a wait for nothing.
func next(t *testing.T, heard chan string, want string) {
	t.Helper()
	if got := <-heard; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// What is sent is heard in order, on a new connection too when the old one is
// cut.
func TestListen(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	db, err := sqldb.OpenPostgres(t.Context(), url+"&application_name=listen_test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the schema goes away with the test
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // likewise
	exec := func(query string) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	heard := listening(t, db)
	next(t, heard, "")
	exec(`SELECT pg_notify('zones', 'first.com'), pg_notify('other', 'x'), pg_notify('zones', 'second.com')`)
	next(t, heard, "first.com")
	next(t, heard, "second.com")
	for range 3 {
		exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listen_test' AND query LIKE 'LISTEN%'`)
		next(t, heard, "")
		exec(`SELECT pg_notify('zones', 'again.com')`)
		next(t, heard, "again.com")
	}
}

// SQLite has one process, which hears nothing and ends when it is told to.
func TestListenAlone(t *testing.T) {
	if heard := listening(t, sqldbtest.SQLite(t)); len(heard) != 0 {
		t.Error("something was heard")
	}
}
