package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func openFresh(t *testing.T) *DB {
	t.Helper()
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.Timeout = time.Hour           // these tests are not about timeouts
	t.Cleanup(func() { db.Close() }) // the file is deleted after the test
	return db
}

func insertLimit(key string) func(context.Context, *Tx) error {
	return func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO limits (ends, key, n) VALUES (1, $1, 1)`, key)
		return err
	}
}

func countLimits(t *testing.T, db *DB) (n int) {
	t.Helper()
	if err := db.read.QueryRowContext(t.Context(), `SELECT count(*) FROM limits`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Of many concurrent transactions, and of those that have a commit to themselves, those
// that fail are rolled back alone, however they fail, and all others are durable when they
// return.
func TestTransactionsThatShareACommitFailAlone(t *testing.T) {
	db := openFresh(t)
	wrong := errors.New("wrong")
	run := func(i int) {
		key := fmt.Sprint(i)
		err := db.tx(t.Context(), func(ctx context.Context, tx *Tx) error {
			if err := insertLimit(key)(ctx, tx); err != nil {
				return err
			}
			switch i % 4 {
			case 1:
				return wrong
			case 2:
				return insertLimit(key)(ctx, tx) // breaks the primary key
			case 3:
				panic("a bug")
			}
			return nil
		})
		var n int
		if scanErr := db.read.QueryRowContext(t.Context(), `SELECT count(*) FROM limits WHERE key = $1`, key).Scan(&n); scanErr != nil {
			t.Error(scanErr)
		}
		if good := i%4 == 0; good != (err == nil) || good != (n == 1) || i%4 == 1 && !errors.Is(err, wrong) || i%4 == 3 && !strings.Contains(err.Error(), "a bug") {
			t.Errorf("%d: got %v with %d rows", i, err, n)
		}
	}
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() { run(i) })
	}
	wg.Wait()
	for i := range 40 {
		run(400 + i)
	}
	if n := countLimits(t, db); n != 110 {
		t.Errorf("got %d rows, want 110", n)
	}
}

// A transaction that is cancelled while it waits changes nothing, and does not affect
// others.
func TestCancelledTransactionDoesNotAffectOthers(t *testing.T) {
	db := openFresh(t)
	inside, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := db.tx(t.Context(), func(ctx context.Context, tx *Tx) error {
			close(inside)
			<-goOn
			return insertLimit("first")(ctx, tx)
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	gone, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		if err := db.tx(gone, insertLimit("gone")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	wg.Go(func() {
		if err := db.tx(t.Context(), insertLimit("last")); err != nil {
			t.Error(err)
		}
	})
	cancel()
	close(goOn)
	wg.Wait()
	if n := countLimits(t, db); n != 2 {
		t.Errorf("got %d rows, want 2", n)
	}
}

// A call that is cancelled while its transaction runs returns after that, because the
// transaction writes to variables of the caller.
func TestCallWaitsWhileItsTransactionRuns(t *testing.T) {
	db := openFresh(t)
	for i := range 200 {
		gone, cancel := context.WithCancel(t.Context())
		ran := false
		err := db.tx(gone, func(ctx context.Context, tx *Tx) error {
			cancel()
			err := insertLimit(fmt.Sprint(i))(ctx, tx)
			ran = true
			return err
		})
		if !ran || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("%d: got %v, and it ran is %v", i, err, ran)
		}
	}
}

// A prepared statement stays correct when it is reused.
func TestPreparedStatements(t *testing.T) {
	db := openFresh(t)
	for i := range 5 {
		if err := db.tx(t.Context(), insertLimit(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if err := db.tx(t.Context(), insertLimit(fmt.Sprint(i))); err == nil {
			t.Error("a row twice")
		}
		err := db.tx(t.Context(), func(ctx context.Context, tx *Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO nowhere (x) VALUES (1)`)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("got %v", err)
		}
	}
	if n := countLimits(t, db); n != 5 {
		t.Errorf("got %d rows, want 5", n)
	}
}

func TestClosedDatabaseRefusesWrites(t *testing.T) {
	db := openFresh(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.tx(t.Context(), insertLimit("late")); err == nil {
		t.Error("a closed database accepted a row")
	}
}
