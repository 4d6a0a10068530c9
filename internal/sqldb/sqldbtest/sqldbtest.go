// Package sqldbtest opens fresh databases for tests: a new SQLite file, and a new schema
// in the PostgreSQL server that `make test` starts.
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

// Each runs f once on every kind of database.
func Each(t *testing.T, f func(t *testing.T, db *sqldb.DB)) {
	t.Run("sqlite", func(t *testing.T) { f(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, Postgres(t)) })
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

// Postgres opens a new schema that is dropped after the test.
func Postgres(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenPostgres(t.Context(), PostgresURL(t))
	return opened(t, db, err)
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

// PostgresURL returns the URL of a new schema that is dropped after the test.
func PostgresURL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		t.Skip("TEST_POSTGRES_URL is not set: `make test` starts a PostgreSQL server and sets it")
	}
	schema := "test_" + strings.ToLower(rand.Text())
	exec := func(query string) {
		db, err := sql.Open("pgx", server)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close() // only closes idle connections
		if _, err := db.ExecContext(context.Background(), query); err != nil {
			t.Error(err)
		}
	}
	exec("CREATE SCHEMA " + schema)
	t.Cleanup(func() { exec("DROP SCHEMA " + schema + " CASCADE") })
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
