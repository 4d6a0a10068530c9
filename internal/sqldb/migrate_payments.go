package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/pressly/goose/v3"
)

// paymentsMigration is number 13: new states of payments, random public ids, and no auth
// codes of transfers that have ended. PostgreSQL can alter the constraints of a table,
// SQLite must recreate it, so there are separate files.
func (db *DB) paymentsMigration() *goose.Migration {
	own := map[dialect]string{postgres: "migrations/payments/postgres.sql", sqlite: "migrations/payments/sqlite.sql"}[db.dialect]
	return goose.NewGoMigration(13, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		return migratePayments(ctx, tx, own)
	}}, nil)
}

func migratePayments(ctx context.Context, tx *sql.Tx, own string) error {
	for _, path := range []string{own, "migrations/payments/both.sql"} {
		script, err := migrations.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("run %s: %w", path, err)
		}
	}
	return eraseAuthCodes(ctx, tx)
}

// eraseAuthCodes removes the codes of transfers that have ended.
func eraseAuthCodes(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT p.id, p.purchase FROM payments p JOIN jobs j ON j.payment_id = p.id
		 WHERE p.kind = 'transfer' AND j.state IN ('completed', 'failed', 'cancelled')`)
	if err != nil {
		return err
	}
	without := map[string]string{}
	err = eachRow(rows, func() error {
		var id, column string
		if err := rows.Scan(&id, &column); err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(column), &fields); err != nil {
			return fmt.Errorf("read the purchase of %s: %w", id, err)
		}
		delete(fields, "AuthCode")
		text, err := json.Marshal(fields)
		without[id] = string(text)
		return err
	})
	if err != nil {
		return err
	}
	for id, column := range without {
		if _, err := tx.ExecContext(ctx, `UPDATE payments SET purchase = $1 WHERE id = $2`, column, id); err != nil {
			return err
		}
	}
	return nil
}
