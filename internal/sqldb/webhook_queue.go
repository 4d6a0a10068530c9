package sqldb

import (
	"context"
	"database/sql"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/webhook"
)

// isFirst is true for a delivery d that no earlier one of its aggregate waits for.
const isFirst = `NOT EXISTS (
	SELECT 1 FROM webhook_deliveries e
	 WHERE e.webhook = d.webhook AND e.aggregate = d.aggregate AND e.state = 'pending' AND e.n < d.n)`

// Turns implements webhook.Queue. It reads only webhooks that something is due to.
func (s Webhooks) Turns(ctx context.Context, lane webhook.Lane, perOwner, limit int) (list []webhook.Turn, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT t.id, t.owner, t.host
		  FROM (SELECT w.id, w.owner, w.host, w.due_at, (SELECT max(v.served_at) FROM webhooks v WHERE v.owner = w.owner) AS served_at,
		               row_number() OVER (PARTITION BY w.owner ORDER BY w.served_at, w.due_at, w.id) AS turn
		          FROM webhooks w LEFT JOIN webhook_hosts h ON h.host = w.host
		         WHERE w.due_at <= $2 AND coalesce(h.answered, 0) = $1
		           AND coalesce(h.lease_until, 0) <= $2 AND coalesce(h.retry_at, 0) <= $2) t
		 WHERE t.turn <= $3 ORDER BY t.served_at, t.due_at, t.id LIMIT $4`,
		boolInt(lane == webhook.LaneAnswered), s.Now().Unix(), perOwner, limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var t webhook.Turn
		err := rows.Scan(&t.Webhook, &t.Owner, &t.Host)
		list = append(list, t)
		return err
	})
	return list, err
}

// Lease implements webhook.Queue.
func (s Webhooks) Lease(ctx context.Context, t webhook.Turn, until time.Time) (free bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		free, err = rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO webhook_hosts (host, lease_until, served_at) VALUES ($1, $2, $3)
			ON CONFLICT (host) DO UPDATE SET lease_until = $2, served_at = $3 WHERE webhook_hosts.lease_until <= $3`,
			t.Host, until.Unix(), s.Now().Unix()))
		if err != nil || !free {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET served_at = $2 WHERE id = $1`, t.Webhook, s.Now().Unix()); err != nil {
			return err
		}
		// An event may have been committed while its webhook was turned off or deleted.
		_, err = tx.ExecContext(ctx, `
			UPDATE webhook_deliveries SET state = 'failed', last_at = $2
			 WHERE host = $1 AND state = 'pending' AND NOT EXISTS (
				SELECT 1 FROM webhooks w WHERE w.id = webhook_deliveries.webhook AND (w.disabled_at = 0 OR webhook_deliveries.n = 0))`,
			t.Host, s.Now().Unix())
		return err
	})
	return free, err
}

// Due implements webhook.Queue.
func (s Webhooks) Due(ctx context.Context, host string, limit int) (list []webhook.Attempt, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	now := s.Now()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT d.webhook, d.event, d.type, d.state, d.attempts, d.created_at, d.first_at, d.last_at, d.next_at, d.status, d.failure,
		       d.n, d.aggregate, w.owner, w.url, w.secret, w.old_secret, w.old_until, coalesce(o.data, '{}')
		  FROM (SELECT d.*, row_number() OVER (PARTITION BY d.webhook ORDER BY d.next_at, d.n) AS turn
		          FROM webhook_deliveries d
		         WHERE d.host = $1 AND d.state = 'pending' AND d.next_at <= $2 AND `+isFirst+`) d
		  JOIN webhooks w ON w.id = d.webhook
		  LEFT JOIN owner_events o ON o.owner = w.owner AND o.n = d.n
		 ORDER BY d.turn, d.next_at, d.webhook LIMIT $3`, host, now.Unix(), limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		a, err := s.scanAttempt(rows, now)
		list = append(list, a)
		return err
	})
	return list, err
}

func (s Webhooks) scanAttempt(rows *sql.Rows, now time.Time) (a webhook.Attempt, err error) {
	var n, oldUntil int64
	var subject, secret, oldSecret, data string
	a.Delivery, err = scanDelivery(rows, &n, &subject, &a.Owner, &a.URL, &secret, &oldSecret, &oldUntil, &data)
	if err != nil {
		return a, err
	}
	id := a.Webhook
	w := webhook.Webhook{Secret: s.openSecret(id, secret), OldSecret: s.openSecret(id, oldSecret), OldUntil: timeOrZero(oldUntil)}
	if w.Secret != "" {
		a.Secrets = w.Secrets(now)
	}
	a.Message = webhook.Message{ID: a.EventID, N: n, Type: a.Type, Subject: subject, At: a.Created, Data: []byte(data)}
	return a, nil
}

// Record implements webhook.Queue.
func (s Webhooks) Record(ctx context.Context, a webhook.Attempt, o webhook.Outcome) error {
	now := s.Now()
	d := a.After(o, now)
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if o.Failure != "" { // it may be turned off, which is an event: its lock comes first
			if _, err := lockEvents(ctx, tx, a.Owner); err != nil {
				return err
			}
		}
		w, err := lockWebhook(ctx, tx, a.Webhook)
		if deed.CodeOf(err) == deed.CodeNotFound {
			return nil // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
		open, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE webhook_deliveries SET state = $3, attempts = $4, next_at = $5, first_at = $6, last_at = $7, status = $8, failure = $9
			 WHERE webhook = $1 AND event = $2 AND state = 'pending'`,
			d.Webhook, d.EventID, d.State, d.Attempts, unixOrZero(d.NextTry), unixOrZero(d.FirstTry), unixOrZero(d.LastTry), d.Status, d.LastFailure))
		if err != nil || !open {
			return err
		}
		if o.Failure == "" {
			_, err := tx.ExecContext(ctx, `
				UPDATE webhooks SET failing_since = 0, disabled_at = 0 WHERE id = $1 AND (failing_since <> 0 OR disabled_at <> 0)`, w.ID)
			return err
		}
		if err := postponeAggregate(ctx, tx, a, d.NextTry); err != nil {
			return err
		}
		return s.recordFailure(ctx, tx, w, o, now)
	})
}

// postponeAggregate postpones the deliveries that wait for one that is tried again
// later, so that nobody looks at them meanwhile.
func postponeAggregate(ctx context.Context, tx *Tx, a webhook.Attempt, until time.Time) error {
	if until.IsZero() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET next_at = $4
		 WHERE webhook = $1 AND aggregate = $2 AND n > $3 AND state = 'pending' AND next_at < $4`,
		a.Webhook, a.Message.Subject, a.Message.N, until.Unix())
	return err
}

// recordFailure notes that the webhook fails, and turns it off when it has done so for
// too long.
func (s Webhooks) recordFailure(ctx context.Context, tx *Tx, w webhook.Webhook, o webhook.Outcome, now time.Time) error {
	if w.FailingSince.IsZero() {
		w.FailingSince = now
		if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET failing_since = $2 WHERE id = $1`, w.ID, now.Unix()); err != nil {
			return err
		}
	}
	if !w.Disabled.IsZero() || !webhook.TurnsOff(o, w.FailingSince, now) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `UPDATE webhooks SET disabled_at = $2 WHERE id = $1`, w.ID, now.Unix()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET state = 'failed', last_at = $2 WHERE webhook = $1 AND state = 'pending'`, w.ID, now.Unix())
	reason := "nothing could be delivered for three days"
	if o.Gone() {
		reason = "the receiver answered 410 Gone"
	}
	tx.emit(event.Event{Owner: w.Owner, Type: event.WebhookDisabled, At: now, Data: event.Data{WebhookID: w.ID, Reason: reason}})
	return err
}
