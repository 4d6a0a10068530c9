package sqldb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// purchaseColumn returns the column of a purchase.
func (db *DB) purchaseColumn(paymentID string, p order.Purchase) (string, error) {
	stored := storePurchase(p)
	if p.AuthCode != "" && db.Sealer != nil {
		sealed, err := db.Sealer.Seal(paymentID, p.AuthCode.Reveal())
		if err != nil {
			return "", fmt.Errorf("seal the auth code: %w", err)
		}
		stored.AuthCode, stored.Sealed = "", sealed
	}
	text, err := json.Marshal(stored)
	return string(text), err
}

// readPurchase decodes the column of a purchase, and returns its sealed secret. Old
// rows have an empty column.
func readPurchase(p *order.Purchase, column string) (sealed string, err error) {
	if column == "" {
		return "", nil
	}
	stored := storePurchase(*p)
	err = stored.decode(column)
	*p = stored.purchase()
	return stored.Sealed, err
}

func (db *DB) open(paymentID, sealed string) (deed.Secret, error) {
	if db.Sealer == nil {
		return "", errors.New("open the auth code: there is no key")
	}
	plain, err := db.Sealer.Open(paymentID, sealed)
	if err != nil {
		return "", fmt.Errorf("open the auth code: %w", err)
	}
	return deed.Secret(plain), nil
}

// eraseAuthCode deletes the auth code of a transfer that has ended. The fingerprint is
// not changed, so that the payment can still be recognized.
func (db *DB) eraseAuthCode(ctx context.Context, tx *Tx, p order.Payment) error {
	if p.Purchase.Kind != order.PurchaseTransfer {
		return nil
	}
	p.Purchase.AuthCode = ""
	column, err := db.purchaseColumn(p.ID, p.Purchase)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE payments SET purchase = $1 WHERE id = $2`, column, p.ID)
	return err
}
