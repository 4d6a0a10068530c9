package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const (
	insertCount = `INSERT INTO limits (ends, key, n) VALUES (1, $1, $2)`
	raiseCount  = `UPDATE limits SET n = n + $2 WHERE key = $1`
	readCount   = `SELECT coalesce(sum(n), 0) FROM limits WHERE key = $1`
)

// count returns a number that a test has stored.
func count(t *testing.T, db *sqldb.DB, key string) (n int) {
	t.Helper()
	err := db.RunTx(t.Context(), func(ctx context.Context, tx *sqldb.Tx) error {
		return tx.QueryRowContext(ctx, readCount, key).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Queued statements are executed in their order, before whatever is not queued, and at
// the latest before the commit. More than nine placeholders are counted on.
func TestQueuedStatements(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const keys = 12
		err := db.RunTx(t.Context(), func(ctx context.Context, tx *sqldb.Tx) error {
			for i := range keys {
				tx.Queue(insertCount, fmt.Sprint("key ", i), i+1)
			}
			var sum int
			if err := tx.QueryRowContext(ctx, `SELECT sum(n) FROM limits`).Scan(&sum); err != nil || sum != keys*(keys+1)/2 {
				return fmt.Errorf("read %d: %w", sum, err)
			}
			tx.Queue(raiseCount, "key 3", 40)
			if _, err := tx.ExecContext(ctx, `UPDATE limits SET n = n * 2 WHERE key = 'key 3'`); err != nil {
				return err
			}
			tx.Queue(raiseCount, "key 3", 1)
			return nil
		})
		if got := count(t, db, "key 3"); err != nil || got != 89 {
			t.Errorf("got %d, %v", got, err)
		}
	})
}

// When a required statement changes nothing, the transaction fails with its error, and
// nothing is written, wherever that is noticed.
func TestRequiredStatement(t *testing.T) {
	missing := errors.New("it is missing")
	for name, after := range map[string]func(context.Context, *sqldb.Tx) error{
		"at the end": func(context.Context, *sqldb.Tx) error { return nil },
		"before a write": func(ctx context.Context, tx *sqldb.Tx) error {
			_, err := tx.ExecContext(ctx, raiseCount, "a", 1)
			return err
		},
		"before a row": func(ctx context.Context, tx *sqldb.Tx) error {
			var n int
			return tx.QueryRowContext(ctx, readCount, "a").Scan(&n)
		},
		"before rows": func(ctx context.Context, tx *sqldb.Tx) error {
			rows, err := tx.QueryContext(ctx, readCount, "a")
			if err == nil {
				err = rows.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				for kind, run := range map[string]runTx{"tx": db.RunTx, "atOnce": db.RunAtOnce, "composed": db.RunComposed} {
					err := run(t.Context(), func(ctx context.Context, tx *sqldb.Tx) error {
						tx.Queue(insertCount, "a", 1)
						tx.Require(missing, raiseCount, "b", 1)
						tx.Queue(insertCount, "a", 1) // would break the primary key
						return after(ctx, tx)
					})
					if got := count(t, db, "a"); !errors.Is(err, missing) || got != 0 {
						t.Errorf("%s: got %v, and %d is stored", kind, err, got)
					}
				}
			})
		})
	}
}

// runTx runs a transaction.
type runTx func(context.Context, func(context.Context, *sqldb.Tx) error) error

// eachAtOnce runs a test with DB.atOnce and with DB.composed, on each database.
func eachAtOnce(t *testing.T, test func(t *testing.T, db *sqldb.DB, atOnce runTx)) {
	t.Helper()
	t.Run("at once", func(t *testing.T) {
		sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, db, db.RunAtOnce) })
	})
	t.Run("composed", func(t *testing.T) {
		sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) { test(t, db, db.RunComposed) })
	})
}

// Of transactions that read the same and write at once, none overwrites what another has
// written, and one that was too late is run again.
func TestAtOnce(t *testing.T) {
	eachAtOnce(t, func(t *testing.T, db *sqldb.DB, atOnce runTx) {
		const callers, each = 8, 10
		var runs atomic.Int64
		raise := func(ctx context.Context, tx *sqldb.Tx) error {
			runs.Add(1)
			var n int
			_, _ = tx.ExecContext(ctx, `UPDATE limits SET n = n WHERE key = 'a'`) // a lock; refused where there is no transaction
			if err := tx.QueryRowContext(ctx, readCount, "a").Scan(&n); err != nil {
				return err
			}
			tx.Queue(raiseCount, "b", 1)
			tx.RequireFirst(errors.New("it has changed"), `UPDATE limits SET n = $1 WHERE key = 'a' AND n = $2`, n+1, n)
			return nil
		}
		for _, key := range []string{"a", "b"} {
			if err := atOnce(t.Context(), func(_ context.Context, tx *sqldb.Tx) error { tx.Queue(insertCount, key, 1); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					if err := atOnce(t.Context(), raise); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if a, b := count(t, db, "a"), count(t, db, "b"); a != 1+callers*each || b != a {
			t.Errorf("got %d and %d after %d runs", a, b, runs.Load())
		}
	})
}

// A row that exists already is found by a transaction, too, which can read it.
func TestAtOnceFindsDuplicates(t *testing.T) {
	eachAtOnce(t, func(t *testing.T, db *sqldb.DB, atOnce runTx) {
		taken := errors.New("it is taken")
		insert := func(ctx context.Context, tx *sqldb.Tx) error {
			var n int
			if _, err := tx.ExecContext(ctx, `UPDATE limits SET n = n WHERE key = 'a'`); err == nil { // in a transaction
				if err := tx.QueryRowContext(ctx, readCount, "a").Scan(&n); err != nil || n > 0 {
					return errors.Join(err, taken)
				}
			}
			tx.Queue(insertCount, "a", 1)
			tx.Queue(insertCount, "b", 1)
			return nil
		}
		for i, want := range []error{nil, taken} {
			if err := atOnce(t.Context(), insert); !errors.Is(err, want) {
				t.Errorf("time %d: got %v", i+1, err)
			}
		}
		if a, b := count(t, db, "a"), count(t, db, "b"); a != 1 || b != 1 {
			t.Errorf("got %d and %d", a, b)
		}
	})
}
