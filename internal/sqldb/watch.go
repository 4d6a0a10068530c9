package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"deed.example/deed"
)

// Watched implements payment.WatchStore: the block to read the chain from.
func (s Payments) Watched(ctx context.Context) (next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT next_block FROM watched WHERE chain_id = $1`, s.ChainID).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return next, err
}

// AdoptTransfers implements payment.WatchStore. A transfer whose payment we know
// is that payment's business; one that nobody asked for is owed back.
func (s Payments) AdoptTransfers(ctx context.Context, transfers []deed.Transfer, payTo deed.Wallet, next uint64) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		for _, t := range transfers {
			if err := s.adopt(ctx, tx, t, payTo); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO watched (chain_id, next_block) VALUES ($1, $2)
			ON CONFLICT (chain_id) DO UPDATE SET next_block = excluded.next_block
			 WHERE watched.next_block < excluded.next_block`,
			s.ChainID, next)
		return err
	})
}

func (s Payments) adopt(ctx context.Context, tx *Tx, t deed.Transfer, payTo deed.Wallet) error {
	now := s.Now()
	p := deed.Payment{
		Auth:     deed.Authorization{Payer: t.Payer, PayTo: payTo, Amount: t.Amount, Nonce: t.Nonce},
		Purchase: deed.Purchase{Kind: deed.PurchaseNothing},
	}
	p.ID = p.Auth.PaymentID(s.ChainID, s.Asset)
	fresh, err := touched(tx.ExecContext(ctx, `
		INSERT INTO payments (id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature,
		                      kind, domain, years, fingerprint, state, tx_hash, refund_tx, created_at, changed_at, next_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, '', $8, '', 0, $9, 'refund_due', $10, '', $11, $11, $11)
		ON CONFLICT DO NOTHING`,
		p.ID, s.ChainID, s.Asset, t.Payer, t.Nonce, payTo, t.Amount, p.Purchase.Kind, p.Purchase.Fingerprint(), t.TxHash, now.Unix()))
	if err != nil {
		return err
	}
	if fresh {
		return post(ctx, tx, p, "settled", "treasury", "owed", now)
	}
	return s.adoptAlias(ctx, tx, p.ID, t)
}

// adoptAlias sees to money that moved for a promise we did not call in: the
// payer sent it there himself, and it is owed back.
func (s Payments) adoptAlias(ctx context.Context, tx *Tx, id string, t deed.Transfer) error {
	now := s.Now()
	known, err := readPayment(ctx, tx, id)
	if err != nil || known.AliasOf == "" {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE payments SET alias_of = NULL, state = 'refund_due', tx_hash = $1, changed_at = $2, next_at = $2
		 WHERE id = $3 AND alias_of IS NOT NULL`,
		t.TxHash, now.Unix(), id)
	if err != nil {
		return err
	}
	return post(ctx, tx, known, "settled", "treasury", "owed", now)
}
