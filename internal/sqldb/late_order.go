package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// LateOrders implements registration.LateOrderStore. Fill every field.
type LateOrders struct {
	DB  *DB
	Now func() time.Time
}

// watchLateOrder has the order of a failed job looked up, if one was placed.
func watchLateOrder(ctx context.Context, tx *Tx, j order.Job, now time.Time) error {
	if j.Attempts == 0 || !j.Purchase.Kind.Polled() {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO late_orders (job_id, domain, state, checks, failed_at, found_at, detail, next_at)
		VALUES ($1, $2, 'watching', 0, $3, 0, '', $4) ON CONFLICT DO NOTHING`,
		j.ID, j.Purchase.Name, now.Unix(), order.FirstLateCheck(now).Unix())
	return err
}

// DueLateOrders implements registration.LateOrderStore.
func (s LateOrders) DueLateOrders(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "job_id", from: "late_orders", at: "next_at"}, s.Now(), limit)
}

// LateOrder implements registration.LateOrderStore.
func (s LateOrders) LateOrder(ctx context.Context, jobID string) (l order.LateOrder, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var failed, found int64
	err = s.DB.read.QueryRowContext(ctx, `SELECT state, checks, failed_at, found_at, detail FROM late_orders WHERE job_id = $1`, jobID).
		Scan(&l.State, &l.Checks, &failed, &found, &l.Detail)
	if errors.Is(err, sql.ErrNoRows) {
		return l, deed.Errorf(deed.CodeNotFound, "there is no late order of %s", jobID)
	}
	if err != nil {
		return l, err
	}
	l.Failed, l.Found = time.Unix(failed, 0), timeOrZero(found)
	l.Job, err = s.DB.readJob(ctx, s.DB.read, jobID)
	return l, err
}

// MoveLateOrder implements registration.LateOrderStore.
func (s LateOrders) MoveLateOrder(ctx context.Context, l order.LateOrder, to order.LateOrderState, next time.Time) (moved bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var nextAt any
		if !next.IsZero() {
			nextAt = next.Unix()
		}
		moved, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE late_orders SET state = $1, checks = checks + 1, found_at = $2, detail = $3, next_at = $4
			 WHERE job_id = $5 AND state = $6 AND checks = $7`,
			to, unixOrZero(l.Found), l.Detail, nextAt, l.Job.ID, l.State, l.Checks))
		switch {
		case err != nil || !moved || l.State == to:
			return err
		case to == order.LateDeleting:
			return s.claim(ctx, tx, l)
		case l.State == order.LateDeleting:
			return dropClaim(ctx, tx, l.Job.ID)
		}
		return nil
	})
	if errors.Is(err, errNotMoved) {
		return false, nil
	}
	return moved, err
}

// claim claims a name that is about to be deleted, so that nobody buys it meanwhile. It
// fails with errNotMoved when somebody does, or owns it.
func (s LateOrders) claim(ctx context.Context, tx *Tx, l order.LateOrder) error {
	err := claim(ctx, tx, l.Job.Purchase.Name, l.Job.ID)
	if deed.CodeOf(err) == deed.CodeDomainUnavailable {
		return errNotMoved
	}
	return err
}

// Owned implements registration.LateOrderStore.
func (s LateOrders) Owned(ctx context.Context, l order.LateOrder) (owned bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var n int
	if l.Job.Purchase.Kind == order.PurchaseRenewal {
		// A later renewal from the same expiry has the same effect, and so has one that
		// is reported already.
		err = s.DB.read.QueryRowContext(ctx, `
			SELECT count(*) FROM jobs j LEFT JOIN late_orders o ON o.job_id = j.id
			WHERE j.domain = $1 AND j.kind = 'renewal' AND j.from_at = $2 AND j.id <> $3
				AND (j.state IN ('submitting', 'verifying', 'completed') OR o.state = 'unpaid')`,
			l.Job.Purchase.Name, unixOrZero(l.Job.From), l.Job.ID).Scan(&n)
		return n > 0, err
	}
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM registrations WHERE domain = $1) + (SELECT count(*) FROM claims WHERE domain = $1 AND job_id <> $2)`,
		l.Job.Purchase.Name, l.Job.ID).Scan(&n)
	return n > 0, err
}

// Orphans returns the names that registries hold for nobody, the oldest first.
func (s LateOrders) Orphans(ctx context.Context) (all []order.LateOrder, err error) {
	ids, err := s.DB.readColumn(ctx, `SELECT job_id FROM late_orders WHERE state IN ('held', 'deleting') AND failed_at <= $1 ORDER BY found_at LIMIT $2`, s.Now().Unix(), maxReported)
	for _, id := range ids {
		l, err := s.LateOrder(ctx, id)
		if err != nil {
			return all, err
		}
		all = append(all, l)
	}
	return all, err
}

// maxReported is how many names are reported at once: more do not help an operator.
const maxReported = 100

// isMissing is the condition of names of ours that their registry does not hold. Those that
// it has put on hold are suspended, too.
const isMissing = `status = 'suspended' AND epp_status NOT LIKE '%Hold%'`

// Missing counts the names of ours that their registry does not hold.
func (s Registrations) Missing(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM registrations WHERE `+isMissing).Scan(&n)
	return n, err
}
