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
func SQLite(t testing.TB) *sqldb.DB {
	t.Helper()
	db, err := sqldb.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	return opened(t, db, err)
}

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
