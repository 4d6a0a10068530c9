package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
)

// Payments implements payment.Store. Fill every field.
type Payments struct {
	DB      *DB
	ChainID uint64
	Asset   deed.Wallet // the token
	Now     func() time.Time
}

// AuthorizePayment implements payment.Store.
func (s Payments) AuthorizePayment(ctx context.Context, p deed.Payment) (deed.Payment, error) {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		written, err := s.authorize(ctx, tx, p)
		if deed.CodeOf(err) == deed.CodeNotFound {
			// Another promise for the same purchase was written while we looked:
			// now it is seen, and ours is its alias.
			written, err = s.authorize(ctx, tx, p)
		}
		p = written
		return err
	})
	return p, err
}

// authorize writes the payment down, or finds it written. It fails with
// CodeNotFound when another open payment for the same purchase keeps it out.
func (s Payments) authorize(ctx context.Context, tx *Tx, p deed.Payment) (deed.Payment, error) {
	now := s.Now()
	// A client that lost its answer may have signed anew: what it paid for
	// before is delivered, and this promise is not called in.
	err := tx.QueryRowContext(ctx, `
		SELECT id FROM payments
		 WHERE payer = $1 AND fingerprint = $2 AND alias_of IS NULL
		   AND state IN ('authorized', 'settling', 'settled')`,
		p.Auth.Payer, p.Purchase.Fingerprint()).Scan(&p.AliasOf)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, err
	}
	if p.AliasOf == p.ID {
		p.AliasOf = ""
	}
	fresh, err := s.insertPayment(ctx, tx, p, now)
	if err != nil {
		return p, err
	}
	if fresh && p.AliasOf == "" {
		if err := createJob(ctx, tx, p, now); err != nil {
			return p, err
		}
	}
	return readPayment(ctx, tx, p.ID)
}

func (s Payments) insertPayment(ctx context.Context, tx *Tx, p deed.Payment, now time.Time) (fresh bool, err error) {
	var next any
	if p.AliasOf == "" {
		next = now.Unix()
	}
	return touched(tx.ExecContext(ctx, `
		INSERT INTO payments (id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature,
		                      kind, domain, years, fingerprint, state, tx_hash, refund_tx, alias_of, created_at, changed_at, next_at, purchase)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '', '', $16, $17, $17, $18, $19)
		ON CONFLICT DO NOTHING`,
		p.ID, s.ChainID, s.Asset, p.Auth.Payer, p.Auth.Nonce, p.Auth.PayTo, p.Auth.Amount, p.Auth.ValidAfter, p.Auth.ValidBefore,
		hex.EncodeToString(p.Auth.Signature), p.Purchase.Kind, p.Purchase.Name, p.Purchase.Years, p.Purchase.Fingerprint(),
		deed.PaymentAuthorized, sql.NullString{String: p.AliasOf, Valid: p.AliasOf != ""}, now.Unix(), next, purchaseColumn(p.Purchase)))
}

// purchaseColumn writes a purchase as the column keeps it.
func purchaseColumn(p deed.Purchase) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // plain data: only a programmer can make it fail
	}
	return string(text)
}

// readPurchase fills in the particulars of a purchase. Old rows have none.
func readPurchase(p *deed.Purchase, column string) error {
	if column == "" {
		return nil
	}
	return json.Unmarshal([]byte(column), p)
}

// Payment implements payment.Store.
func (s Payments) Payment(ctx context.Context, id string) (deed.Payment, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	return readPayment(ctx, s.DB.read, id)
}

// MovePayment implements payment.Store.
func (s Payments) MovePayment(ctx context.Context, p deed.Payment, to deed.PaymentState, txHash string) (deed.Payment, error) {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		moved, err := movePayment(ctx, tx, p, to, txHash, now)
		if err == nil && moved {
			err = s.afterMove(ctx, tx, p, to, now)
		}
		if err != nil {
			return err
		}
		p, err = readPayment(ctx, tx, p.ID)
		return err
	})
	return p, err
}

// afterMove does what belongs to a move in the same transaction.
func (s Payments) afterMove(ctx context.Context, tx *Tx, p deed.Payment, to deed.PaymentState, now time.Time) error {
	switch to {
	case deed.PaymentSettled:
		if err := post(ctx, tx, p, "settled", "treasury", "owed", now); err != nil {
			return err
		}
		return moveJob(ctx, tx, p.ID, deed.JobAwaitingPayment, deed.JobQueued, now)
	case deed.PaymentVoid:
		return moveJob(ctx, tx, p.ID, deed.JobAwaitingPayment, deed.JobCancelled, now)
	case deed.PaymentRefunded:
		return post(ctx, tx, p, "refunded", "owed", "refunds", now)
	}
	return nil
}

// movePayment moves the payment along one arrow. It returns false when the
// payment is no longer in p.State: another try has moved it.
func movePayment(ctx context.Context, tx *Tx, p deed.Payment, to deed.PaymentState, txHash string, now time.Time) (bool, error) {
	if !p.State.MayBecome(to) {
		return false, fmt.Errorf("payment %s: no arrow leads from %s to %s", p.ID, p.State, to)
	}
	settled, refunded := p.TxHash, ""
	switch to {
	case deed.PaymentSettled:
		settled = txHash
	case deed.PaymentRefunded:
		refunded = txHash
	}
	var next any
	switch to {
	case deed.PaymentSettling, deed.PaymentRefundDue, deed.PaymentRefunding:
		next = now.Unix()
	}
	return touched(tx.ExecContext(ctx, `
		UPDATE payments SET state = $1, tx_hash = $2, refund_tx = $3, changed_at = $4, next_at = $5
		 WHERE id = $6 AND state = $7 AND alias_of IS NULL`,
		to, settled, refunded, now.Unix(), next, p.ID, p.State))
}

// post writes a ledger entry: the amount goes from one account to the other.
func post(ctx context.Context, tx *Tx, p deed.Payment, entry, to, from string, now time.Time) error {
	for account, amount := range map[string]deed.USDC{to: p.Auth.Amount, from: -p.Auth.Amount} {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO ledger (payment_id, entry, account, amount, at) VALUES ($1, $2, $3, $4, $5)`,
			p.ID, entry, account, amount, now.Unix())
		if err != nil {
			return fmt.Errorf("post %s of %s: %w", entry, p.ID, err)
		}
	}
	return nil
}

// DelayPayment implements payment.Store.
func (s Payments) DelayPayment(ctx context.Context, id string, until time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE payments SET next_at = $1 WHERE id = $2 AND next_at IS NOT NULL`, until.Unix(), id)
		return err
	})
}

// DuePayments implements payment.Store.
func (s Payments) DuePayments(ctx context.Context, most int) ([]string, error) {
	return due(ctx, s.DB, `SELECT id FROM payments WHERE next_at <= $1 ORDER BY next_at LIMIT $2`, s.Now(), most)
}

func due(ctx context.Context, db *DB, query string, now time.Time, most int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, db.Patience)
	defer cancel()
	rows, err := db.read.QueryContext(ctx, query, now.Unix(), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // rows.Err below tells what went wrong
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// rower is a transaction or a pool.
type rower interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readPayment(ctx context.Context, from rower, id string) (deed.Payment, error) {
	p := deed.Payment{ID: id}
	var signature, purchase string
	var alias sql.NullString
	var created int64
	err := from.QueryRowContext(ctx, `
		SELECT payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years, purchase,
		       state, tx_hash, refund_tx, alias_of, created_at
		  FROM payments
		 WHERE id = $1`,
		id).Scan(&p.Auth.Payer, &p.Auth.Nonce, &p.Auth.PayTo, &p.Auth.Amount, &p.Auth.ValidAfter, &p.Auth.ValidBefore, &signature,
		&p.Purchase.Kind, &p.Purchase.Name, &p.Purchase.Years, &purchase, &p.State, &p.TxHash, &p.RefundTx, &alias, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return p, deed.Errorf(deed.CodeNotFound, "no payment %s", id)
	}
	if err != nil {
		return p, err
	}
	p.AliasOf, p.Created = alias.String, time.Unix(created, 0)
	if p.Auth.Signature, err = hex.DecodeString(signature); err != nil {
		return p, err
	}
	return p, readPurchase(&p.Purchase, purchase)
}
