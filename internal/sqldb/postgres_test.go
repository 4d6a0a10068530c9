//go:build unix

package sqldb_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/postgrestest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// limited returns the configuration of a service, with a client-side timeout that a
// busy machine does not reach.
func limited(url string) sqldb.PostgresConfig {
	c := sqldb.DefaultPostgres()
	c.URL, c.Timeout = url, time.Minute
	return c
}

func openWith(t *testing.T, c sqldb.PostgresConfig) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenPostgresWith(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	return db
}

// checkLimits compares the limits that the server has for a transaction of ours.
func checkLimits(t *testing.T, db *sqldb.DB) {
	t.Helper()
	for name, want := range map[string]string{"lock_timeout": "1500ms", "statement_timeout": "30s", "idle_in_transaction_session_timeout": "3s"} {
		if got, err := db.TextInTx(t.Context(), "SHOW "+name); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %s", name, got, err, want)
		}
	}
}

// The server limits every connection, and so ends those of a node that cannot do it
// itself any more.
func TestServerLimitsConnections(t *testing.T) {
	db := openWith(t, limited(sqldbtest.PostgresURL(t)))
	checkLimits(t, db)
	for _, name := range []string{"tcp_keepalives_idle", "tcp_user_timeout", "lock_timeout"} {
		if got, err := db.Text(t.Context(), "SHOW "+name); err != nil || got == "0" {
			t.Errorf("%s of a reader: got %q, %v", name, got, err)
		}
	}
}

// A node that is frozen while it holds a row does not stop the others: they do not
// wait for it long, and the server takes the row away from it.
func TestFrozenNodeLosesItsLocks(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	frozen, other := openWith(t, limited(url)), openWith(t, limited(url))
	const hold = `UPDATE calendar SET ahead = ahead WHERE id = 1`
	if _, err := sqldb.NewCalendar(other, still).Advance(t.Context(), time.Hour); err != nil { // makes the row
		t.Fatal(err)
	}
	held, thaw, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- frozen.InTx(t.Context(), func(exec func(string) error) error {
			if err := exec(hold); err != nil {
				return err
			}
			close(held)
			<-thaw
			return exec(hold)
		})
	}()
	<-held
	update := func() error {
		return other.InTx(t.Context(), func(exec func(string) error) error { return exec(hold) })
	}
	if err := update(); err == nil || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("the first to wait: got %v, want a timeout of the server", err)
	}
	for update() != nil { // the deadline of the test bounds it
	}
	close(thaw)
	if err := <-ended; err == nil {
		t.Error("the frozen node committed after it had lost its lock")
	}
}

// Behind a pooler in transaction mode everything works, with a direct address for
// notifications; without one we do not start, and say why.
func TestPgBouncer(t *testing.T) {
	server := postgrestest.Start(t)
	pooler := server.PgBouncer(t, "transaction")
	c := limited(postgrestest.URL("postgres", pooler))
	for name, direct := range map[string]string{"no direct address": "", "pooler as the direct address": c.URL} {
		c.DirectURL = direct
		if _, err := sqldb.OpenPostgresWith(t.Context(), c); err == nil || !strings.Contains(err.Error(), "database.direct_url") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	c.DirectURL = postgrestest.URL("postgres", server)
	db := openWith(t, c)
	if !db.Pooled() {
		t.Error("the pooler was not noticed")
	}
	checkLimits(t, db)
	received := listening(t, db)
	next(t, received, "")
	ended := make(chan error)
	const writers, each = 16, 10
	for range writers {
		go func() {
			var err error
			for i := 0; i < each && err == nil; i++ {
				err = sqldb.Emit(t.Context(), db, event.Event{Owner: "0xa", Type: event.JobCompleted})
			}
			ended <- err
		}()
	}
	for range writers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	page, err := sqldb.Events{DB: db}.Events(t.Context(), "0xa", writers*each-1, 10)
	if err != nil || len(page) != 1 {
		t.Errorf("got %+v, %v, want the last event", page, err)
	}
	server.Exec(t, `SELECT pg_notify('zones', 'first.com')`)
	next(t, received, "first.com")
	read, err := sqldb.OpenPostgresReadOnly(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close() // only a test's connection
	if err := read.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// A pooler in session mode may be its own direct address.
func TestPgBouncerInSessionMode(t *testing.T) {
	c := limited(postgrestest.URL("postgres", postgrestest.Start(t).PgBouncer(t, "session")))
	c.DirectURL = c.URL
	received := listening(t, openWith(t, c))
	next(t, received, "")
}

// With the addresses of a primary and its standby, writes go on after the primary was
// killed and the standby promoted, and also when a primary becomes a standby.
func TestSeveralHosts(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, primary *postgrestest.Server){
		"killed": func(_ *testing.T, primary *postgrestest.Server) { primary.Kill() },
		"demoted": func(t *testing.T, primary *postgrestest.Server) {
			primary.Exec(t, `ALTER SYSTEM SET default_transaction_read_only = on`)
			primary.Exec(t, `SELECT pg_reload_conf()`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			primary := postgrestest.Start(t)
			standby := primary.Standby(t)
			for _, url := range []string{postgrestest.URL("postgres", standby, primary), postgrestest.URL("postgres", primary, standby) + "&target_session_attrs=read-write"} {
				readOnly(t, url, openWith(t, limited(url)))
			}
			db := openWith(t, limited(postgrestest.URL("postgres", primary, standby)))
			write := func() error { return sqldb.Emit(t.Context(), db, event.Event{Owner: "0xa", Type: event.JobCompleted}) }
			if err := write(); err != nil {
				t.Fatal(err)
			}
			lose(t, primary)
			standby.Promote(t)
			for write() != nil { // the deadline of the test bounds it
			}
			if n := standby.Exec(t, `SELECT count(*) FROM owner_events`); n != "2" {
				t.Errorf("the new primary has %s events, want 2", n)
			}
		})
	}
}

// readOnly fails unless the address can be opened for commands that only read.
func readOnly(t *testing.T, url string, db *sqldb.DB) {
	t.Helper()
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("%s: %v", url, err)
	}
	read, err := sqldb.OpenPostgresReadOnly(t.Context(), limited(url))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close() // only a test's connection
	if err := read.Ping(t.Context()); err != nil {
		t.Errorf("read only at %s: %v", url, err)
	}
	if err := sqldb.Emit(t.Context(), read, event.Event{Owner: "0xb", Type: event.JobFailed}); err == nil {
		t.Errorf("%s was written to", url)
	}
}

// Transactions read what the holders of locks have left, whatever isolation the operator
// of the database has made the default, also behind a pooler. Settings with which commits
// may be lost are reported.
func TestDefaultsOfTheDatabase(t *testing.T) {
	server := postgrestest.Start(t)
	server.Exec(t, `ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'`)
	server.Exec(t, `ALTER DATABASE postgres SET synchronous_commit = 'off'`)
	c := limited(postgrestest.URL("postgres", server))
	pooled := limited(postgrestest.URL("postgres", server.PgBouncer(t, "transaction")))
	pooled.DirectURL = c.URL
	for name, config := range map[string]sqldb.PostgresConfig{"directly": c, "pooled": pooled} {
		db := openWith(t, config)
		if got, err := db.TextInTx(t.Context(), `SHOW transaction_isolation`); err != nil || got != "read committed" {
			t.Errorf("%s: a transaction: got %q, %v", name, got, err)
		}
		if got, err := db.Text(t.Context(), `SHOW transaction_isolation`); name == "directly" && (err != nil || got != "read committed") {
			t.Errorf("%s: a statement: got %q, %v", name, got, err)
		}
		lossy, err := db.LossySettings(t.Context())
		if err != nil || !slices.Contains(lossy, "synchronous_commit") {
			t.Errorf("%s: got %v, %v, want synchronous_commit among them", name, lossy, err)
		}
	}
}
