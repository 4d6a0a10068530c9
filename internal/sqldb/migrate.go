package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// A released migration is never edited; a later one corrects it.
//
//go:embed migrations/*.sql migrations/payments/*.sql migrations/operations/*.sql
var migrations embed.FS

// migrate applies the pending migrations in order. On PostgreSQL several processes may
// start concurrently: an advisory lock lets one migrate while the others wait. A SQLite
// file has one process (see lockFile). A database with unknown migrations was upgraded
// by a newer binary: writing to it might violate its rules, so we do not start.
func (db *DB) migrate(ctx context.Context) error {
	pool, done := db.migrationPool()
	defer done()
	provider, err := db.migrations(pool)
	if err != nil {
		return err
	}
	err = db.forMigrations(ctx, provider, func() error { return up(ctx, provider) })
	if err != nil {
		return err
	}
	has, knows, err := provider.GetVersions(ctx)
	if err == nil && has > knows {
		err = fmt.Errorf("it is at version %d, and this binary knows %d: start the newer binary, whose `deed admin schema --since %d` lists what this one would lose, or restore the backup from before it", has, knows, knows)
	}
	return err
}

// migrationPool returns the connections for migrations. On PostgreSQL only their waits for
// locks are limited, and they bypass a connection pooler: their lock belongs to a session.
func (db *DB) migrationPool() (pool *sql.DB, done func()) {
	if db.dialect != postgres {
		return db.write, func() {}
	}
	pool = stdlib.OpenDB(*db.dial, stdlib.OptionAfterConnect(limitLocks))
	return pool, func() { _ = pool.Close() } // only idle connections are left
}

// migrations returns the migration provider.
func (db *DB) migrations(pool *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	kind, options := goose.DialectSQLite3, []goose.ProviderOption{
		goose.WithGoMigrations(db.paymentsMigration(), db.purchasesMigration(), db.operationsMigration()), goose.WithDisableGlobalRegistry(true),
		goose.WithAllowOutofOrder(true), // changes with smaller numbers may have been merged later
	}
	if db.dialect == postgres {
		// Retried once a second, for at most five minutes.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, fmt.Errorf("make the lock: %w", err)
		}
		kind, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(kind, pool, files, options...)
}
