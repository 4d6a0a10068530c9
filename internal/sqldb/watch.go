package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Watched implements fulfil.WatchStore.
func (s Payments) Watched(ctx context.Context) (next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT next_block FROM watched WHERE chain_id = $1`, s.ChainID).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return next, err
}

// SetWatched implements fulfil.WatchStore. Unread blocks are put aside in the same
// transaction.
func (s Payments) SetWatched(ctx context.Context, next uint64, unread []settle.UnreadBlock) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		for _, b := range unread {
			if err := s.putAside(ctx, tx, settle.Transfer{Block: b.Number}, b.Reason, nil); err != nil {
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

// errMoved says that a payment got another state between reading and writing it.
var errMoved = errors.New("the payment has another state by now")

// Adopt implements fulfil.WatchStore. A transfer of the authorized amount settles its
// payment; one without a payment becomes a payment for nothing. The settler often
// sees the same transfer at the same time and moves the payment first, which the
// second attempt reads.
func (s Payments) Adopt(ctx context.Context, t settle.Transfer, u order.Unsolicited) (err error) {
	for range 3 {
		if err = s.adoptOnce(ctx, t, u); !errors.Is(err, errMoved) {
			break
		}
	}
	return err
}

func (s Payments) adoptOnce(ctx context.Context, t settle.Transfer, u order.Unsolicited) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		// The same lock as in AuthorizePayment, which may open this payment now.
		if _, err := lockPayer(ctx, tx, t.Payer); err != nil {
			return err
		}
		if err := s.adopt(ctx, tx, t, u); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			DELETE FROM put_aside WHERE chain_id = $1 AND block = $2 AND tx_hash = $3 AND payer = $4 AND nonce = $5`,
			s.ChainID, t.Block, t.TxHash, t.Payer, t.Nonce)
		return err
	})
}

// PutAside implements fulfil.WatchStore.
func (s Payments) PutAside(ctx context.Context, t settle.Transfer, reason string, next time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.putAside(ctx, tx, t, reason, next.Unix()) })
}

func (s Payments) putAside(ctx context.Context, tx *Tx, t settle.Transfer, reason string, next any) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO put_aside (chain_id, block, tx_hash, payer, nonce, pay_to, amount, reason, at, next_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (chain_id, block, tx_hash, payer, nonce) DO UPDATE SET reason = excluded.reason, next_at = excluded.next_at`,
		s.ChainID, t.Block, t.TxHash, t.Payer, t.Nonce, t.PayTo, t.Amount, storable(reason), s.Now().Unix(), next)
	return err
}

// DueAside implements fulfil.WatchStore.
func (s Payments) DueAside(ctx context.Context, limit int) (found []settle.Transfer, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT block, tx_hash, payer, nonce, pay_to, amount FROM put_aside
		 WHERE chain_id = $1 AND next_at <= $2 ORDER BY next_at LIMIT $3`, s.ChainID, s.Now().Unix(), limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var t settle.Transfer
		err := rows.Scan(&t.Block, &t.TxHash, &t.Payer, &t.Nonce, &t.PayTo, &t.Amount)
		found = append(found, t)
		return err
	})
	return found, err
}

func (s Payments) adopt(ctx context.Context, tx *Tx, t settle.Transfer, u order.Unsolicited) error {
	id := settle.Authorization{Payer: t.Payer, Nonce: t.Nonce}.PaymentID(s.ChainID, s.Asset)
	known, err := readPayment(ctx, tx, id)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return s.insertUnsolicited(ctx, tx, id, t, u)
	}
	if err != nil {
		return err
	}
	return s.adoptKnown(ctx, tx, known, t)
}

// insertUnsolicited stores a transfer that arrived without a request.
func (s Payments) insertUnsolicited(ctx context.Context, tx *Tx, id string, t settle.Transfer, u order.Unsolicited) error {
	now := s.Now()
	p := order.Payment{ID: id, Source: order.SourceX402Exact, Auth: settle.Authorization{Payer: t.Payer, PayTo: t.PayTo, Amount: t.Amount, Nonce: t.Nonce}, Purchase: order.Purchase{Kind: order.PurchaseNothing}}
	state, next, lost := u.State, any(u.Next.Unix()), any(nil)
	switch {
	case u.Lost:
		next, lost = nil, now.Unix()
	case state == order.PaymentDust:
		next = nil
	}
	p.PublicID, p.State, p.Created, p.TxHash = newPublicID("pay_"), state, now, t.TxHash
	_, err := tx.ExecContext(ctx, `
		INSERT INTO payments (id, public_id, refund_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature,
		                      kind, domain, years, fingerprint, state, tx_hash, refund_tx, created_at, changed_at, next_at, lost_at, source)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, '', $10, '', 0, $11, $12, $13, '', $14, $14, $15, $16, $17)`,
		p.ID, p.PublicID, newPublicID("ref_"), s.ChainID, s.Asset, t.Payer, t.Nonce, t.PayTo, t.Amount,
		p.Purchase.Kind, p.Purchase.Fingerprint(), state, t.TxHash, now.Unix(), next, lost, p.Source)
	if err != nil {
		return err
	}
	tx.moves = append(tx.moves, PaymentMove{Payment: p, At: now})
	post(tx, p, now, settledEntry(p))
	return nil
}

// adoptKnown handles a transfer with the nonce of a known payment. If it has the
// authorized amount and the payment is open, the payment is settled, and can no longer
// become void. Otherwise the transfer is due for refund: an alias is not delivered, a
// released payment was given up, and a payer can sign one nonce twice, for another
// amount or a later time than the void authorization.
func (s Payments) adoptKnown(ctx context.Context, tx *Tx, known order.Payment, t settle.Transfer) error {
	switch {
	case known.AliasOf == "" && known.State.Received():
		return nil
	case known.AliasOf != "", known.State.EndedUnpaid(), known.Auth.Amount != t.Amount:
		return s.owe(ctx, tx, known, t)
	}
	return s.settleKnown(ctx, tx, known, t)
}

// Received implements fulfil.WatchStore.
func (s Payments) Received(ctx context.Context, ids []string) (map[string]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.query(ctx, `
		SELECT id, state FROM payments WHERE `+s.DB.among("id", "$1")+` AND alias_of IS NULL`, array(s.DB, ids))
	if err != nil {
		return nil, err
	}
	received := make(map[string]bool, len(ids))
	err = eachRow(rows, func() error {
		var id string
		var state order.PaymentState
		err := rows.Scan(&id, &state)
		received[id] = state.Received()
		return err
	})
	return received, err
}

func (s Payments) settleKnown(ctx context.Context, tx *Tx, p order.Payment, t settle.Transfer) error {
	now := s.Now()
	if p.State == order.PaymentAuthorized {
		if _, _, err := movePayment(ctx, tx, p, paymentMove{to: order.PaymentSettling, at: now}); err != nil {
			return err
		}
		p.State = order.PaymentSettling
	}
	_, moved, err := movePayment(ctx, tx, p, paymentMove{order.PaymentSettled, t.TxHash, now})
	if err == nil && !moved {
		err = fmt.Errorf("payment %s was %s: %w", p.ID, p.State, errMoved)
	}
	if err != nil {
		return err
	}
	return s.afterMove(ctx, tx, p, order.PaymentSettled, now)
}

// owe makes the transfer due for refund, and ends its job.
func (s Payments) owe(ctx context.Context, tx *Tx, p order.Payment, t settle.Transfer) error {
	now, before := s.Now(), p
	p.State, p.AliasOf, p.Auth.Amount, p.TxHash, p.RefundID = order.PaymentRefundDue, "", t.Amount, t.TxHash, newPublicID("ref_")
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE payments SET alias_of = NULL, state = $1, amount = $2, tx_hash = $3, refund_id = $4, changed_at = $5, next_at = $5,
		                    tries = 0, stuck_at = NULL, cause = ''
		 WHERE id = $6 AND state = $7`,
		p.State, p.Auth.Amount, p.TxHash, p.RefundID, now.Unix(), p.ID, before.State))
	if err == nil && !moved {
		err = fmt.Errorf("payment %s was %s: %w", p.ID, before.State, errMoved)
	}
	if err != nil {
		return err
	}
	tx.observe(before, p, now)
	post(tx, p, now, settledEntry(p))
	if err := s.DB.eraseAuthCode(ctx, tx, p); err != nil {
		return err
	}
	if err := endMandateOf(ctx, tx, p, mandateEnd{order.MandateFailed, "the payment came in another way than it was promised, and goes back to the payer", now}); err != nil {
		return err
	}
	id := order.JobID(p.ID)
	moved, err = rowsAffected(tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, failure = $2, updated_at = $3, steps = steps || $4 WHERE id = $5 AND state IN ('awaiting_payment', 'cancelled')`,
		order.JobFailed, "the payment came in another way than it was promised, and goes back to the payer", now.Unix(), nextStep(order.JobFailed, now), id))
	if err != nil || !moved {
		return err
	}
	return dropClaim(ctx, tx, id)
}
