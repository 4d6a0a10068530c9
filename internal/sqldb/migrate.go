package sqldb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// A released migration is never edited; a later one corrects it.
//
//go:embed migrations/*.sql migrations/payments/*.sql
var migrations embed.FS

// migrate applies the pending migrations in order. On PostgreSQL several processes may
// start concurrently: an advisory lock lets one migrate while the others wait. A SQLite
// file has one process (see lockFile). A database with unknown migrations was upgraded
// by a newer binary: writing to it might violate its rules, so we do not start.
func (db *DB) migrate(ctx context.Context) error {
	provider, err := db.migrations()
	if err != nil {
		return err
	}
	err = db.withoutForeignKeys(ctx, func() error {
		_, err := provider.Up(ctx)
		return err
	})
	if err != nil {
		return err
	}
	has, knows, err := provider.GetVersions(ctx)
	if err == nil && has > knows {
		err = fmt.Errorf("it is at version %d, and this binary knows %d: start the newer binary, or restore the backup from before it", has, knows)
	}
	return err
}

// migrations returns the migration provider.
func (db *DB) migrations() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	kind, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithGoMigrations(db.paymentsMigration(), db.purchasesMigration()), goose.WithDisableGlobalRegistry(true)}
	if db.dialect == postgres {
		// Retried once a second, for at most five minutes.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, fmt.Errorf("make the lock: %w", err)
		}
		kind, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(kind, db.write, files, options...)
}
