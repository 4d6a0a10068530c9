package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"deed.example/deed/internal/event"
)

// A Tx is a transaction.
//
// Statements whose result nobody reads can be queued. PostgreSQL executes those that are
// queued one after the other as one statement, which saves a round trip for each.
//
// A Tx of DB.atOnce reads from the pool, and all that it writes is one statement. One of
// DB.composed reads before it is a transaction.
type Tx struct {
	*sql.Tx
	pool     *sql.DB       // of a Tx of atOnce; else nil
	reads    reader        // of a Tx of atOnce or composed; else nil
	prepared *prepared     // nil on PostgreSQL
	queued   []queued      // to be executed before anything else
	names    int           // of queued statements that were named
	failed   error         // of queued statements, when it could not be returned at once
	events   []event.Event // to be written before the commit
	members  memberChanges // likewise
	moves    []PaymentMove // to be observed after the commit
	zones    []changedZone // to be cached after the commit
	notices  []string      // to be sent after the commit
}

// A reader reads rows.
type reader interface {
	querier
	rowQuerier
}

// errNeedsTx is returned by a Tx of atOnce for what it cannot do.
var errNeedsTx = errors.New("this needs a transaction")

// atOnce is tx for an f that usually reads first, and then queues all that it writes.
// PostgreSQL then needs no transaction: the writes are one statement, which is committed
// by itself or changes nothing, and which locks rows for as long as it takes. When a
// required statement changes no row, or a row exists already, somebody else was faster;
// then f is run again, in a transaction.
//
// So f must lock what it reads if it is in a transaction, and otherwise require that it
// is still as it was read, before anything else (requireFirst).
func (db *DB) atOnce(ctx context.Context, f func(context.Context, *Tx) error) error {
	if db.group != nil || len(db.limits) > 0 {
		return db.tx(ctx, f)
	}
	err := db.tryAtOnce(ctx, f)
	if needsTx(err) {
		return db.tx(ctx, f)
	}
	return err
}

func (db *DB) tryAtOnce(ctx context.Context, f func(context.Context, *Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	tx := &Tx{pool: db.write, reads: db.write}
	err := tx.run(ctx, f)
	if err == nil {
		err = tx.sendAtOnce(ctx)
	}
	if err != nil {
		db.checkPrimary(err)
		return err
	}
	seen := committed{tx.events, tx.moves, tx.zones, tx.notices}
	return seen.tell(db, nil)
}

// composed is atOnce for an f that computes for long, such as signatures. On SQLite, which
// has one writer, f runs before its turn to write, and only what it has queued is executed
// there. When that changes no row, f is run again, in the transaction.
func (db *DB) composed(ctx context.Context, f func(context.Context, *Tx) error) error {
	if db.group == nil {
		return db.atOnce(ctx, f)
	}
	err := db.tryComposed(ctx, f)
	if errors.Is(err, errNeedsTx) {
		return db.tx(ctx, f)
	}
	return err
}

func (db *DB) tryComposed(ctx context.Context, f func(context.Context, *Tx) error) error {
	draft := &Tx{reads: db.prepared(), prepared: db.group.prepared}
	reading, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	err := f(reading, draft)
	if draft.failed != nil {
		return draft.failed // err is a consequence of it
	}
	if err != nil {
		return err
	}
	return db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		draft.Tx, draft.reads = tx.Tx, nil
		*tx = *draft
		if err := tx.flush(ctx); err != nil {
			return errors.Join(errNeedsTx, err)
		}
		return nil
	})
}

// needsTx reports whether an f must be run again in a transaction.
func needsTx(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		const divisionByZero, uniqueViolation, deadlock = "22012", "23505", "40P01"
		return e.Code == divisionByZero || e.Code == uniqueViolation || e.Code == deadlock
	}
	return errors.Is(err, errNeedsTx)
}

// run runs f and adds what every transaction writes last.
func (tx *Tx) run(ctx context.Context, f func(context.Context, *Tx) error) error {
	err := f(ctx, tx)
	if err == nil {
		err = tx.writeLast(ctx)
	}
	if tx.failed != nil {
		return tx.failed // err is a consequence of it
	}
	return err
}

// ExecContext runs a statement.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if tx.reads != nil {
		return nil, errNeedsTx
	}
	if err := tx.flush(ctx); err != nil {
		return nil, err
	}
	return tx.exec(ctx, query, args...)
}

// exec runs a statement before those that are queued.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	}
	return tx.Tx.ExecContext(ctx, query, args...)
}

// QueryContext queries rows.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := tx.flush(ctx); err != nil {
		return nil, err
	}
	if tx.reads != nil {
		return tx.reads.QueryContext(ctx, query, args...)
	}
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext queries one row.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := tx.flush(ctx); err != nil {
		tx.failed = err
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		ctx = canceled // a row cannot be made of an error
	}
	if tx.reads != nil {
		return tx.reads.QueryRowContext(ctx, query, args...)
	}
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
	}
	return tx.Tx.QueryRowContext(ctx, query, args...)
}
