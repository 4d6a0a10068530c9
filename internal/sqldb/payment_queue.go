package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// DuePayments implements fulfil.Queue. It is round-robin: the first payment of each
// wallet comes before the second of any.
func (s Payments) DuePayments(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "id", from: `(
			SELECT id, next_at, row_number() OVER (PARTITION BY payer ORDER BY next_at, id) AS turn FROM payments
			 WHERE next_at <= $1 AND state IN ('authorized', 'settling')) d`,
		at: "next_at", order: "turn, next_at",
	}, s.Now(), limit)
}

// DueRefunds implements fulfil.Queue. Those of purchases come before those of transfers
// without a request, which anyone can make for nothing but gas; both are round-robin.
func (s Payments) DueRefunds(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "id", from: `(
			SELECT id, next_at, CASE WHEN kind = 'nothing' THEN 1 ELSE 0 END AS unasked,
			       row_number() OVER (PARTITION BY payer ORDER BY next_at, id) AS turn FROM payments
			 WHERE next_at <= $1 AND state IN ('refund_due', 'refunding', 'unclaimed')) d`,
		at: "next_at", order: "unasked, turn, next_at",
	}, s.Now(), limit)
}

// Stalled implements fulfil.Queue. A payment whose payer cannot pay does not count.
func (s Payments) Stalled(ctx context.Context, since time.Time) (found order.Stalled, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	// Nearly all payments changed before: a sum is not looked up in the index of changed_at.
	const where = `
		  FROM payments
		 WHERE next_at IS NOT NULL AND changed_at + 0 <= $1 AND stuck_at IS NULL
		   AND state IN ('authorized', 'settling', 'refund_due', 'refunding')`
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*)`+where, since.Unix()).Scan(&found.Count)
	if err != nil || found.Count == 0 {
		return found, err
	}
	var at int64
	err = s.DB.read.QueryRowContext(ctx, `SELECT id, state, cause, changed_at`+where+` ORDER BY changed_at + 0, id LIMIT 1`, since.Unix()).
		Scan(&found.ID, &found.State, &found.Cause, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return order.Stalled{}, nil // it made progress in between
	}
	found.Since = time.Unix(at, 0)
	return found, err
}

// CountReverts implements fulfil.RevertStore.
func (s Payments) CountReverts(ctx context.Context, since time.Time) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM reverts WHERE at > $1`, since.Unix()).Scan(&n)
	return n, err
}

// HasPaid implements fulfil.RevertStore.
func (s Payments) HasPaid(ctx context.Context, w deed.Wallet) (paid bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	n := 0
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT count(*) FROM (SELECT 1 FROM payments WHERE payer = $1 AND state = 'consumed' LIMIT 1) one`, w).Scan(&n)
	return n > 0, err
}

// RecordRevert implements fulfil.Store. After the third in a day the payer is refused
// for a day.
func (s Payments) RecordRevert(ctx context.Context, p order.Payment) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := lockPayer(ctx, tx, p.Auth.Payer); err != nil {
			return err
		}
		now := s.Now()
		_, err := tx.ExecContext(ctx, `INSERT INTO reverts (payment_id, payer, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, p.ID, p.Auth.Payer, now.Unix())
		if err != nil {
			return err
		}
		var times []time.Time
		rows, err := tx.QueryContext(ctx, `SELECT at FROM reverts WHERE payer = $1 ORDER BY at DESC LIMIT $2`, p.Auth.Payer, order.MaxReverts)
		if err != nil {
			return err
		}
		err = eachRow(rows, func() error {
			var at int64
			err := rows.Scan(&at)
			times = append(times, time.Unix(at, 0))
			return err
		})
		if err != nil {
			return err
		}
		if until := order.RefusedUntil(times); !until.IsZero() {
			_, err = tx.ExecContext(ctx, `UPDATE payers SET refused_until = $1 WHERE address = $2`, until.Unix(), p.Auth.Payer)
		}
		return err
	})
}
