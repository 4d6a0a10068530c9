package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"deed.example/deed"
	"deed.example/deed/internal/webhook"
)

// Release implements webhook.Queue. If the node dies before all is done, the host gets
// another turn.
func (s Webhooks) Release(ctx context.Context, host string, r webhook.Reachability) error {
	retry, err := s.endLease(ctx, host, r)
	if err != nil {
		return err
	}
	served, err := s.DB.readColumn(ctx, `SELECT id FROM webhooks WHERE host = $1 AND due_at <= $2`, host, s.Now().Unix())
	for _, id := range served {
		err = errors.Join(err, s.updateDue(ctx, id, retry))
	}
	return err
}

// endLease frees the host, and returns when it may be served again.
func (s Webhooks) endLease(ctx context.Context, host string, r webhook.Reachability) (retry int64, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var failures, answered int64
		err := tx.QueryRowContext(ctx, `
			UPDATE webhook_hosts SET lease_until = 0 WHERE host = $1 RETURNING failures, answered, retry_at`, host).Scan(&failures, &answered, &retry)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil || r == webhook.Unknown:
			return err
		case r == webhook.Silent:
			failures, answered = failures+1, 0
		default:
			failures, answered = 0, int64(boolInt(r == webhook.Answered))
		}
		retry = 0
		if failures > 0 {
			retry = s.Now().Add(webhook.HostDelay(int(failures))).Unix()
		}
		_, err = tx.ExecContext(ctx, `UPDATE webhook_hosts SET failures = $2, answered = $3, retry_at = $4 WHERE host = $1`, host, failures, answered, retry)
		return err
	})
	return retry, err
}

// updateDue computes when the next delivery to a webhook is due, but not before retry. It
// locks one webhook at a time, because an event locks all of its owner.
func (s Webhooks) updateDue(ctx context.Context, id string, retry int64) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := lockWebhook(ctx, tx, id); deed.CodeOf(err) == deed.CodeNotFound {
			return nil // it was deleted meanwhile
		} else if err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, setNextDue, id, retry, max(retry, s.Now().Unix()))
		return err
	})
}

// setNextDue stops at the first delivery that is due at $3.
var setNextDue = withFirst("w.id = $1", "$3", 1) + `
	UPDATE webhooks SET due_at = (SELECT CASE WHEN min(d.next_at) < $2 THEN $2 ELSE min(d.next_at) END FROM ` + first + `) WHERE id = $1`
