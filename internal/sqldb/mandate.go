package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Mandates implements mandate.Store. Signatures are encrypted with the Sealer of the
// database. Fill every field.
type Mandates struct {
	DB    *DB
	Asset network.Asset    // the token and the chain that mandates are signed for
	Now   func() time.Time // the registry's clock
}

// mandateContext binds the encrypted signature to its row.
func mandateContext(id string) string { return "mandate " + id }

func (s Mandates) seal(id string, signature []byte) (string, error) {
	return s.DB.seal(mandateContext(id), hex.EncodeToString(signature))
}

func (s Mandates) openSignature(id, sealed string) ([]byte, error) {
	if sealed == "" {
		return nil, nil
	}
	text, err := s.DB.unseal(mandateContext(id), sealed)
	if err != nil {
		return nil, fmt.Errorf("open the signature of mandate %s: %w", id, err)
	}
	return hex.DecodeString(text)
}

// Create implements mandate.Store. The row of the registration is locked first, as by
// everything that ends mandates.
func (s Mandates) Create(ctx context.Context, r deed.Name, all []order.Mandate) ([]order.Mandate, error) {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		held, err := lockRegistration(ctx, tx, r)
		if err != nil {
			return err
		}
		for i := range all {
			m := &all[i]
			if held.owner != m.Owner || held.reference != m.Reference {
				return deed.Errorf(deed.CodeOwnershipDenied, "%s has another owner by now", r)
			}
			if err := s.insert(ctx, tx, m); err != nil {
				return deed.Within(fmt.Sprintf("mandates[%d]", i), err)
			}
		}
		return s.checkLimits(ctx, tx, all[0])
	})
	return all, err
}

func (s Mandates) insert(ctx context.Context, tx *Tx, m *order.Mandate) error {
	m.ID, m.Created = newPublicID("man_"), s.Now().Truncate(time.Second)
	m.Updated = m.Created
	sealed, err := s.seal(m.ID, m.Auth.Signature)
	if err != nil {
		return err
	}
	var known int
	err = tx.QueryRowContext(ctx, `SELECT count(*) FROM mandates WHERE domain = $1 AND expires_at = $2 AND state IN ('active', 'paying')`, m.Name, m.Expires.Unix()).Scan(&known)
	if err != nil {
		return err
	}
	if known > 0 {
		return deed.Invalid("expiresAt", "there is a mandate for this expiry already: revoke it first")
	}
	isNew, err := rowsAffected(tx.ExecContext(ctx, `
		INSERT INTO mandates (id, owner, domain, reference, expires_at, chain_id, asset, nonce, pay_to, amount, valid_after, valid_before,
		                      signature, state, created_at, updated_at, next_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15, 0)
		ON CONFLICT (chain_id, asset, owner, nonce) DO NOTHING`,
		m.ID, m.Owner, m.Name, m.Reference, m.Expires.Unix(), s.Asset.ChainID, s.Asset.Token, m.Auth.Nonce, m.Auth.PayTo, m.Auth.Amount,
		m.Auth.ValidAfter, m.Auth.ValidBefore, sealed, order.MandateActive, m.Created.Unix()))
	if err == nil && !isNew {
		err = deed.Invalid("authorization.nonce", "was given before: sign with a new one")
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM mandates WHERE `+s.DB.amongResults("id", `
		SELECT id FROM mandates WHERE domain = $1 AND expires_at = $2 AND state = 'revoked' ORDER BY created_at DESC, id LIMIT $3 OFFSET $3`),
		m.Name, m.Expires.Unix(), maxListed)
	return err
}

// maxListed is how many mandates of a name are listed, and how many revoked ones of one expiry
// are kept: signing and revoking costs nothing.
const maxListed = 100

// checkLimits fails when the new mandates are too many. The counter of the owner's
// events is the lock that makes the limit hold.
func (s Mandates) checkLimits(ctx context.Context, tx *Tx, m order.Mandate) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO event_counters (owner, n) VALUES ($1, 0)
		ON CONFLICT (owner) DO UPDATE SET n = event_counters.n`, m.Owner)
	if err != nil {
		return err
	}
	var n, named int
	err = tx.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(CASE WHEN domain = $2 THEN 1 ELSE 0 END), 0) FROM mandates WHERE owner = $1 AND state = 'active'`, m.Owner, m.Name).Scan(&n, &named)
	switch {
	case err != nil:
		return err
	case named > order.MaxMandates:
		return deed.Invalid("mandates", "a name has at most %d", order.MaxMandates)
	case n > order.MaxWalletMandates:
		return deed.Invalid("mandates", "a wallet has at most %d: revoke those that are not needed", order.MaxWalletMandates)
	}
	return nil
}

// lockedRegistration is what mandates are compared with.
type lockedRegistration struct {
	owner     deed.Wallet
	reference string
	expires   int64
}

// lockRegistration locks the row of a registration until the end of the transaction.
func lockRegistration(ctx context.Context, tx *Tx, name deed.Name) (r lockedRegistration, err error) {
	err = tx.QueryRowContext(ctx, `
		UPDATE registrations SET next_at = next_at WHERE domain = $1 RETURNING owner, reference, expires_at`, name).Scan(&r.owner, &r.reference, &r.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return r, deed.Errorf(deed.CodeNotFound, "%s is not registered here", name)
	}
	return r, err
}

const (
	mandateColumns = `id, owner, domain, reference, expires_at, chain_id, asset, nonce, pay_to, amount, valid_after, valid_before, signature,
		state, reason, payment_id, told_price, told_funds, created_at, updated_at`
	selectMandate = `SELECT ` + mandateColumns + ` FROM mandates `
)

func scanMandate(row scanner) (m order.Mandate, sealed string, err error) {
	var expires, created, updated, price, funds int64
	err = row.Scan(&m.ID, &m.Owner, &m.Name, &m.Reference, &expires, &m.Auth.Asset.ChainID, &m.Auth.Asset.Token, &m.Auth.Nonce, &m.Auth.PayTo, &m.Auth.Amount,
		&m.Auth.ValidAfter, &m.Auth.ValidBefore, &sealed, &m.State, &m.Reason, &m.PaymentID, &price, &funds, &created, &updated)
	m.Auth.Payer, m.ToldPrice, m.ToldFunds = m.Owner, price != 0, funds != 0
	m.Expires, m.Created, m.Updated = timeOrZero(expires), timeOrZero(created), timeOrZero(updated)
	return m, sealed, err
}

// scanUnsigned reads a mandate without its signature.
func scanUnsigned(row scanner) (order.Mandate, error) {
	m, _, err := scanMandate(row)
	return m, err
}

// Mandate implements mandate.Store.
func (s Mandates) Mandate(ctx context.Context, id string) (order.Mandate, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	m, sealed, err := scanMandate(s.DB.read.QueryRowContext(ctx, selectMandate+`WHERE id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return m, deed.Errorf(deed.CodeNotFound, "no mandate %s", id)
	}
	if err == nil {
		m.Auth.Signature, err = s.openSignature(id, sealed)
	}
	return m, err
}

// MandateOf implements registration.LostMandates.
func (s Mandates) MandateOf(ctx context.Context, a settle.Authorization) (order.Mandate, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	m, _, err := scanMandate(s.DB.read.QueryRowContext(ctx, selectMandate+`WHERE chain_id = $1 AND asset = $2 AND owner = $3 AND nonce = $4`,
		s.Asset.ChainID, s.Asset.Token, a.Payer, a.Nonce))
	if errors.Is(err, sql.ErrNoRows) {
		return m, deed.Errorf(deed.CodeNotFound, "no mandate with this nonce")
	}
	return m, err
}

// List implements mandate.Store. Signatures are left out.
func (s Mandates) List(ctx context.Context, owner deed.Wallet, name deed.Name) (all []order.Mandate, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readAll(ctx, s.DB.read, scanUnsigned, selectMandate+`WHERE domain = $1 AND owner = $2 ORDER BY expires_at DESC, created_at DESC, id LIMIT $3`, name, owner, maxListed)
}

// Active implements mandate.Store.
func (s Mandates) Active(ctx context.Context, name deed.Name) (all []order.Mandate, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readAll(ctx, s.DB.read, scanUnsigned, selectMandate+`WHERE domain = $1 AND state IN ('active', 'paying') ORDER BY expires_at`, name)
}

// Due implements mandate.Store.
func (s Mandates) Due(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "id", from: "mandates", at: "next_at"}, s.Now(), limit)
}

// Delay implements mandate.Store.
func (s Mandates) Delay(ctx context.Context, m order.Mandate, next time.Time, tell bool) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		told := func(yes bool) int {
			if yes {
				return 1
			}
			return 0
		}
		// What another node has told the owner is not told again.
		moved, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE mandates SET next_at = $1, reason = $2, told_price = $3, told_funds = $4, updated_at = $5
			 WHERE id = $6 AND state = 'active' AND ($7 = 0 OR told_price <> $3 OR told_funds <> $4 OR reason <> $2)`,
			next.Unix(), m.Reason, told(m.ToldPrice), told(m.ToldFunds), now.Unix(), m.ID, told(tell)))
		if moved && tell {
			if e, ok := event.OfMandate(m, now); ok {
				tx.emit(e)
			}
		}
		return err
	})
}
