package sqldb_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A database that was opened read-only cannot be changed.
func TestOpenReadOnly(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (*sqldb.DB, error){
		"sqlite": func(t *testing.T) (*sqldb.DB, error) {
			path := filepath.Join(t.TempDir(), "deed.db")
			db, err := sqldb.OpenSQLite(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() }) // stands for the owning process
			return sqldb.OpenSQLiteReadOnly(path)
		},
		"postgres": func(t *testing.T) (*sqldb.DB, error) {
			url := sqldbtest.PostgresURL(t)
			db, err := sqldb.OpenPostgres(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() }) // likewise
			return sqldb.OpenPostgresReadOnly(t.Context(), sqldb.PostgresConfig{URL: url})
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() // only a test's connection
			c := sqldb.NewCalendar(db, still)
			if err := c.Sync(t.Context()); err != nil {
				t.Error(err)
			}
			if now, err := c.Advance(t.Context(), time.Hour); err == nil {
				t.Errorf("it was written to: the calendar says %s", now)
			}
		})
	}
}

// A database has data of customers, so only its owner can read it, whatever the umask and
// the mode of its folder are.
func TestDatabaseFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	db, err := sqldb.OpenSQLite(t.Context(), filepath.Join(dir, "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // only a test's connection
	for _, name := range []string{"deed.db", "deed.db-wal", "deed.db-shm", "deed.db.lock"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s: got %v, %v, want mode 0600", name, info, err)
		}
	}
}

// A node that is started on a standby says so.
func TestReadOnlyPostgresIsRefused(t *testing.T) {
	url := sqldbtest.PostgresURL(t) + "&default_transaction_read_only=on"
	db, err := sqldb.OpenPostgres(t.Context(), url)
	if err == nil {
		t.Fatal(db.Close())
	}
	if !strings.Contains(err.Error(), "database.url: this PostgreSQL accepts no writes") {
		t.Errorf("got %v", err)
	}
}
