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

func scanDelivery(row scanner, more ...any) (webhook.Delivery, error) {
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
	scan := func(row scanner) (webhook.Delivery, error) { return scanDelivery(row) }
	list, err = readAll(ctx, s.DB.read, scan, selectDelivery+`WHERE webhook = $1 ORDER BY created_at DESC, n DESC, event LIMIT $2 OFFSET $3`, id, limit, offset)
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
