package sqldb

import (
	"context"
	"errors"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/event"
)

// OpenSQLiteAt and OpenPostgresAt open a database as an older binary left it.
func OpenSQLiteAt(ctx context.Context, path string, version int64) (*DB, error) {
	write, err := SQLiteConfig{Path: path}.open("_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	db := &DB{Timeout: defaultTimeout, write: write, read: write, dialect: sqlite, release: func() error { return nil }}
	return db, db.migrateTo(ctx, version)
}

func OpenPostgresAt(ctx context.Context, url string, version int64) (*DB, error) {
	db, err := connect(ctx, PostgresConfig{URL: url}, poolOptions{})
	if err != nil {
		return nil, err
	}
	return db, db.migrateTo(ctx, version)
}

func (db *DB) migrateTo(ctx context.Context, version int64) error {
	pool, done := db.migrationPool()
	defer done()
	provider, err := db.migrations(pool)
	if err != nil {
		return err
	}
	return db.forMigrations(ctx, provider, func() error {
		_, err := provider.UpTo(ctx, version)
		return err
	})
}

// Exec runs a statement of a test's own.
func (db *DB) Exec(ctx context.Context, query string, args ...any) error {
	_, err := db.write.ExecContext(ctx, query, args...)
	return err
}

// Text reads one value of a test's own.
func (db *DB) Text(ctx context.Context, query string) (s string, err error) {
	err = db.read.QueryRowContext(ctx, query).Scan(&s)
	return s, err
}

// Lines reads the only column of a query of a test's own.
func (db *DB) Lines(ctx context.Context, query string) ([]string, error) {
	return db.readColumn(ctx, query)
}

// Emit commits a transaction that emits the events.
func Emit(ctx context.Context, db *DB, events ...event.Event) error {
	return db.tx(ctx, func(_ context.Context, tx *Tx) error {
		for _, e := range events {
			tx.emit(e)
		}
		return nil
	})
}

// EmitAndFail rolls back a transaction that has emitted the event.
func EmitAndFail(ctx context.Context, db *DB, e event.Event) error {
	return db.tx(ctx, func(_ context.Context, tx *Tx) error {
		tx.emit(e)
		return errors.New("failed")
	})
}

// InTx runs f in a transaction, with a function that runs a statement in it.
func (db *DB) InTx(ctx context.Context, f func(exec func(query string) error) error) error {
	return db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		return f(func(query string) error {
			_, err := tx.ExecContext(ctx, query)
			return err
		})
	})
}

// TextInTx reads one value in a transaction.
func (db *DB) TextInTx(ctx context.Context, query string) (s string, err error) {
	err = db.tx(ctx, func(ctx context.Context, tx *Tx) error { return tx.QueryRowContext(ctx, query).Scan(&s) })
	return s, err
}

// DeleteTokens are the statements that delete tokens.
func (db *DB) DeleteTokens() []string {
	return []string{db.deleteTokens("expires_at"), db.deleteTokens("coalesce(used_at, ended_at)")}
}

// AllBy is All with so many zones in each statement.
func (s Served) AllBy(ctx context.Context, zones int, yield func(dnssec.ServedZone) error) error {
	return s.allBy(ctx, zones, yield)
}

// What tests of transactions call.
func (db *DB) RunTx(ctx context.Context, f func(context.Context, *Tx) error) error {
	return db.tx(ctx, f)
}

func (db *DB) RunAtOnce(ctx context.Context, f func(context.Context, *Tx) error) error {
	return db.atOnce(ctx, f)
}

func (db *DB) RunComposed(ctx context.Context, f func(context.Context, *Tx) error) error {
	return db.composed(ctx, f)
}

func (tx *Tx) Notify(name deed.Name, serial uint32) { tx.notify(name, serial) }

func (tx *Tx) Queue(query string, args ...any) { tx.queue(query, args...) }

func (tx *Tx) RequireFirst(none error, query string, args ...any) {
	tx.requireFirst(none, query, args...)
}

func (tx *Tx) Require(none error, query string, args ...any) { tx.require(none, query, args...) }

// ForgetZones empties the cache of zones.
func (db *DB) ForgetZones() {
	db.zones.mu.Lock()
	defer db.zones.mu.Unlock()
	db.zones.young, db.zones.old, db.zones.size = nil, nil, 0
}

// CachedZones returns the number of zones that are cached, and the size of the younger
// ones.
func (db *DB) CachedZones() (zones, size int) {
	db.zones.mu.Lock()
	defer db.zones.mu.Unlock()
	return len(db.zones.young) + len(db.zones.old), db.zones.size
}

// SetServed serves the zone, or withdraws it.
func (s Zones) SetServed(ctx context.Context, name deed.Name, serve bool) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.setServing(ctx, tx, name, serve) })
}

// The statements of webhooks that read what is pending, and what counts the actions of owners.
var (
	SelectDueDeliveries = selectDueDeliveries
	SetNextDue          = setNextDue
	CountOwnerActions   = countOwnerActions
	SelectEventsOfOne   = selectEventsOfOne
	SelectEvents        = selectEvents
	SelectLastEvent     = selectLastEvent
)

// IsSQLite reports whether the database is a file.
func (db *DB) IsSQLite() bool { return db.dialect == sqlite }
