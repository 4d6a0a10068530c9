package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// deliveryTTL is how long deliveries that have ended are listed.
const deliveryTTL = 30 * 24 * time.Hour

// pruneLimit is how many deliveries are deleted or failed in one transaction. Of those that
// have ended, those that did so in the same second as the last of them are deleted, too.
const pruneLimit = 5000

// Prune deletes old deliveries that have ended, those of events that were committed while
// their webhook was deleted, and hosts that nothing is sent to any more. It also finds what
// nodes of an earlier version have added, which do not say when it is due.
func (s Webhooks) Prune(ctx context.Context) error {
	old := s.Now().Add(-deliveryTTL).Unix()
	if err := s.pruneEnded(ctx, old); err != nil {
		return err
	}
	if err := s.pruneOrphans(ctx); err != nil {
		return err
	}
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM webhook_hosts WHERE served_at < $1 AND lease_until < $1`, old)
		return err
	})
	if err != nil {
		return err
	}
	missed, err := s.DB.readColumn(ctx, `
		SELECT DISTINCT d.webhook FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook
		 WHERE d.state = 'pending' AND (w.due_at IS NULL OR w.due_at > d.next_at AND w.due_at > $1
		   AND NOT EXISTS (SELECT 1 FROM webhook_hosts h WHERE h.host = w.host AND h.retry_at > $1))`, s.Now().Unix())
	for _, id := range missed {
		err = errors.Join(err, s.updateDue(ctx, id, 0))
	}
	return err
}

// pruneEnded deletes the deliveries that ended before a time, the oldest first and some at a
// time: however many there are, no transaction takes long.
func (s Webhooks) pruneEnded(ctx context.Context, before int64) error {
	for more := true; more; {
		err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
			var last sql.NullInt64
			var n int
			err := tx.QueryRowContext(ctx, `
				SELECT max(last_at), count(*) FROM (
					SELECT last_at FROM webhook_deliveries WHERE state <> 'pending' AND last_at < $1 ORDER BY last_at LIMIT $2) oldest`,
				before, pruneLimit).Scan(&last, &n)
			if more = n == pruneLimit; err != nil || n == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, `DELETE FROM webhook_deliveries WHERE state <> 'pending' AND last_at <= $1`, last.Int64)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteDeliveries needs a condition, a limit and a bracket appended.
const deleteDeliveries = `DELETE FROM webhook_deliveries WHERE (webhook, event) IN (SELECT webhook, event FROM webhook_deliveries WHERE `

// pruneOrphans deletes the pending deliveries of webhooks that were deleted.
func (s Webhooks) pruneOrphans(ctx context.Context) error {
	const orphans = `state = 'pending' AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.id = webhook_deliveries.webhook) LIMIT $1)`
	for more := true; more; {
		err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
			res, err := tx.ExecContext(ctx, deleteDeliveries+orphans, pruneLimit)
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			more = n == pruneLimit
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
