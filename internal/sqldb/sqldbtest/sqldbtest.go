// Package sqldbtest opens fresh databases for tests: a new SQLite file, and a new database
// or schema in the PostgreSQL server that `make test` starts.
package sqldbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
)

// Each runs f on every kind of database, on all at the same time. It returns before they
// have ended, so it must be the last call of a test.
func Each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, Postgres(t))
	})
}

// SQLite opens a new file that is deleted after the test.
//
// The migrations run once for each test binary, because they take longer than most
// tests; the file of each test is a copy of what they left.
func SQLite(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenSQLite(t.Context(), SQLiteFile(t))
	return opened(t, db, err)
}

// Memory opens an empty database in memory that is closed after the test.
func Memory(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenMemory(t.Context())
	return opened(t, db, err)
}

// SQLiteFile returns the path of a new, empty database of today's version.
func SQLiteFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deed.db")
	image, err := migrated()
	if err == nil {
		err = os.WriteFile(path, image, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// migrated returns the bytes of an empty database of today's version.
var migrated = sync.OnceValues(func() (image []byte, err error) {
	dir, err := os.MkdirTemp("", "deed-sqldbtest-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // only a copy is needed
	path := filepath.Join(dir, "deed.db")
	db, err := sqldb.OpenSQLite(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Postgres opens a new database that is dropped after the test. It is a copy of what the
// migrations left, like that of SQLite.
func Postgres(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenPostgres(t.Context(), MigratedPostgresURL(t))
	return opened(t, db, err)
}

// MigratedPostgresURL returns the URL of a new, empty database of today's version, which
// is dropped after the test. It is made of copies of the template's files, which takes a
// quarter of the processor time of PostgreSQL's default.
func MigratedPostgresURL(t testing.TB) string {
	t.Helper()
	server := postgresServer(t)
	template, err := migratedPostgres()
	if err != nil {
		t.Fatal(err)
	}
	name := newName("test_")
	if err := execute(server, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY FILE_COPY"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return databaseOf(server, name)
}

// migratedPostgres returns the name of an empty database of today's version. It stays on
// the server, which ends with the tests.
var migratedPostgres = sync.OnceValues(func() (name string, err error) {
	server := os.Getenv("TEST_POSTGRES_URL")
	name = newName("template_")
	if err := execute(server, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	db, err := sqldb.OpenPostgres(context.Background(), databaseOf(server, name))
	if err != nil {
		return "", err
	}
	return name, db.Close()
})

// newName returns a name that no other test has.
func newName(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// databaseOf returns the URL of a database on the server.
func databaseOf(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // it was used before
	}
	u.Path = "/" + name
	return u.String()
}

// postgresServer returns the URL of the server that `make test` starts.
func postgresServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		t.Skip("TEST_POSTGRES_URL is not set: `make test` starts a PostgreSQL server and sets it")
	}
	return server
}

// execute executes a statement on a connection of its own.
func execute(server, query string) error {
	db, err := sql.Open("pgx", server)
	if err != nil {
		return err
	}
	defer db.Close() // only closes idle connections
	_, err = db.ExecContext(context.Background(), query)
	return err
}

func opened(t testing.TB, db *sqldb.DB, err error) *sqldb.DB {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	db.Timeout = time.Minute         // a busy machine must not fail a test
	t.Cleanup(func() { db.Close() }) // the database goes away with the test
	return db
}

// PostgresURL returns the URL of a new, empty schema that is dropped after the test.
func PostgresURL(t testing.TB) string {
	t.Helper()
	server, schema := postgresServer(t), newName("test_")
	if err := execute(server, "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// Zones returns an unsigned zone store.
func Zones(db *sqldb.DB, now func() time.Time) sqldb.Zones {
	return sqldb.Zones{DB: db, Now: now, Publishing: dnssec.Publishing{
		SOA: dnssec.NewSOA("ns1.deed.example", "hostmaster.deed.example"), Servers: []string{"ns1.deed.example", "ns2.deed.example"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}}
}

// AdmitAll admits every payment.
func AdmitAll(order.Payer) error { return nil }
