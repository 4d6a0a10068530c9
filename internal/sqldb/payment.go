package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Payments implements fulfil.Store, fulfil.Queue and fulfil.WatchStore. Fill
// every field.
type Payments struct {
	DB      *DB
	ChainID uint64
	Asset   deed.Wallet // the token
	Now     func() time.Time
}

// newPublicID returns an id with 128 random bits.
func newPublicID(kind string) string {
	b := make([]byte, 16)
	rand.Read(b) // never fails (crypto/rand)
	return kind + hex.EncodeToString(b)
}

// OpenNonces implements fulfil.Store.
func (s Payments) OpenNonces(ctx context.Context, w deed.Wallet) (nonces []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	open, err := s.openPayments(ctx, s.DB.prepared(), w, "")
	for _, o := range open {
		nonces = append(nonces, o.Nonce)
	}
	return nonces, err
}

// maxOpen bounds the query for the open payments of a wallet: payments.max_open is at most that.
const maxOpen = 100

// selectOpen is written so that SQLite, too, uses the index payments_open, which has few
// payments, and not one that has all of the wallet.
const selectOpen = `
	SELECT nonce, amount FROM payments
	 WHERE payer = $1 AND chain_id + 0 = $2 AND asset = $3 AND id <> $4 AND fingerprint > ''
	   AND alias_of IS NULL AND state IN ('authorized', 'settling', 'settled') AND state <> 'settled'
	 LIMIT $5`

const countAliases = `SELECT count(*) FROM payments WHERE alias_of = $1`

func (s Payments) openPayments(ctx context.Context, from querier, w deed.Wallet, except string) (open []order.OpenPayment, err error) {
	rows, err := from.QueryContext(ctx, selectOpen, w, s.ChainID, s.Asset, except, maxOpen)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var o order.OpenPayment
		err := rows.Scan(&o.Nonce, &o.Amount)
		open = append(open, o)
		return err
	})
	return open, err
}

// AuthorizePayment implements fulfil.Store.
func (s Payments) AuthorizePayment(ctx context.Context, p order.Payment, admit func(order.Payer) error) (stored order.Payment, err error) {
	run := s.DB.atOnce
	if p.Purchase.Kind.ClaimsName() || p.Source == order.SourceMandate {
		run = s.DB.tx // it needs one for what else it writes
	}
	err = run(ctx, func(ctx context.Context, tx *Tx) error {
		payer, err := s.payerOf(ctx, tx, p)
		if err != nil {
			return err
		}
		stored, err = s.authorize(ctx, tx, p, payer, admit)
		payer.requireSame(tx)
		return err
	})
	return stored, err
}

// A payerRow is the row of a payer. Payments of one wallet are admitted one after the
// other: each changes this row.
type payerRow struct {
	wallet       deed.Wallet
	refusedUntil time.Time
	version      string // every lock changes it; read by atOnce only, like open
	open         []order.OpenPayment
}

// lockPayer locks the row of the payer until the transaction ends.
func lockPayer(ctx context.Context, tx *Tx, w deed.Wallet) (payerRow, error) {
	row, until := payerRow{wallet: w}, int64(0)
	err := tx.QueryRowContext(ctx, `
		INSERT INTO payers (address) VALUES ($1)
		ON CONFLICT (address) DO UPDATE SET refused_until = payers.refused_until
		RETURNING refused_until`, w).Scan(&until)
	row.refusedUntil = timeOrZero(until)
	return row, err
}

// payerOf locks the row of the payer of a new payment. In a transaction of atOnce it only
// reads the row, with the open payments: call requireSame at the end.
func (s Payments) payerOf(ctx context.Context, tx *Tx, p order.Payment) (payerRow, error) {
	if tx.pool == nil {
		return lockPayer(ctx, tx, p.Auth.Payer)
	}
	row := payerRow{wallet: p.Auth.Payer}
	rows, err := tx.QueryContext(ctx, `
		SELECT '', refused_until, xmin::text FROM payers WHERE address = $1
		UNION ALL
		SELECT nonce, amount, '' FROM (`+selectOpen+`) open`, p.Auth.Payer, s.ChainID, s.Asset, p.ID, maxOpen)
	if err != nil {
		return row, err
	}
	err = eachRow(rows, func() error {
		var nonce, version string
		var number int64
		err := rows.Scan(&nonce, &number, &version)
		if nonce == "" {
			row.refusedUntil, row.version = timeOrZero(number), version
		} else {
			row.open = append(row.open, order.OpenPayment{Nonce: nonce, Amount: deed.USDC(number)})
		}
		return err
	})
	return row, err
}

// requireSame makes a transaction of atOnce fail if the row was locked since it was read.
func (r payerRow) requireSame(tx *Tx) {
	if tx.pool == nil {
		return
	}
	tx.requireFirst(errNeedsTx, `
		INSERT INTO payers (address) VALUES ($1)
		ON CONFLICT (address) DO UPDATE SET refused_until = payers.refused_until WHERE payers.xmin::text = $2`, r.wallet, r.version)
}

// authorize stores the payment, or returns the existing one.
func (s Payments) authorize(ctx context.Context, tx *Tx, p order.Payment, payer payerRow, admit func(order.Payer) error) (order.Payment, error) {
	// Unique indexes refuse a second payment with this ID or for this purchase: when they
	// do, atOnce runs this in a transaction.
	assumeNew := tx.pool != nil
	if !assumeNew {
		known, err := readPayment(ctx, tx, p.ID)
		if deed.CodeOf(err) != deed.CodeNotFound {
			return known, err
		}
	}
	now := s.Now()
	p.Fingerprint = p.Purchase.Fingerprint()
	if p.Source == order.SourceMandate {
		if err := takeMandate(ctx, tx, p, now); err != nil {
			return p, err
		}
	}
	// A client that lost its answer may have signed again: the earlier payment is
	// delivered, and this one is not settled.
	if !assumeNew {
		var err error
		if p.AliasOf, err = openFor(ctx, tx, p); err != nil {
			return p, err
		}
	}
	who, err := s.payerState(ctx, tx, p, payer, now)
	if err != nil {
		return p, err
	}
	if err := admit(who); err != nil {
		if assumeNew {
			err = errors.Join(errNeedsTx, err) // there it may be an alias
		}
		return p, err
	}
	if p, err = s.insertPayment(tx, p, now); err != nil || p.AliasOf != "" {
		return p, err
	}
	j, err := createJob(ctx, tx, p, order.JobAwaitingPayment, now)
	p.Job = &j
	return p, err
}

// payerState returns what admit decides by: of an alias, how many others there are, and of
// another payment, those that are open.
func (s Payments) payerState(ctx context.Context, tx *Tx, p order.Payment, payer payerRow, now time.Time) (who order.Payer, err error) {
	who.RefusedUntil = payer.refusedUntil
	switch {
	case p.AliasOf != "":
		who.Alias = true
		err = tx.QueryRowContext(ctx, countAliases, p.AliasOf).Scan(&who.Aliases)
	case tx.pool != nil:
		who.Open = payer.open
	default:
		who.Open, err = s.openPayments(ctx, tx, p.Auth.Payer, p.ID)
	}
	if err == nil && p.Auth.Wrapped() {
		who.Deployments, err = deployments(ctx, tx, now)
	}
	return who, err
}

// countDeployments uses the index payments_open, like selectOpen.
const countDeployments = `
	SELECT (SELECT count(*) FROM payments
	         WHERE payer > '' AND alias_of IS NULL AND state IN ('authorized', 'settling', 'settled') AND state <> 'settled' AND signature LIKE $1)
	     + (SELECT count(*) FROM reverts JOIN payments ON payments.id = reverts.payment_id WHERE reverts.at > $2 AND signature LIKE $1)`

// deployments counts the payments with the deployment of a wallet that are open or
// reverted of late.
func deployments(ctx context.Context, tx *Tx, now time.Time) (n int, err error) {
	err = tx.QueryRowContext(ctx, countDeployments, "%"+hex.EncodeToString(settle.WrapperSuffix), now.Add(-order.RevertWindow).Unix()).Scan(&n)
	return n, err
}

// openFor returns the open payment of the same payer for the same purchase, or "".
func openFor(ctx context.Context, tx *Tx, p order.Payment) (id string, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT id FROM payments
		 WHERE payer = $1 AND fingerprint = $2 AND alias_of IS NULL AND id <> $3
		   AND state IN ('authorized', 'settling', 'settled')`,
		p.Auth.Payer, p.Fingerprint, p.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// insertPayment queues a new payment and returns it with what it got.
func (s Payments) insertPayment(tx *Tx, p order.Payment, now time.Time) (order.Payment, error) {
	var next any
	if p.AliasOf == "" {
		next = now.Unix()
	}
	purchase, err := s.DB.purchaseColumn(p.ID, p.Purchase)
	if err != nil {
		return p, err
	}
	state := order.PaymentAuthorized
	if p.State == order.PaymentSettling && p.AliasOf == "" {
		state = order.PaymentSettling
	}
	p.PublicID, p.State, p.Created, p.Changed = newPublicID("pay_"), order.PaymentAuthorized, time.Unix(now.Unix(), 0), time.Unix(now.Unix(), 0)
	p.Auth.Asset = network.Asset{ChainID: s.ChainID, Token: s.Asset}
	tx.queue(`
		INSERT INTO payments (id, public_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature,
		                      kind, domain, years, fingerprint, state, tx_hash, refund_tx, alias_of, created_at, changed_at, next_at, purchase, source)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, '', '', $17, $18, $18, $19, $20, $21)`,
		p.ID, p.PublicID, s.ChainID, s.Asset, p.Auth.Payer, p.Auth.Nonce, p.Auth.PayTo, p.Auth.Amount, p.Auth.ValidAfter, p.Auth.ValidBefore,
		hex.EncodeToString(p.Auth.Signature), p.Purchase.Kind, p.Purchase.Name, p.Purchase.Years, p.Fingerprint,
		state, sql.NullString{String: p.AliasOf, Valid: p.AliasOf != ""}, now.Unix(), next, purchase, p.Source)
	if p.AliasOf == "" {
		tx.moves = append(tx.moves, PaymentMove{Payment: p, At: now})
	}
	if state == order.PaymentSettling {
		authorized := p
		p.State = state
		tx.observe(authorized, p, now)
	}
	return p, nil
}

// Payment implements fulfil.Store.
func (s Payments) Payment(ctx context.Context, id string) (order.Payment, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readPayment(ctx, s.DB.prepared(), id)
}
