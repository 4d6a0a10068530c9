package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed/internal/cache/cachetest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func TestLimits(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *sqldb.DB{"sqlite": sqldbtest.SQLite, "postgres": sqldbtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			cachetest.Run(t, func(t *testing.T) cachetest.Fixture {
				now := time.Unix(1_800_000_000, 0)
				clock := func() time.Time { return now }
				return cachetest.Fixture{
					Counter: sqldb.Limits{DB: open(t), Now: clock},
					Now:     clock,
					Next:    func(w time.Duration) { now = now.Add(w) },
				}
			})
		})
	}
}

// The daily window of a caller is the same after a restart.
func TestLimitsOutliveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deed.db")
	for want := 1; want <= 3; want++ {
		db, err := sqldb.OpenSQLite(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		n, _, err := sqldb.Limits{DB: db, Now: time.Now}.Count(t.Context(), "register:192.0.2.1", 1000*24*time.Hour)
		if err != nil || n != want {
			t.Errorf("start %d: got %d, %v", want, n, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneProcessOwnsASQLiteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deed.db")
	first, err := sqldb.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqldb.OpenSQLite(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("second opening: got %v", err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}
	again, err := sqldb.OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatalf("after the first is closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Nodes that start concurrently on an empty database migrate it once.
func TestNodesStartTogether(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := sqldb.OpenPostgres(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(db.Ping(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestPingTellsTheTruth(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("open: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Ping(t.Context()); err == nil {
			t.Error("closed: got no error")
		}
	})
}

// A day may end with as many counts as an attacker has addresses: no call deletes all.
func TestEndedLimitsAreDeletedInParts(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const many = 250
		for i := range many {
			if err := db.Exec(t.Context(), `INSERT INTO limits (ends, key, n) VALUES (1, $1, 1)`, fmt.Sprint("register:", i)); err != nil {
				t.Fatal(err)
			}
		}
		limits := sqldb.Limits{DB: db, Now: time.Now}
		for i, want := range []string{"151", "52", "3"} {
			if _, _, err := limits.Count(t.Context(), fmt.Sprint("another ", i), 24*time.Hour); err != nil {
				t.Fatal(err)
			}
			if n, err := db.Text(t.Context(), `SELECT count(*) FROM limits`); err != nil || n != want {
				t.Errorf("after %d calls: %s are left, %v, want %s", i+1, n, err, want)
			}
		}
	})
}

func TestCancelledCallerChangesNothing(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		limits := sqldb.Limits{DB: db, Now: time.Now}
		if _, _, err := limits.Count(gone, "a", 24*time.Hour); err == nil {
			t.Error("a cancelled call was counted")
		}
		if n, _, err := limits.Count(t.Context(), "a", 24*time.Hour); err != nil || n != 1 {
			t.Errorf("the next: got %d, %v, want 1", n, err)
		}
	})
}

func TestPasswordStaysOutOfErrors(t *testing.T) {
	for _, url := range []string{
		"postgres://deed:hunter2@127.0.0.1:1/deed?connect_timeout=1",
		"postgres://deed:hunter2@127.0.0.1:port/deed",
		"postgres://deed:hunter2@127.0.0.1:5432/deed?sslmode=sometimes",
	} {
		_, err := sqldb.OpenPostgres(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}
