package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/pressly/goose/v3"
)

// purchaseBatch bounds how many rows the migration has in memory.
const purchaseBatch = 500

// purchasesMigration is number 17: payments have a source, and their purchases are
// stored with explicit names and a version (see storedPurchase). Fingerprints stay as
// they are.
func (db *DB) purchasesMigration() *goose.Migration {
	return goose.NewGoMigration(17, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `ALTER TABLE payments ADD COLUMN source TEXT NOT NULL DEFAULT 'x402_exact' CHECK (source <> '')`)
		for after := ""; err == nil; {
			var more bool
			if after, more, err = migratePurchases(ctx, tx, after); !more {
				break
			}
		}
		return err
	}}, nil)
}

// migratePurchases rewrites the purchases of one batch of payments, and returns the
// last ID of the batch and whether there may be more.
func migratePurchases(ctx context.Context, tx *sql.Tx, after string) (last string, more bool, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, purchase FROM payments WHERE id > $1 ORDER BY id LIMIT $2`, after, purchaseBatch)
	if err != nil {
		return after, false, err
	}
	last, n, columns := after, 0, map[string]string{}
	err = eachRow(rows, func() error {
		var column string
		n++
		if err := rows.Scan(&last, &column); err != nil || column == "" {
			return err // the oldest rows have only the other columns
		}
		var stored storedPurchase
		if err := stored.decode(column); err != nil {
			return fmt.Errorf("read the purchase of %s: %w", last, err)
		}
		text, err := json.Marshal(stored)
		columns[last] = string(text)
		return err
	})
	if err != nil {
		return last, false, err
	}
	for id, column := range columns {
		if _, err := tx.ExecContext(ctx, `UPDATE payments SET purchase = $1 WHERE id = $2`, column, id); err != nil {
			return last, false, err
		}
	}
	return last, n == purchaseBatch, nil
}
