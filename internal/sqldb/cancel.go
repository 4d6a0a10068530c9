package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Cancellations implements registration.Cancellations. Fill every field.
type Cancellations struct {
	DB    *DB
	Now   func() time.Time // the clock of all nodes
	Names Registrations
}

const selectCancellation = `
	SELECT reference, domain, backend, payment_id, wallet, paid, fee, state, reason, created_at, tries, lease_until, quiet_until, secured_at
	  FROM cancellations `

func scanCancellation(row scanner) (c lifecycle.Cancellation, err error) {
	var created, lease, quiet int64
	var secured sql.NullInt64
	err = row.Scan(&c.Reference, &c.Name, &c.Backend, &c.PaymentID, &c.Wallet, &c.Paid, &c.Fee, &c.State, &c.Reason, &created, &c.Tries, &lease, &quiet, &secured)
	if errors.Is(err, sql.ErrNoRows) {
		return c, deed.Errorf(deed.CodeNotFound, "there is no such cancellation")
	}
	c.Secured = secured.Valid
	c.Created, c.Lease, c.Quiet = timeOrZero(created), timeOrZero(lease), timeOrZero(quiet)
	return c, err
}

// Payment implements registration.Cancellations.
func (s Cancellations) Payment(ctx context.Context, id string) (order.Payment, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readPayment(ctx, s.DB.read, id)
}

// Cancellation implements registration.Cancellations.
func (s Cancellations) Cancellation(ctx context.Context, reference string) (lifecycle.Cancellation, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return scanCancellation(s.DB.read.QueryRowContext(ctx, selectCancellation+`WHERE reference = $1`, reference))
}

// LastCancellation implements registration.Cancellations.
func (s Cancellations) LastCancellation(ctx context.Context, name deed.Name, who deed.Wallet) (lifecycle.Cancellation, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return scanCancellation(s.DB.read.QueryRowContext(ctx, selectCancellation+`
		 WHERE domain = $1 AND wallet = $2 AND state = 'done' ORDER BY created_at DESC, reference LIMIT 1`, name, who))
}

// DueCancellations implements registration.Cancellations.
func (s Cancellations) DueCancellations(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "reference", from: "cancellations", at: "next_at"}, s.Now(), limit)
}

// LeaseCancellation implements registration.Cancellations.
func (s Cancellations) LeaseCancellation(ctx context.Context, c lifecycle.Cancellation, lease, quiet time.Time) (leased bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		leased, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE cancellations SET tries = tries + 1, lease_until = $1, quiet_until = $2, next_at = $1
			 WHERE reference = $3 AND state = 'deleting' AND tries = $4`,
			lease.Unix(), quiet.Unix(), c.Reference, c.Tries))
		return err
	})
	return leased, err
}

// SecureCancellation implements registration.Cancellations. It fails when another
// process has taken the cancellation over.
func (s Cancellations) SecureCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		secured, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE cancellations SET secured_at = $1 WHERE reference = $2 AND state = 'deleting' AND tries = $3`,
			s.Now().Unix(), c.Reference, c.Tries))
		if err == nil && !secured {
			err = fmt.Errorf("another process cancels %s", c.Name)
		}
		return err
	})
}

// DelayCancellation implements registration.Cancellations.
func (s Cancellations) DelayCancellation(ctx context.Context, c lifecycle.Cancellation, next time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE cancellations SET lease_until = 0, quiet_until = $1, next_at = $2 WHERE reference = $3 AND state = 'deleting' AND tries = $4`,
			unixOrZero(c.Quiet), next.Unix(), c.Reference, c.Tries)
		return err
	})
}

// FinishCancellation implements registration.Cancellations. The registration ends and
// its refund is due in one transaction.
func (s Cancellations) FinishCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error { return s.finish(ctx, tx, c) })
}

func (s Cancellations) finish(ctx context.Context, tx *Tx, c lifecycle.Cancellation) error {
	ended, err := s.end(ctx, tx, c, lifecycle.CancelDone)
	if err != nil || !ended {
		return err
	}
	was, err := readRegistration(ctx, tx, c.Name)
	if err == nil {
		ended, err = rowsAffected(tx.ExecContext(ctx, `
			DELETE FROM registrations WHERE domain = $1 AND reference = $2 AND cancelling_at IS NOT NULL`, c.Name, c.Reference))
	}
	if err == nil && !ended {
		err = fmt.Errorf("%s is not being cancelled", c.Name)
	}
	if err != nil {
		return err
	}
	now := s.Names.Now()
	happened := lifecycle.Event{Name: c.Name, Reference: c.Reference, Type: lifecycle.EventCancelled, At: now, About: was.Expires}
	if err := s.Names.ended(ctx, tx, was, "cancelled", []lifecycle.Event{happened}); err != nil {
		return err
	}
	refunded, err := refundPart(ctx, tx, c.PaymentID, undoOf(c), s.Now())
	if err == nil && !refunded {
		err = fmt.Errorf("payment %s of %s is not consumed", c.PaymentID, c.Name)
	}
	return err
}

// undoOf returns what goes back for a cancelled registration.
func undoOf(c lifecycle.Cancellation) order.PartRefund {
	return order.PartRefund{Label: order.RefundUndo, Amount: c.Refund(), Reason: fmt.Sprintf("the registration of %s was cancelled; the registry keeps %s USDC", c.Name, c.Fee)}
}

// KeepName implements registration.Cancellations. It gives the cancellation back to the
// allowance of the month in which it began.
func (s Cancellations) KeepName(ctx context.Context, c lifecycle.Cancellation) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		ended, err := s.end(ctx, tx, c, lifecycle.CancelKept)
		if err != nil || !ended {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE registrations SET cancelling_at = NULL, next_at = 0 WHERE domain = $1 AND reference = $2`, c.Name, c.Reference)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE cancel_allowances SET used = used - 1 WHERE backend = $1 AND tld = $2 AND month = $3 AND used > 0`,
			c.Backend, c.Name.TLD(), month(s.Names.Now().Add(c.Created.Sub(s.Now()))))
		return err
	})
}

// end moves the cancellation to its last state and drops its claim. It returns false
// when another process has ended it, or taken it over.
func (s Cancellations) end(ctx context.Context, tx *Tx, c lifecycle.Cancellation, to lifecycle.CancelState) (bool, error) {
	ended, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE cancellations SET state = $1, reason = $2, lease_until = 0, next_at = NULL
		 WHERE reference = $3 AND state = 'deleting' AND tries = $4`,
		to, c.Reason, c.Reference, c.Tries))
	if err != nil || !ended {
		return false, err
	}
	return true, dropClaim(ctx, tx, order.JobID(c.PaymentID))
}

// month returns the month of a time, as in cancel_allowances.
func month(t time.Time) string { return t.UTC().Format("2006-01") }
