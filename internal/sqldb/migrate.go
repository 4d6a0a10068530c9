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
//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the files that this database has not seen, in the order of their
// numbers. Several processes may start at once on PostgreSQL: a lock of the
// session lets one of them work while the others wait. The file of SQLite is
// ours alone (see lockFile).
func (db *DB) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	kind, options := goose.DialectSQLite3, []goose.ProviderOption{}
	if db.dialect == postgres {
		// Asked once a second, for five minutes at most.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return fmt.Errorf("make the lock: %w", err)
		}
		kind, options = goose.DialectPostgres, append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(kind, db.write, files, options...)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
