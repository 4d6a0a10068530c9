package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/webhook"
)

const selectDelivery = `SELECT webhook, event, type, state, attempts, created_at, first_at, last_at, next_at, status, failure FROM webhook_deliveries `

func scanDelivery(row interface{ Scan(...any) error }, more ...any) (webhook.Delivery, error) {
	var d webhook.Delivery
	var created, first, last, next int64
	err := row.Scan(append([]any{
		&d.Webhook, &d.EventID, &d.Type, &d.State, &d.Attempts, &created, &first, &last, &next, &d.Status, &d.LastFailure,
	}, more...)...)
	d.Created, d.FirstTry, d.LastTry = timeOrZero(created), timeOrZero(first), timeOrZero(last)
	if d.State == webhook.Pending {
		d.NextTry = timeOrZero(next)
	}
	return d, err
}

// Page implements webhook.Deliveries.
func (s Webhooks) Page(ctx context.Context, owner deed.Wallet, id string, limit, offset int) (list []webhook.Delivery, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM webhook_deliveries WHERE webhook = id) FROM webhooks WHERE id = $1 AND owner = $2`, id, owner).Scan(&total)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, errNoWebhook
	}
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.DB.read.QueryContext(ctx, selectDelivery+`WHERE webhook = $1 ORDER BY created_at DESC, n DESC, event LIMIT $2 OFFSET $3`, id, limit, offset)
	if err != nil {
		return nil, 0, err
	}
	err = eachRow(rows, func() error {
		d, err := scanDelivery(rows)
		list = append(list, d)
		return err
	})
	return list, total, err
}

// Test implements webhook.Deliveries.
func (s Webhooks) Test(ctx context.Context, owner deed.Wallet, id string) (d webhook.Delivery, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		w, err := lockWebhook(ctx, tx, id)
		if err != nil {
			return err
		}
		if w.Owner != owner {
			return errNoWebhook
		}
		if err := setDue(ctx, tx, id); err != nil {
			return err
		}
		// A test that waits is sent now; with the webhook's row locked there is one.
		_, err = tx.ExecContext(ctx, `
			UPDATE webhook_deliveries SET next_at = 0 WHERE webhook = $1 AND aggregate = '' AND state = 'pending' AND n = 0`, id)
		if err != nil {
			return err
		}
		d, err = scanDelivery(tx.QueryRowContext(ctx, selectDelivery+`WHERE webhook = $1 AND aggregate = '' AND state = 'pending' AND n = 0`, id))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		d = webhook.Delivery{Webhook: id, EventID: newPublicID("evt_"), Type: webhook.TestType, State: webhook.Pending, Created: s.Now().Truncate(time.Second)}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO webhook_deliveries (webhook, event, n, type, aggregate, host, state, created_at)
			VALUES ($1, $2, 0, $3, '', $4, 'pending', $5)`, id, d.EventID, d.Type, w.Host, d.Created.Unix())
		return err
	})
	return d, err
}

// setDue lets the dispatcher look at a webhook.
func setDue(ctx context.Context, tx *Tx, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE webhooks SET due_at = 0 WHERE id = $1`, id)
	return err
}

// Owner returns the wallet that a webhook belongs to.
func (s Webhooks) Owner(ctx context.Context, id string) (owner deed.Wallet, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.queryRow(ctx, `SELECT owner FROM webhooks WHERE id = $1`, id).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errNoWebhook
	}
	return owner, err
}

// The reasons why an event is not sent again.
var (
	errWebhookOff = deed.Errorf(deed.CodeValidation, "this webhook is off: send it a test; when that is delivered, it is on again")
	errNoDelivery = deed.Errorf(deed.CodeNotFound, "this webhook has no delivery of such an event")
)

// Replayable returns the error with which Replay would refuse the delivery.
func (s Webhooks) Replayable(ctx context.Context, id, eventID string) error {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var disabled, deliveries int64
	err := s.DB.queryRow(ctx, `
		SELECT disabled_at, (SELECT count(*) FROM webhook_deliveries WHERE webhook = $1 AND event = $2)
		  FROM webhooks WHERE id = $1`, id, eventID).Scan(&disabled, &deliveries)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return errNoWebhook
	case err == nil && disabled != 0:
		return errWebhookOff
	case err == nil && deliveries == 0:
		return errNoDelivery
	}
	return err
}

// Replay implements webhook.Deliveries.
func (s Webhooks) Replay(ctx context.Context, owner deed.Wallet, id, eventID string) (d webhook.Delivery, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		w, err := lockWebhook(ctx, tx, id)
		if err != nil {
			return err
		}
		if w.Owner != owner {
			return errNoWebhook
		}
		if !w.Disabled.IsZero() {
			return errWebhookOff
		}
		if err := setDue(ctx, tx, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_at = 0, first_at = 0
			 WHERE webhook = $1 AND event = $2 AND state <> 'pending'`, id, eventID)
		if err != nil {
			return err
		}
		d, err = scanDelivery(tx.QueryRowContext(ctx, selectDelivery+`WHERE webhook = $1 AND event = $2`, id, eventID))
		if errors.Is(err, sql.ErrNoRows) {
			return errNoDelivery
		}
		return err
	})
	return d, err
}

// deliveryTTL is how long deliveries that have ended are listed.
const deliveryTTL = 30 * 24 * time.Hour

// pruneLimit is how many deliveries are deleted in one transaction, and those that ended in
// the same second as the last of them.
const pruneLimit = 5000

// Prune deletes old deliveries that have ended, those of events that were committed while
// their webhook was deleted, and hosts that nothing is sent to any more. It also finds what
// nodes of an earlier version have added, which do not say when it is due.
func (s Webhooks) Prune(ctx context.Context) error {
	old := s.Now().Add(-deliveryTTL).Unix()
	if err := s.pruneEnded(ctx, old); err != nil {
		return err
	}
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM webhook_deliveries WHERE state = 'pending' AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.id = webhook_deliveries.webhook)`)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM webhook_hosts WHERE served_at < $1 AND lease_until < $1`, old)
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
