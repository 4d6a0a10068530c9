package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
)

// Accounts implements account.Store. Fill the field.
type Accounts struct{ DB *DB }

// Wallet implements account.Store.
func (s Accounts) Wallet(ctx context.Context, w deed.Wallet, soon time.Time) (deed.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	a := deed.Account{Wallet: w}
	var created, active int64
	err := s.DB.read.QueryRowContext(ctx, `SELECT created_at, last_active_at FROM wallets WHERE address = $1`, w).Scan(&created, &active)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return a, err
	}
	a.Created, a.LastActive = time.Unix(created, 0), time.Unix(active, 0)
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT coalesce(sum(CASE WHEN tx_hash <> '' THEN amount ELSE 0 END), 0),
		       coalesce(sum(CASE WHEN state = 'refunded' THEN amount ELSE 0 END), 0)
		  FROM payments WHERE payer = $1`,
		w).Scan(&a.Spent, &a.Refunded)
	if err != nil {
		return a, err
	}
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(CASE WHEN status IN ('active', 'transferring') THEN 1 ELSE 0 END), 0),
		       coalesce(sum(CASE WHEN status IN ('active', 'transferring') AND expires_at <= $2 THEN 1 ELSE 0 END), 0)
		  FROM registrations WHERE owner = $1`,
		w, soon.Unix()).Scan(&a.Domains, &a.Active, &a.ExpiringSoon)
	return a, err
}

// Domains implements account.Store.
func (s Accounts) Domains(ctx context.Context, w deed.Wallet, status deed.Status, before time.Time, p deed.Page) (list []deed.Held, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	const where = `WHERE owner = $1 AND (status = $2 OR $2 = '') AND (expires_at <= $3 OR $3 = 0)`
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM registrations `+where, w, string(status), unix(before)).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.DB.read.QueryContext(ctx, selectRegistration+where+` ORDER BY domain LIMIT $4 OFFSET $5`, w, string(status), unix(before), p.Limit, p.Offset)
	if err != nil {
		return nil, 0, err
	}
	err = each(rows, func() error {
		r, err := scanRegistration(rows)
		list = append(list, deed.Held{Registration: r})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	for i, held := range list {
		if list[i].Events, err = (Registrations{DB: s.DB}).Events(ctx, held.Reference); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

// Transactions implements account.Store. A refund is a transaction of its own,
// beside the payment that it returns; money that nobody asked for is its refund
// alone. Times are whole seconds: within one, the id decides, and a refund stands
// before its payment, so that the order is the same on every page.
func (s Accounts) Transactions(ctx context.Context, w deed.Wallet, limit, offset int) (list []deed.Movement, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT coalesce(sum(CASE WHEN kind <> 'nothing' THEN 1 ELSE 0 END), 0) +
		       coalesce(sum(CASE WHEN state IN ('refund_due', 'refunding', 'refunded') THEN 1 ELSE 0 END), 0)
		  FROM payments WHERE payer = $1`, w).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT id, 0 AS refund, kind, domain, state, amount, tx_hash, created_at AS at FROM payments
		 WHERE payer = $1 AND kind <> 'nothing'
		UNION ALL
		SELECT id, 1, kind, domain, state, amount, refund_tx, changed_at FROM payments
		 WHERE payer = $1 AND state IN ('refund_due', 'refunding', 'refunded')
		 ORDER BY at DESC, id, refund DESC LIMIT $2 OFFSET $3`,
		w, limit, offset)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close() // rows.Err below tells what went wrong
	for rows.Next() {
		var m deed.Movement
		var refund, at int64
		if err := rows.Scan(&m.PaymentID, &refund, &m.Kind, &m.Name, &m.State, &m.Amount, &m.TxHash, &at); err != nil {
			return nil, 0, err
		}
		m.Refund, m.At, m.Payer = refund == 1, time.Unix(at, 0), w
		list = append(list, m)
	}
	return list, total, rows.Err()
}
