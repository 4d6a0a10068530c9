package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

// A migration that waits for the lock of a table stops all statements of running nodes
// that come after it. So it does not wait long for a session that keeps one, such as that
// of pg_dump, lets the nodes go on, and tries again.
const (
	// Shorter than the lock timeout of nodes, and longer than the deadlock timeout of
	// PostgreSQL, after which an autovacuum makes room.
	limitMigrationLocks = `SET lock_timeout = '1300ms'`
	migrationPause      = 2 * time.Second
	maxMigrationTries   = 20
)

func limitLocks(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, limitMigrationLocks)
	return err
}

// up applies the pending migrations. One that did not get a lock has changed nothing.
func up(ctx context.Context, provider *goose.Provider) error {
	for try := 1; ; try++ {
		_, err := provider.Up(ctx)
		if !lostLock(err) {
			return err
		}
		if try == maxMigrationTries {
			return fmt.Errorf("%w: another session, such as that of pg_dump, keeps a lock of the database: start again when it has ended", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrationPause):
		}
	}
}

// lostLock reports whether PostgreSQL ended a statement because of others' locks.
func lostLock(err error) bool {
	const lockNotAvailable, deadlockDetected = "55P03", "40P01"
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == lockNotAvailable || e.Code == deadlockDetected)
}
