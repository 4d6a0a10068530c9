package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"deed.example/deed"
)

// Prices implements catalog.PriceStore. Fill the field.
type Prices struct{ DB *DB }

// keepLists is how many price lists are remembered.
const keepLists = 32

// PublishPrices implements catalog.PriceStore.
func (s Prices) PublishPrices(ctx context.Context, list []deed.Listing, at time.Time) (before []deed.Listing, replaced time.Time, err error) {
	text, err := json.Marshal(list)
	if err != nil {
		return nil, replaced, err
	}
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		before, replaced = nil, time.Time{}
		n, last, since, err := readPrices(ctx, tx, 0)
		if err != nil {
			return err
		}
		if last == string(text) {
			_, last, _, err = readPrices(ctx, tx, n)
		} else {
			since = at
			err = insertPrices(ctx, tx, n+1, string(text), at)
		}
		if err != nil || last == "" {
			return err
		}
		replaced = since
		return json.Unmarshal([]byte(last), &before)
	})
	return before, replaced, err
}

// readPrices returns the newest list, or the newest before the one with the
// number.
func readPrices(ctx context.Context, tx *Tx, before int64) (n int64, list string, since time.Time, err error) {
	var at int64
	err = tx.QueryRowContext(ctx, `
		SELECT n, listings, since_at FROM price_lists WHERE n < $1 OR $1 = 0 ORDER BY n DESC LIMIT 1`,
		before).Scan(&n, &list, &at)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, list, time.Unix(at, 0), err
}

func insertPrices(ctx context.Context, tx *Tx, n int64, list string, at time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO price_lists (n, since_at, listings) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, n, at.Unix(), list)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM price_lists WHERE n <= $1`, n-keepLists)
	return err
}
