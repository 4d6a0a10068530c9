package sqldb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// A migration that has landed is never edited; the next one mends it.
//
//go:embed migrations/*.sql migrations/payments/*.sql
var migrations embed.FS

// migrate runs the files that this database has not seen, in the order of their
// numbers. Several processes may start at once on PostgreSQL: a lock of the
// session lets one of them work while the others wait. The file of SQLite is
// ours alone (see lockFile). A database that has seen files which we do not have
// was brought up to date by a newer binary: what we would write there might
// break its rules, so we do not start.
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

// migrations returns what runs the files.
func (db *DB) migrations() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	kind, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithGoMigrations(db.paymentsMigration()), goose.WithDisableGlobalRegistry(true)}
	if db.dialect == postgres {
		// Asked once a second, for five minutes at most.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return nil, fmt.Errorf("make the lock: %w", err)
		}
		kind, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	return goose.NewProvider(kind, db.write, files, options...)
}
