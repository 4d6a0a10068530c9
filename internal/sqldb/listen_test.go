package sqldb_test

import (
	"context"
	"database/sql"
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// listening returns a channel of received payloads, "" for each connection.
func listening(t *testing.T, db *sqldb.DB) (received chan string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	received, done := make(chan string, 100), make(chan struct{})
	go func() {
		defer close(done)
		db.Listen(ctx, "zones", func(payload string) { received <- payload }, func(error) {})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return received
}

// next checks the next payload; the deadline of the test bounds the wait.
func next(t *testing.T, received chan string, want string) {
	t.Helper()
	if got := <-received; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Notifications arrive in order, also after a reconnect.
func TestListen(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	db, err := sqldb.OpenPostgres(t.Context(), url+"&application_name=listen_test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the schema is dropped after the test
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
	received := listening(t, db)
	next(t, received, "")
	exec(`SELECT pg_notify('zones', 'first.com'), pg_notify('other', 'x'), pg_notify('zones', 'second.com')`)
	next(t, received, "first.com")
	next(t, received, "second.com")
	for range 3 {
		exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listen_test' AND query LIKE 'LISTEN%'`)
		next(t, received, "")
		exec(`SELECT pg_notify('zones', 'again.com')`)
		next(t, received, "again.com")
	}
}

// On SQLite Listen receives nothing and returns when cancelled.
func TestListenOnSQLite(t *testing.T) {
	if received := listening(t, sqldbtest.SQLite(t)); len(received) != 0 {
		t.Error("something was received")
	}
}
