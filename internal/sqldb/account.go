package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/account"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Accounts implements account.Store. Fill the field.
type Accounts struct{ DB *DB }

// Wallet implements account.Store.
func (s Accounts) Wallet(ctx context.Context, w deed.Wallet, soon time.Time) (account.Account, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	a := account.Account{Wallet: w}
	var created, active, paid int64
	err := s.DB.read.QueryRowContext(ctx, `SELECT created_at, last_active_at FROM wallets WHERE address = $1`, w).Scan(&created, &active)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return a, err
	}
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT coalesce(sum(CASE WHEN state IN ('settled', 'consumed') OR refund_label <> '' THEN amount - refund_amount ELSE 0 END), 0),
		       coalesce(sum(CASE WHEN state = 'refunded' THEN `+refundAmount+` ELSE 0 END), 0), coalesce(min(created_at), $2)
		  FROM payments WHERE payer = $1`,
		w, created).Scan(&a.Spent, &a.Refunded, &paid)
	if err != nil {
		return a, err
	}
	a.Created, a.LastActive = time.Unix(min(created, paid), 0), time.Unix(active, 0) // paying needs no sign-in
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT count(*), coalesce(sum(CASE WHEN status IN ('active', 'transferring') THEN 1 ELSE 0 END), 0),
		       coalesce(sum(CASE WHEN status IN ('active', 'transferring') AND expires_at <= $2 THEN 1 ELSE 0 END), 0)
		  FROM registrations WHERE owner = $1`,
		w, soon.Unix()).Scan(&a.Domains, &a.Active, &a.ExpiringSoon)
	return a, err
}

// Domains implements account.Store.
func (s Accounts) Domains(ctx context.Context, w deed.Wallet, status lifecycle.Status, before time.Time, p account.Page) (list []account.OwnedDomain, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	const where = `WHERE owner = $1 AND (status = $2 OR $2 = '') AND (expires_at <= $3 OR $3 = 0)`
	var after deed.Name
	if p.After != nil {
		after = p.After.Name
	} else {
		err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM registrations `+where, w, string(status), unixOrZero(before)).Scan(&total)
	}
	if err != nil {
		return nil, 0, err
	}
	rows, err := s.DB.read.QueryContext(ctx, selectRegistration+where+` AND domain > $6 ORDER BY domain LIMIT $4 OFFSET $5`,
		w, string(status), unixOrZero(before), p.Limit, p.Offset, after)
	if err != nil {
		return nil, 0, err
	}
	err = eachRow(rows, func() error {
		r, err := scanRegistration(rows)
		list = append(list, account.OwnedDomain{Registration: r})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return list, total, s.addEvents(ctx, list)
}

// addEvents reads the events of names with one statement.
func (s Accounts) addEvents(ctx context.Context, list []account.OwnedDomain) error {
	if len(list) == 0 {
		return nil
	}
	at, names := map[string]int{}, make([]deed.Name, len(list))
	for i, owned := range list {
		at[owned.Reference], names[i] = i, owned.Name
	}
	rows, err := s.DB.read.QueryContext(ctx, selectEvents(`SELECT domain, reference FROM registrations WHERE `+s.DB.among("domain", "$1")), array(s.DB, names))
	if err != nil {
		return err
	}
	return eachRow(rows, func() error {
		e, err := scanEvent(rows)
		if i, ok := at[e.Reference]; ok { // the name may have been registered again meanwhile
			list[i].Events = append(list[i].Events, e)
		}
		return err
	})
}

// Expiring implements account.Store.
func (s Accounts) Expiring(ctx context.Context, w deed.Wallet, before time.Time, limit int) (list []lifecycle.Registration, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	const where = `WHERE owner = $1 AND expires_at <= $2 AND status IN ('active', 'transferring', 'expired', 'redemption')`
	if err := s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM registrations `+where, w, before.Unix()).Scan(&total); err != nil || total == 0 {
		return nil, 0, err
	}
	list, err = readAll(ctx, s.DB.read, scanRegistration, selectRegistration+where+` ORDER BY expires_at, domain LIMIT $3`, w, before.Unix(), limit)
	return list, total, err
}

// refundAmount is the amount of the refund of a payment: a part, or all of it.
const refundAmount = `(CASE WHEN refund_label = '' THEN amount ELSE refund_amount END)`

// listedPayments and listedRefunds select the transactions of a wallet: every payment
// that is not an alias, and every refund as a separate transaction. A transfer without
// a request is listed as its refund only. The states of refunds are written as those of the
// index payments_refunded, or SQLite would not use it.
const (
	listedPayments = `FROM payments WHERE payer = $1 AND kind <> 'nothing' AND alias_of IS NULL`
	listedRefunds  = `FROM payments WHERE payer = $1 AND state IN ('refund_due', 'refunding', 'refunded', 'unclaimed') AND (state <> 'unclaimed' OR lost_at IS NULL)`
)

// newestPayments and newestRefunds select as many of them as a page can show, so that
// the page of a wallet with many payments reads only those.
const (
	newestPayments = `SELECT id, public_id, 0 AS refund, kind, domain, CASE WHEN refund_label = '' THEN state ELSE 'consumed' END AS state, amount, tx_hash,
		created_at AS at, '' AS reason ` + listedPayments + `
		AND created_at <= $5 AND (created_at < $5 OR id > $6 OR id = $6 AND $7 = 1) ORDER BY created_at DESC, id LIMIT $4`
	newestRefunds = `SELECT id, refund_id, 1, kind, domain, state, ` + refundAmount + `, refund_tx,
		changed_at, refund_reason ` + listedRefunds + `
		AND changed_at <= $5 AND (changed_at < $5 OR id > $6) ORDER BY changed_at DESC, id LIMIT $4`
)

// Transactions implements account.Store. Times are whole seconds: within a second
// rows are ordered by id, refunds first, so that pages are consistent.
func (s Accounts) Transactions(ctx context.Context, w deed.Wallet, p account.Page) (list []order.Movement, total int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var after account.Position
	if p.After != nil {
		after = *p.After
	} else {
		err = s.DB.read.QueryRowContext(ctx, `SELECT (SELECT count(*) `+listedPayments+`) + (SELECT count(*) `+listedRefunds+`)`, w).Scan(&total)
		if err != nil || p.Offset >= total {
			return nil, total, err
		}
	}
	upTo := int64(math.MaxInt64)
	if !after.At.IsZero() {
		upTo = after.At.Unix()
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT t.id, t.public_id, coalesce(j.public_id, ''), t.refund, t.kind, t.domain, t.state, t.amount, t.tx_hash, t.at, t.reason, coalesce(d.purchase, '')
		  FROM (SELECT * FROM (`+newestPayments+`) p UNION ALL SELECT * FROM (`+newestRefunds+`) r
		         ORDER BY at DESC, id, refund DESC LIMIT $2 OFFSET $3) t
		  LEFT JOIN jobs j ON j.payment_id = t.id
		  LEFT JOIN payments d ON d.id = t.id AND t.refund = 0 AND t.state = 'consumed' AND t.kind IN ('dns_add', 'dns_update', 'dns_delete')
		 ORDER BY t.at DESC, t.id, t.refund DESC`,
		w, p.Limit, p.Offset, p.Limit+p.Offset, upTo, after.Payment, boolInt(after.Refund))
	if err != nil {
		return nil, 0, err
	}
	err = eachRow(rows, func() error {
		m := order.Movement{Payer: w}
		var refund, at int64
		var change string
		err := rows.Scan(&m.PaymentID, &m.PublicID, &m.JobID, &refund, &m.Kind, &m.Name, &m.State, &m.Amount, &m.TxHash, &at, &m.Reason, &change)
		if err != nil {
			return err
		}
		m.RecordID, err = changedRecord(change)
		m.Refund, m.At = refund == 1, time.Unix(at, 0)
		list = append(list, m)
		return err
	})
	return list, total, err
}

// changedRecord returns the ID of the record that a purchase changes, if it is exactly one.
func changedRecord(purchase string) (dnszone.RecordID, error) {
	var p order.Purchase
	if _, err := readPurchase(&p, purchase); err != nil || len(p.Change.Ops) != 1 {
		return "", err
	}
	return p.Change.Ops[0].ID.Short(), nil
}
