package sqldb_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A binary that is older than the schema does not start, and changes nothing.
func TestOlderBinary(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deed.db")
		refuses(t, "sqlite", path, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenSQLite(ctx, path) })
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		refuses(t, "pgx", url, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenPostgres(ctx, url) })
	})
}

// refuses opens a database twice; in between a newer binary migrates it.
func refuses(t *testing.T, driver, dsn string, open func(context.Context) (*sqldb.DB, error)) {
	t.Helper()
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // only a test's connection
	if _, err := raw.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context()); err == nil || !strings.Contains(err.Error(), "it is at version 9999") {
		t.Errorf("got %v", err)
	}
}

// eachMigrated runs f on both databases, with functions that open them as the binary of an
// earlier version did, and as this one does.
func eachMigrated(t *testing.T, version int64, f func(t *testing.T, openOld, open func(context.Context) (*sqldb.DB, error))) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deed.db")
		f(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenSQLiteAt(ctx, path, version) },
			func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenSQLite(ctx, path) })
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		f(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenPostgresAt(ctx, url, version) },
			func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenPostgres(ctx, url) })
	})
}

// A row without its parent stops the start after a migration, and every later one.
func TestForeignKeysAreCheckedAfterMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deed.db")
	older, err := sqldb.OpenSQLiteAt(t.Context(), path, 49)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{`PRAGMA foreign_keys = OFF`, `INSERT INTO outbox (zone_id, serial, propagated_serial, next_at) VALUES ('none', 1, 0, 0)`} {
		if err := older.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := sqldb.OpenSQLite(t.Context(), path); err == nil || !strings.Contains(err.Error(), "rows of outbox violate a foreign key") {
			t.Errorf("got %v", err)
		}
	}
}

// A database of a binary into which a migration was merged only after a later one starts,
// and gets the earlier one.
func TestMigrationMergedLater(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "deed.db")
		migratesLater(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenSQLite(ctx, path) })
	})
	t.Run("postgres", func(t *testing.T) {
		url := sqldbtest.PostgresURL(t)
		migratesLater(t, func(ctx context.Context) (*sqldb.DB, error) { return sqldb.OpenPostgres(ctx, url) })
	})
}

func migratesLater(t *testing.T, open func(context.Context) (*sqldb.DB, error)) {
	t.Helper()
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{`ALTER TABLE delegation_moves DROP COLUMN ds`, `DELETE FROM goose_db_version WHERE version_id = 57`} {
		if err := db.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer db.Close() // closed after the test
	if _, err := db.Text(t.Context(), `SELECT count(ds) FROM delegation_moves`); err != nil {
		t.Error(err)
	}
}
