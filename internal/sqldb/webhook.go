package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/webhook"
)

// Webhooks implements webhook.Store, webhook.Deliveries and webhook.Queue. Secrets are
// encrypted with the Sealer of the database. Fill every field.
type Webhooks struct {
	DB  *DB
	Now func() time.Time
}

var errNoWebhook = deed.Errorf(deed.CodeNotFound, "this wallet has no such webhook")

// sealContext binds the encrypted secret to its row.
func sealContext(id string) string { return "webhook " + id }

func (s Webhooks) seal(id string, secret deed.Secret) (string, error) {
	return s.DB.seal(sealContext(id), secret.Reveal())
}

// openSecret decrypts a secret; one that cannot be decrypted is "".
func (s Webhooks) openSecret(id, sealed string) deed.Secret {
	plain, err := s.DB.unseal(sealContext(id), sealed)
	if err != nil {
		return "" // attempts fail with FailureSecret, which says what to do
	}
	return deed.Secret(plain)
}

// Create implements webhook.Store.
func (s Webhooks) Create(ctx context.Context, w webhook.Webhook) (webhook.Webhook, error) {
	w.ID = newPublicID("wh_")
	sealed, err := s.seal(w.ID, w.Secret)
	if err != nil {
		return w, err
	}
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		// The counter of the owner's events is the lock that makes the limit hold.
		_, err := tx.ExecContext(ctx, `
			INSERT INTO event_counters (owner, n) VALUES ($1, 0)
			ON CONFLICT (owner) DO UPDATE SET n = event_counters.n`, w.Owner)
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM webhooks WHERE owner = $1`, w.Owner).Scan(&n); err != nil {
			return err
		}
		if n >= webhook.MaxPerWallet {
			return deed.Errorf(deed.CodeValidation, "a wallet has at most %d webhooks: delete one first", webhook.MaxPerWallet)
		}
		if err := admitWebhook(ctx, tx, w.Owner); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO webhooks (id, owner, url, host, secret, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			w.ID, w.Owner, w.URL, w.Host, sealed, w.Created.Unix())
		return err
	})
	return w, err
}

// admitWebhook fails unless the wallet has a name or has paid for an order. Wallets cost
// nothing, and the hosts of their webhooks take slots of the dispatcher.
func admitWebhook(ctx context.Context, tx *Tx, owner deed.Wallet) error {
	var admitted int
	err := tx.QueryRowContext(ctx, `
		SELECT CASE WHEN EXISTS (SELECT 1 FROM registrations WHERE owner = $1)
		              OR EXISTS (SELECT 1 FROM payments WHERE payer = $1 AND state IN ('settled', 'consumed')) THEN 1 ELSE 0 END`,
		owner).Scan(&admitted)
	if err == nil && admitted == 0 {
		return deed.Invalid("url", "events are sent to owners of names: register a name first")
	}
	return err
}

const selectWebhook = `SELECT id, url, host, created_at, failing_since, disabled_at FROM webhooks `

// List implements webhook.Store.
func (s Webhooks) List(ctx context.Context, owner deed.Wallet) (list []webhook.Webhook, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	scan := func(row scanner) (webhook.Webhook, error) { return scanWebhook(row, owner) }
	return readAll(ctx, s.DB.read, scan, selectWebhook+`WHERE owner = $1 ORDER BY created_at, id`, owner)
}

func scanWebhook(row scanner, owner deed.Wallet) (webhook.Webhook, error) {
	w := webhook.Webhook{Owner: owner}
	var created, failing, disabled int64
	err := row.Scan(&w.ID, &w.URL, &w.Host, &created, &failing, &disabled)
	w.Created, w.FailingSince, w.Disabled = timeOrZero(created), timeOrZero(failing), timeOrZero(disabled)
	return w, err
}

// Delete implements webhook.Store. Deliveries that are left, because there are many or the
// node dies, are deleted by Prune.
func (s Webhooks) Delete(ctx context.Context, owner deed.Wallet, id string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		found, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM webhooks WHERE id = $1 AND owner = $2`, id, owner))
		if err != nil {
			return err
		}
		if !found {
			return errNoWebhook
		}
		_, err = tx.ExecContext(ctx, deleteDeliveries+`webhook = $1 LIMIT $2)`, id, pruneLimit)
		return err
	})
}

// Rotate implements webhook.Store.
func (s Webhooks) Rotate(ctx context.Context, owner deed.Wallet, id string, secret deed.Secret, until time.Time) (w webhook.Webhook, err error) {
	sealed, err := s.seal(id, secret)
	if err != nil {
		return w, err
	}
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		w, err = scanWebhook(tx.QueryRowContext(ctx, `
			UPDATE webhooks SET old_secret = secret, old_until = $4, secret = $3 WHERE id = $1 AND owner = $2
			RETURNING id, url, host, created_at, failing_since, disabled_at`, id, owner, sealed, until.Unix()), owner)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoWebhook
		}
		return err
	})
	w.Secret = secret
	return w, err
}

// lockWebhook locks the row of a webhook until the end of the transaction. It comes
// before the rows of its deliveries, so that no two transactions wait for each other.
func lockWebhook(ctx context.Context, tx *Tx, id string) (webhook.Webhook, error) {
	w := webhook.Webhook{ID: id}
	var failing, disabled int64
	err := tx.QueryRowContext(ctx, `
		UPDATE webhooks SET failing_since = failing_since WHERE id = $1
		RETURNING owner, host, failing_since, disabled_at`, id).Scan(&w.Owner, &w.Host, &failing, &disabled)
	if errors.Is(err, sql.ErrNoRows) {
		return w, errNoWebhook
	}
	w.FailingSince, w.Disabled = timeOrZero(failing), timeOrZero(disabled)
	return w, err
}
