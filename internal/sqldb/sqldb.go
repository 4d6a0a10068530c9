// Package sqldb stores all persistent data, in SQLite or in PostgreSQL.
//
// Open one DB; each use case has its own narrow type over it (Limits, …). Both
// databases run the same statements, in the common subset of SQL: $1 placeholders,
// ON CONFLICT, RETURNING, BIGINT for money and for times (Unix seconds), TEXT for the
// rest. One method is one transaction, with a timeout for a database that hangs.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed/internal/tracing"
)

// defaultTimeout bounds one transaction, including the wait for a connection.
const defaultTimeout = 2 * time.Second

// DB is an open database. Reads have a pool of their own, so that transactions which
// wait for a lock do not keep them waiting, too.
type DB struct {
	// Timeout bounds one transaction. Change it before the first use only; tests
	// raise it for busy machines.
	Timeout time.Duration

	// Time is the clock of a database in memory that a simulation shares among
	// nodes; nil for all others. Set it before the first use only.
	Time func() time.Time

	// Observer sees what was committed; it may be nil. Set it before the first use
	// only.
	Observer Observer

	// Sealer encrypts the secrets of purchases; without one they are stored in
	// plain text until their job has ended. Set it before the first use only.
	Sealer Sealer

	write, read *sql.DB
	dialect     dialect
	group       *group       // nil on PostgreSQL, which has its own group commit
	path        string       // of a SQLite file
	readOnly    bool         // never writes, not even due orders
	release     func() error // releases the lock of the file
	closing     sync.Once
	dial        *pgx.ConnConfig             // of PostgreSQL itself, for connections outside the pool
	limits      []string                    // statements that limit a transaction behind a pooler
	reset       func()                      // drops all connections of PostgreSQL; nil on SQLite
	pooled      bool                        // behind a connection pooler
	poolStats   map[string]func() PoolStats // of PostgreSQL
	readStmts   sync.Map                    // *sql.Stmt by query, for queryRow
	share       atomic.Pointer[share]       // of the due rows; nil for all
	zones       zoneCache
	notifier    notifier
}

// Close closes the database. A second call does nothing.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		if db.group != nil {
			db.group.close()
		}
		db.notifier.senders.Wait()
		err = errors.Join(db.read.Close(), db.write.Close(), db.release())
	})
	return err
}

// Ping fails when the database does not answer.
func (db *DB) Ping(ctx context.Context) error {
	var version int64
	return db.read.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version`).Scan(&version)
}

// Kind returns the name of the database: "SQLite" or "PostgreSQL".
func (db *DB) Kind() string { return string(db.dialect) }

// tx runs f in a transaction and commits it when f returns nil.
func (db *DB) tx(ctx context.Context, f func(context.Context, *Tx) error) (err error) {
	ctx, end := tracing.Start(ctx, "transaction") // with the wait for it
	defer func() { end(err) }()
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	var seen committed
	run := func(ctx context.Context, shared *Tx) error {
		tx := &Tx{Tx: shared.Tx, prepared: shared.prepared}
		err := tx.run(ctx, f)
		seen = committed{tx.events, tx.moves, tx.zones, tx.notices}
		return err
	}
	if db.group != nil {
		return seen.tell(db, db.group.tx(ctx, run))
	}
	return seen.tell(db, db.postgresTx(ctx, run))
}

func (db *DB) postgresTx(ctx context.Context, f func(context.Context, *Tx) error) error {
	// As said with the parameters of a connection, which a pooler does not get.
	raw, err := db.write.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := &Tx{Tx: raw}
	defer tx.Rollback() // no-op after Commit; otherwise the first error is returned
	for _, limit := range db.limits {
		if _, err := raw.ExecContext(ctx, limit); err != nil {
			return fmt.Errorf("limit the transaction: %w", err)
		}
	}
	if err := f(ctx, tx); err != nil {
		db.checkPrimary(err)
		return err
	}
	return tx.Commit()
}

// rowsAffected reports whether the statement changed a row.
func rowsAffected(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
