package sqldb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"
)

// operationsMigration is number 30: nodes, and what operators do. Triggers are written
// differently for each database, so there are separate files.
func (db *DB) operationsMigration() *goose.Migration {
	own := map[dialect]string{postgres: "migrations/operations/postgres.sql", sqlite: "migrations/operations/sqlite.sql"}[db.dialect]
	return goose.NewGoMigration(30, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		for _, path := range []string{"migrations/operations/both.sql", own} {
			script, err := migrations.ReadFile(path)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(script)); err != nil {
				return fmt.Errorf("run %s: %w", path, err)
			}
		}
		return nil
	}}, nil)
}
