package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// forMigrations runs f, which migrates. On SQLite it does so only if a migration is pending,
// with the settings for it: foreign keys are disabled, so that tables can be recreated; the
// rows of a new index are sorted in a file, because a table may be larger than memory. The
// foreign keys are checked afterwards, or at the next start if this process ends before that,
// but not at every start: it takes seconds in a large database. The pool has one connection.
func (db *DB) forMigrations(ctx context.Context, provider *goose.Provider, f func() error) error {
	if db.dialect == postgres {
		return f()
	}
	needed, err := db.needsMigration(ctx, provider)
	if err != nil || !needed {
		return err
	}
	if _, err := db.write.ExecContext(ctx, `PRAGMA user_version = 1; PRAGMA foreign_keys = OFF; PRAGMA temp_store = FILE`); err != nil {
		return err
	}
	err = f()
	_, back := db.write.ExecContext(context.WithoutCancel(ctx), `PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY`)
	if err = errors.Join(err, back); err != nil {
		return err
	}
	if err := db.checkForeignKeys(ctx); err != nil {
		return err
	}
	_, err = db.write.ExecContext(ctx, `PRAGMA user_version = 0`)
	return err
}

// needsMigration reports whether a migration is pending, or was not checked: then the
// user_version of the file, which is ours to use, is 1.
func (db *DB) needsMigration(ctx context.Context, provider *goose.Provider) (bool, error) {
	pending, err := provider.HasPending(ctx)
	if err != nil || pending {
		return pending, err
	}
	var unchecked int
	err = db.write.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&unchecked)
	return unchecked != 0, err
}

func (db *DB) checkForeignKeys(ctx context.Context) error {
	var table string
	err := db.write.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("rows of %s violate a foreign key", table)
}
