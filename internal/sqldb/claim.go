package sqldb

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// ClaimPayment implements fulfil.Books: an unclaimed transfer is assigned to a purchase.
// Placed are the orders that were placed for it before a restore of the database; the
// last of them is looked up.
func (s Payments) ClaimPayment(ctx context.Context, p order.Payment, placed order.Placed) (order.Payment, error) {
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := lockPayer(ctx, tx, p.Auth.Payer); err != nil {
			return err
		}
		known, err := readPayment(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if known.State == order.PaymentUnclaimed && known.Auth.Amount == p.Auth.Amount {
			if err := s.claim(ctx, tx, p, placed); err != nil {
				return err
			}
		}
		p, err = readPayment(ctx, tx, p.ID)
		if err == nil && p.State != known.State {
			tx.observe(known, p, s.Now())
		}
		return err
	})
	return p, err
}

// claim turns an unclaimed payment into a settled one with a job. A lost one may have
// bought something before: it is claimed only with the orders that were placed for it.
func (s Payments) claim(ctx context.Context, tx *Tx, p order.Payment, placed order.Placed) error {
	now := s.Now()
	p.Fingerprint = p.Purchase.Fingerprint()
	other, err := openFor(ctx, tx, p)
	if err != nil {
		return err
	}
	if other != "" {
		return fmt.Errorf("%w: the same was paid for before", settle.ErrAlreadyPaid)
	}
	column, err := s.DB.purchaseColumn(p.ID, p.Purchase)
	if err != nil {
		return err
	}
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE payments SET state = 'settled', source = $12, kind = $1, domain = $2, years = $3, purchase = $4, fingerprint = $5, signature = $6,
		                    valid_after = $7, valid_before = $8, refund_id = '', changed_at = $9, next_at = NULL, tries = 0, cause = '', lost_at = NULL
		 WHERE id = $10 AND state = 'unclaimed' AND (lost_at IS NULL OR $11 > 0)`,
		p.Purchase.Kind, p.Purchase.Name, p.Purchase.Years, column, p.Fingerprint, hex.EncodeToString(p.Auth.Signature),
		p.Auth.ValidAfter, p.Auth.ValidBefore, now.Unix(), p.ID, placed.Attempts, p.Source))
	if err != nil || !moved {
		return err
	}
	if p.Source == order.SourceMandate {
		if err := retakeMandate(ctx, tx, p, now); err != nil {
			return err
		}
	}
	if placed.Attempts == 0 {
		_, err := createJob(ctx, tx, p, order.JobQueued, now)
		return err
	}
	return resumeJob(ctx, tx, p, placed, now)
}

// resumeJob creates the job of an order that was already placed. The order is looked up
// and not placed again: what a new order needs, such as the renewed registration, may not
// be in the database yet.
func resumeJob(ctx context.Context, tx *Tx, p order.Payment, placed order.Placed, now time.Time) error {
	if _, err := createJob(ctx, tx, p, order.JobVerifying, now); err != nil {
		return err
	}
	id := order.JobID(p.ID)
	_, err := tx.ExecContext(ctx, `UPDATE jobs SET attempts = $1, reference = $2, backend = $3, from_at = $4 WHERE id = $5`,
		placed.Attempts, order.OrderReference(id, placed.Attempts), placed.Backend, unixOrZero(placed.From), id)
	if err != nil || p.Purchase.Kind.ClaimsName() {
		return err
	}
	claimed, err := rowsAffected(tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, p.Purchase.Name, id))
	if err == nil && !claimed {
		err = deed.Errorf(deed.CodeDomainUnavailable, "another order for %s must end first", p.Purchase.Name)
	}
	return err
}

// Lost implements registration.LostPayments. After a restore this includes transfers that
// their payers submitted and that bought something since the backup.
func (s Payments) Lost(ctx context.Context) ([]order.Payment, error) {
	return readPayments(ctx, s.DB.read, `WHERE state = 'unclaimed' ORDER BY created_at, id`)
}

// ParkLost implements registration.LostPayments.
func (s Payments) ParkLost(ctx context.Context) (lost []order.Payment, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE payments SET lost_at = $1, next_at = NULL WHERE state = 'unclaimed' AND lost_at IS NULL`, s.Now().Unix())
		if err != nil {
			return err
		}
		// One that arrived since the update is not parked, and not lost.
		lost, err = readPayments(ctx, tx, `WHERE state = 'unclaimed' AND lost_at IS NOT NULL ORDER BY created_at, id`)
		return err
	})
	return lost, err
}

// Undecided reports whether lost payments wait for a decision.
func (s Payments) Undecided(ctx context.Context) (undecided bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) > 0 FROM payments WHERE state = 'unclaimed' AND lost_at IS NOT NULL`).Scan(&undecided)
	return undecided, err
}

// Dust returns the transfers of a wallet that were too small to be refunded
// automatically.
func (s Payments) Dust(ctx context.Context, w deed.Wallet) ([]order.Payment, error) {
	return readPayments(ctx, s.DB.read, `WHERE state = 'dust' AND payer = $1 ORDER BY created_at, id`, w)
}

// Undelivered implements fulfil.RestoreStore.
func (s Payments) Undelivered(ctx context.Context) ([]order.Payment, error) {
	return readPayments(ctx, s.DB.read, `WHERE state = 'settled' ORDER BY created_at, id`)
}
