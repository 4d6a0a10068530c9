package sqldb

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// cancelHeadStart is how long a new cancellation is left to the request that began it,
// which answers its outcome. Then the worker continues it: the process may have ended.
const cancelHeadStart = 3 * time.Second

// BeginCancellation implements registration.Cancellations. The claim of the name makes
// renewals wait, and the mark on the registration forbids every other change of it. One that
// was kept before begins anew, and its tries go on: a process that has not noticed the end of
// the first one can no longer change it.
func (s Cancellations) BeginCancellation(ctx context.Context, c lifecycle.Cancellation, r lifecycle.Registration, limit lifecycle.CancelLimit) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := lockPayer(ctx, tx, c.Wallet); err != nil {
			return err
		}
		if err := s.checkWallet(ctx, tx, c.Wallet, limit); err != nil {
			return err
		}
		if err := s.useAllowance(ctx, tx, c, limit.Terms); err != nil {
			return err
		}
		if err := s.claimCancellation(ctx, tx, c); err != nil {
			return err
		}
		if err := s.mark(ctx, tx, c, r); err != nil {
			return err
		}
		now := s.Now()
		stored, err := rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO cancellations (reference, domain, backend, payment_id, wallet, paid, fee, state, created_at, next_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 'deleting', $8, $9)
			ON CONFLICT (reference) DO UPDATE SET paid = excluded.paid, fee = excluded.fee, state = 'deleting', reason = '',
			       created_at = excluded.created_at, tries = cancellations.tries + 1, lease_until = 0, quiet_until = 0, secured_at = NULL, next_at = excluded.next_at
			 WHERE cancellations.state = 'kept'`,
			c.Reference, c.Name, c.Backend, c.PaymentID, c.Wallet, c.Paid, c.Fee, now.Unix(), now.Add(cancelHeadStart).Unix()))
		if err == nil && !stored {
			err = fmt.Errorf("%s is being cancelled already", c.Name)
		}
		return err
	})
}

// checkWallet refuses a wallet that has cancelled too much. Its row in payers is locked.
func (s Cancellations) checkWallet(ctx context.Context, tx *Tx, w deed.Wallet, limit lifecycle.CancelLimit) error {
	var n int
	var first int64
	err := tx.QueryRowContext(ctx, `
		SELECT count(*), coalesce(min(created_at), 0) FROM cancellations WHERE wallet = $1 AND created_at > $2 AND state <> 'kept'`,
		w, s.Now().Add(-limit.Period).Unix()).Scan(&n, &first)
	if err != nil || n < limit.Wallet {
		return err
	}
	free := time.Unix(first, 0).Add(limit.Period)
	return deed.RateLimited(free.Sub(s.Now()), limit.Wallet,
		"this wallet has cancelled %d registrations in %d days, which is the limit; the next can be cancelled from %s on", n, int(limit.Period.Hours()/24), free.UTC().Format(time.RFC3339))
}

// useAllowance counts the cancellation. The row of the month is locked until the
// transaction ends.
func (s Cancellations) useAllowance(ctx context.Context, tx *Tx, c lifecycle.Cancellation, terms lifecycle.CancelTerms) error {
	now := s.Names.Now().UTC()
	var used int
	err := tx.QueryRowContext(ctx, `
		INSERT INTO cancel_allowances (backend, tld, month, used) VALUES ($1, $2, $3, 1)
		ON CONFLICT (backend, tld, month) DO UPDATE SET used = cancel_allowances.used + 1
		RETURNING used`, c.Backend, c.Name.TLD(), month(now)).Scan(&used)
	if err != nil || terms.Allows(used-1, 0) {
		return err
	}
	begin := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	var remaining int
	// What was registered was updated since; there is an index of that.
	err = tx.QueryRowContext(ctx, `
		SELECT count(*) FROM registrations
		 WHERE updated_at >= $1 AND created_at >= $1 AND backend = $2 AND domain LIKE $3 AND domain NOT LIKE $4 AND domain <> $5 AND cancelling_at IS NULL`,
		begin.Unix(), c.Backend, "%."+string(c.Name.TLD()), "%.%."+string(c.Name.TLD()), c.Name).Scan(&remaining) // a.uk, and not a.co.uk
	if err != nil || terms.Allows(used-1, remaining) {
		return err
	}
	next := begin.AddDate(0, 1, 0)
	return deed.RateLimited(next.Sub(now), max(used-1, 1), "the registry of .%s takes no more names back this month", c.Name.TLD())
}

// claimCancellation claims the name, so that no renewal is submitted meanwhile, and
// refuses when one was paid before. The claim comes first and the check second, as in
// claim.
func (s Cancellations) claimCancellation(ctx context.Context, tx *Tx, c lifecycle.Cancellation) error {
	id := order.JobID(c.PaymentID)
	claimed, err := rowsAffected(tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, c.Name, id))
	if err != nil {
		return err
	}
	if !claimed {
		return deed.Invalid("domain", "an order for %s is in progress: cancel the name when it has ended", c.Name)
	}
	var renewals int
	err = tx.QueryRowContext(ctx, `
		SELECT count(*) FROM jobs n JOIN jobs j ON j.id = $2
		 WHERE n.domain = $1 AND n.kind = 'renewal' AND n.created_at >= j.created_at AND n.state IN ('queued', 'submitting', 'verifying', 'completed')`,
		c.Name, id).Scan(&renewals)
	if err == nil && renewals > 0 {
		err = deed.Invalid("domain", "%s has been renewed, and a renewed name cannot be cancelled", c.Name)
	}
	return err
}

// mark marks the registration, if it is still as it was when it was checked.
func (s Cancellations) mark(ctx context.Context, tx *Tx, c lifecycle.Cancellation, r lifecycle.Registration) error {
	marked, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE registrations SET cancelling_at = $1
		 WHERE domain = $2 AND reference = $3 AND owner = $4 AND status = $5 AND expires_at = $6 AND payment_id = $7 AND cancelling_at IS NULL`,
		s.Now().Unix(), r.Name, r.Reference, c.Wallet, lifecycle.StatusActive, r.Expires.Unix(), c.PaymentID))
	if err == nil && !marked {
		err = &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("%s was changed in the meantime: look at it, and try again", r.Name), Retry: time.Second}
	}
	return err
}
