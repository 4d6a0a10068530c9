package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

const selectPayment = `
	SELECT id, source, public_id, refund_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years, purchase, fingerprint,
	       state, tx_hash, refund_tx, refund_amount, refund_label, refund_reason, alias_of, created_at, changed_at, tries, coalesce(stuck_at, 0),
	       CASE WHEN lost_at IS NULL THEN 0 ELSE 1 END
	  FROM payments `

func readPayment(ctx context.Context, from rowQuerier, id string) (order.Payment, error) {
	p, err := scanPayment(from.QueryRowContext(ctx, selectPayment+`WHERE id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return p, deed.Errorf(deed.CodeNotFound, "no payment %s", id)
	}
	return p, err
}

// readPayments returns the payments that the clause selects.
func readPayments(ctx context.Context, from querier, where string, args ...any) (all []order.Payment, err error) {
	return readAll(ctx, from, scanPayment, selectPayment+where, args...)
}

// scanPayment reads one row of selectPayment, without the secrets of its purchase.
func scanPayment(row scanner) (p order.Payment, err error) {
	var signature, purchase string
	var alias sql.NullString
	var created, changed, stuck, lost int64
	err = row.Scan(&p.ID, &p.Source, &p.PublicID, &p.RefundID, &p.Auth.Asset.ChainID, &p.Auth.Asset.Token, &p.Auth.Payer, &p.Auth.Nonce, &p.Auth.PayTo, &p.Auth.Amount, &p.Auth.ValidAfter, &p.Auth.ValidBefore,
		&signature, &p.Purchase.Kind, &p.Purchase.Name, &p.Purchase.Years, &purchase, &p.Fingerprint,
		&p.State, &p.TxHash, &p.RefundTx, &p.Part.Amount, &p.Part.Label, &p.Part.Reason, &alias, &created, &changed, &p.Tries, &stuck, &lost)
	if err != nil {
		return p, err
	}
	p.AliasOf, p.Created, p.Changed, p.StuckAt, p.Lost = alias.String, time.Unix(created, 0), time.Unix(changed, 0), timeOrZero(stuck), lost == 1
	if p.Auth.Signature, err = hex.DecodeString(signature); err != nil {
		return p, err
	}
	_, err = readPurchase(&p.Purchase, purchase)
	return p, err
}

// rowQuerier is implemented by transactions and pools.
