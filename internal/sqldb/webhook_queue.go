package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/webhook"
)

// maxAggregates is how many aggregates of a webhook are looked at for what is due, besides
// those that are tried again later.
const maxAggregates = 1024

// withFirst is the beginning of a statement that reads the first pending delivery d of each
// aggregate of some webhooks. It goes from aggregate to aggregate by the index of pending
// deliveries, so it does not read those that wait for another one, of which there may be many.
// It ends when enough is due at a time. Every aggregate is at least empty, which makes SQLite
// prefer that index to those of all deliveries.
func withFirst(webhooks, at string, enough int) string {
	return fmt.Sprintf(`
		WITH RECURSIVE waiting (webhook, aggregate, due) AS (
			SELECT w.id, (SELECT min(d.aggregate) FROM webhook_deliveries d WHERE d.webhook = w.id AND d.aggregate >= '' AND d.state = 'pending'), 0
			  FROM webhooks w WHERE %s
			UNION ALL
			SELECT g.webhook, (SELECT min(d.aggregate) FROM webhook_deliveries d WHERE d.webhook = g.webhook AND d.aggregate > g.aggregate AND d.state = 'pending'),
			       g.due + CASE WHEN (
				SELECT d.next_at FROM webhook_deliveries d
				 WHERE d.webhook = g.webhook AND d.aggregate = g.aggregate AND d.state = 'pending' ORDER BY d.n LIMIT 1) <= %s THEN 1 ELSE 0 END
			  FROM waiting g WHERE g.aggregate IS NOT NULL AND g.due < %d)`, webhooks, at, enough)
}

// first joins the deliveries to the aggregates of withFirst. SQLite keeps the order of a CROSS JOIN.
const first = `waiting g CROSS JOIN webhook_deliveries d WHERE d.webhook = g.webhook AND d.aggregate = g.aggregate AND d.state = 'pending' AND d.n = (
	SELECT min(e.n) FROM webhook_deliveries e WHERE e.webhook = g.webhook AND e.aggregate = g.aggregate AND e.state = 'pending')`

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
		return failPending(ctx, tx, `d.webhook IN (SELECT id FROM webhooks WHERE host = $1 AND disabled_at <> 0) AND d.n <> 0`, t.Host, s.Now())
	})
	return free, err
}

// failPending fails the pending deliveries that a condition with one argument selects, and at
// most so many that the transaction does not take long. The next turn continues.
func failPending(ctx context.Context, tx *Tx, which, arg string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET state = 'failed', last_at = $2 WHERE (webhook, event) IN (
			SELECT d.webhook, d.event FROM webhook_deliveries d
			 WHERE `+which+` AND d.aggregate >= '' AND d.state = 'pending' LIMIT $3)`,
		arg, now.Unix(), pruneLimit)
	return err
}

// selectDueDeliveries reads what is due to the webhooks of a host. SQLite would begin with
// all webhooks, without the CROSS.
var selectDueDeliveries = withFirst("w.host = $1 AND w.due_at <= $2", "$2", maxAggregates) + `
		SELECT t.webhook, t.event, t.type, t.state, t.attempts, t.created_at, t.first_at, t.last_at, t.next_at, t.status, t.failure,
		       t.n, t.aggregate, w.owner, w.url, w.secret, w.old_secret, w.old_until, coalesce(o.data, '{}')
		  FROM (SELECT d.*, row_number() OVER (PARTITION BY d.webhook ORDER BY d.next_at, d.n) AS turn
		          FROM ` + first + ` AND d.next_at <= $2) t
		 CROSS JOIN webhooks w
		  LEFT JOIN owner_events o ON o.owner = w.owner AND o.n = t.n
		 WHERE w.id = t.webhook AND (w.disabled_at = 0 OR t.n = 0)
		 ORDER BY t.turn, t.next_at, t.webhook LIMIT $3`

// Due implements webhook.Queue.
func (s Webhooks) Due(ctx context.Context, host string, limit int) (list []webhook.Attempt, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	now := s.Now()
	rows, err := s.DB.read.QueryContext(ctx, selectDueDeliveries, host, now.Unix(), limit)
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
		return s.recordFailure(ctx, tx, w, o, now)
	})
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
	reason := "nothing could be delivered for three days"
	if o.Gone() {
		reason = "the receiver answered 410 Gone"
	}
	tx.emit(event.Event{Owner: w.Owner, Type: event.WebhookDisabled, At: now, Data: event.Data{WebhookID: w.ID, Reason: reason}})
	return failPending(ctx, tx, `d.webhook = $1`, w.ID, now)
}
