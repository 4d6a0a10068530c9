package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// End implements mandate.Store. A mandate that is no longer active is left as it is.
func (s Mandates) End(ctx context.Context, m order.Mandate, to order.MandateState, reason string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := endMandates(ctx, tx, mandateEnd{to, reason, s.Now()}, `id = $4 AND state = 'active'`, m.ID)
		return err
	})
}

// Revoke implements mandate.Store.
func (s Mandates) Revoke(ctx context.Context, owner deed.Wallet, name deed.Name, id string) (ended []order.Mandate, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		where, args := `owner = $4 AND domain = $5 AND state = 'active'`, []any{owner, name}
		if id != "" {
			where, args = where+` AND id = $6`, append(args, id)
		}
		ended, err = endMandates(ctx, tx, mandateEnd{order.MandateRevoked, "its owner revoked it", s.Now()}, where, args...)
		return err
	})
	return ended, err
}

// mandateEnd says how mandates end.
type mandateEnd struct {
	state  order.MandateState
	reason string
	at     time.Time
}

// endMandates ends the mandates that the WHERE clause selects, whose arguments start at
// $4: their signatures are erased, and their owners are told. It returns them.
func endMandates(ctx context.Context, tx *Tx, end mandateEnd, where string, args ...any) (ended []order.Mandate, err error) {
	ended, err = readAll(ctx, tx, scanUnsigned, `
		UPDATE mandates SET state = $1, reason = $2, updated_at = $3, signature = '', next_at = NULL WHERE `+where+`
		RETURNING `+mandateColumns,
		append([]any{end.state, end.reason, end.at.Unix()}, args...)...)
	for _, m := range ended {
		if e, ok := event.OfMandate(m, end.at); ok {
			tx.emit(e)
		}
	}
	return ended, err
}

// endMandatesOf ends the active mandates of a name that has another owner, or none.
func endMandatesOf(ctx context.Context, tx *Tx, name deed.Name, reason string, now time.Time) error {
	_, err := endMandates(ctx, tx, mandateEnd{order.MandateRevoked, reason, now}, `domain = $4 AND state = 'active'`, name)
	return err
}

// takeMandate binds a mandate to its new payment, provided that its name still has the
// owner and the expiry that it was signed for, and that no other renewal of the name is
// paid, or promised by the owner. The row of the registration is locked first, as by a handover.
func takeMandate(ctx context.Context, tx *Tx, p order.Payment, now time.Time) error {
	held, err := lockRegistration(ctx, tx, p.Purchase.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return fmt.Errorf("%w: the name has ended", order.ErrMandateIdle)
	case err != nil:
		return err
	case held.owner != p.Auth.Payer, held.expires != p.Purchase.From.Unix():
		return fmt.Errorf("%w: the name has another owner or expiry", order.ErrMandateIdle)
	}
	// What somebody else has only promised to pay does not count: it costs nothing, and could
	// go on until the name has expired.
	var open int
	err = tx.QueryRowContext(ctx, `
		SELECT count(*) FROM jobs
		 WHERE domain = $1 AND kind = $2 AND (state IN ('queued', 'submitting', 'verifying') OR state = 'awaiting_payment' AND owner = $3)`,
		p.Purchase.Name, order.PurchaseRenewal, held.owner).Scan(&open)
	if err != nil {
		return err
	}
	if open > 0 {
		return fmt.Errorf("%w: another renewal is open", order.ErrMandateIdle)
	}
	m, _, err := scanMandate(tx.QueryRowContext(ctx, `
		UPDATE mandates SET state = 'paying', payment_id = $1, reason = '', updated_at = $2, signature = '', next_at = NULL
		 WHERE id = $3 AND state = 'active' AND owner = $4 AND domain = $5 AND reference = $6
		RETURNING `+mandateColumns,
		p.ID, now.Unix(), p.MandateID, p.Auth.Payer, p.Purchase.Name, held.reference))
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: it is not active any more", order.ErrMandateIdle)
	}
	if e, ok := event.OfMandate(m, now); err == nil && ok {
		e.Data.Price = p.Price().String()
		tx.emit(e)
	}
	return err
}

// retakeMandate binds a mandate to the payment that used it before the database was
// restored. One that has ended by now is left as it is.
func retakeMandate(ctx context.Context, tx *Tx, p order.Payment, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE mandates SET state = 'paying', payment_id = $1, reason = '', updated_at = $2, signature = '', next_at = NULL
		 WHERE id = $3 AND state = 'active'`, p.ID, now.Unix(), p.MandateID)
	return err
}

// endMandateOf ends the mandate of a payment whose outcome is known.
func endMandateOf(ctx context.Context, tx *Tx, p order.Payment, end mandateEnd) error {
	if p.Source != order.SourceMandate {
		return nil
	}
	m, _, err := scanMandate(tx.QueryRowContext(ctx, `
		UPDATE mandates SET state = $1, reason = $2, updated_at = $3 WHERE payment_id = $4 AND payment_id <> '' AND state = 'paying'
		RETURNING `+mandateColumns,
		end.state, end.reason, end.at.Unix(), p.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	e, ok := event.OfMandate(m, end.at)
	if ok {
		e.Data.PaymentID, e.Data.Price = p.PublicID, p.Price().String()
		tx.emit(e)
	}
	return nil
}
