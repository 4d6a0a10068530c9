package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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

// AdoptTransfers implements payment.WatchStore. A transfer that keeps the promise
// of a payment settles it; one that nobody asked for is owed back.
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
	return s.adoptKnown(ctx, tx, p.ID, t)
}

// adoptKnown sees to money that moved with the nonce of a payment we know. When
// it is the promised amount, and nobody has seen it yet, the payment is settled:
// who was about to call it void must not do so. Otherwise it is owed back as it
// came: an alias is not called in, and a payer can sign one nonce twice, for
// another amount or for a later time than the promise that is void.
func (s Payments) adoptKnown(ctx context.Context, tx *Tx, id string, t deed.Transfer) error {
	known, err := readPayment(ctx, tx, id)
	if err != nil {
		return err
	}
	open := known.State == deed.PaymentAuthorized || known.State == deed.PaymentSettling
	switch {
	case known.AliasOf != "", known.State == deed.PaymentVoid, open && known.Auth.Amount != t.Amount:
		return s.owe(ctx, tx, known, t)
	case open:
		return s.settleKnown(ctx, tx, known, t)
	}
	return nil
}

func (s Payments) settleKnown(ctx context.Context, tx *Tx, p deed.Payment, t deed.Transfer) error {
	now := s.Now()
	if p.State == deed.PaymentAuthorized {
		if _, err := movePayment(ctx, tx, p, deed.PaymentSettling, "", now); err != nil {
			return err
		}
		p.State = deed.PaymentSettling
	}
	moved, err := movePayment(ctx, tx, p, deed.PaymentSettled, t.TxHash, now)
	if err == nil && !moved {
		err = fmt.Errorf("payment %s is no longer %s", p.ID, p.State) // the next reading sees what it is
	}
	if err != nil {
		return err
	}
	return s.afterMove(ctx, tx, p, deed.PaymentSettled, now)
}

// owe writes down that the transfer goes back, and that its payment buys
// nothing.
func (s Payments) owe(ctx context.Context, tx *Tx, p deed.Payment, t deed.Transfer) error {
	now := s.Now()
	moved, err := touched(tx.ExecContext(ctx, `
		UPDATE payments SET alias_of = NULL, state = 'refund_due', amount = $1, tx_hash = $2, changed_at = $3, next_at = $3
		 WHERE id = $4 AND state = $5`,
		t.Amount, t.TxHash, now.Unix(), p.ID, p.State))
	if err == nil && !moved {
		err = fmt.Errorf("payment %s is no longer %s", p.ID, p.State)
	}
	if err != nil {
		return err
	}
	p.Auth.Amount = t.Amount
	if err := post(ctx, tx, p, "settled", "treasury", "owed", now); err != nil {
		return err
	}
	id := deed.JobID(p.ID)
	moved, err = touched(tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, failure = $2, updated_at = $3 WHERE id = $4 AND state IN ('awaiting_payment', 'cancelled')`,
		deed.JobFailed, "the payment came in another way than it was promised, and goes back to the payer", now.Unix(), id))
	if err != nil || !moved {
		return err
	}
	if err := dropClaim(ctx, tx, id); err != nil {
		return err
	}
	return addStep(ctx, tx, id, deed.JobFailed, now)
}
