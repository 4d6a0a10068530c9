package sqldb

import (
	"context"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Unfinished implements registration.OpenJobs.
func (s Jobs) Unfinished(ctx context.Context) (jobs []order.Job, err error) {
	ids, err := readAll(ctx, s.DB.read, scanText, `
		SELECT id FROM jobs
		 WHERE state IN ('awaiting_payment', 'queued', 'submitting', 'verifying') AND kind NOT LIKE 'dns%' ORDER BY created_at, id`)
	for _, id := range ids {
		if err != nil {
			break
		}
		var j order.Job
		j, err = s.DB.readJob(ctx, s.DB.read, id)
		jobs = append(jobs, j)
	}
	return jobs, err
}

// ResumeJob implements registration.OpenJobs. A job whose payment is not settled, or
// whose name is claimed by another job, continues with that attempt later: placing an
// existing order again has no effect. A job that a node has moved since it was read is
// left to that node.
func (s Jobs) ResumeJob(ctx context.Context, j order.Job, placed order.Placed) error {
	before := placed
	before.Attempts--
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		if same, err := lockUnmoved(ctx, tx, j); err != nil || !same {
			return err
		}
		if j.State == order.JobAwaitingPayment {
			return setPlaced(ctx, tx, j, before)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, j.Purchase.Name, j.ID)
		if err != nil {
			return err
		}
		mine := 0
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM claims WHERE domain = $1 AND job_id = $2`, j.Purchase.Name, j.ID).Scan(&mine)
		if err != nil {
			return err
		}
		if mine == 0 {
			return setPlaced(ctx, tx, j, before)
		}
		if err := setPlaced(ctx, tx, j, placed); err != nil || j.State == order.JobVerifying {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET state = $1, lease_until = $2, next_at = $2, updated_at = $2, steps = steps || $3 WHERE id = $4`,
			order.JobVerifying, now.Unix(), nextStep(order.JobVerifying, now), j.ID)
		return err
	})
}

// lockUnmoved locks the row of a job, and reports whether it is as it was read.
func lockUnmoved(ctx context.Context, tx *Tx, j order.Job) (bool, error) {
	return rowsAffected(tx.ExecContext(ctx, `UPDATE jobs SET attempts = attempts WHERE id = $1 AND state = $2 AND attempts = $3`, j.ID, j.State, j.Attempts))
}

// CompleteRenewal implements registration.OpenJobs. A job that a node has moved since it
// was read is left to that node.
func (s Jobs) CompleteRenewal(ctx context.Context, j order.Job, placed order.Placed, expires time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if same, err := lockUnmoved(ctx, tx, j); err != nil || !same {
			return err
		}
		if err := setPlaced(ctx, tx, j, placed); err != nil {
			return err
		}
		if placed.Attempts > j.Attempts {
			j.Attempts, j.Reference, j.Backend = placed.Attempts, order.OrderReference(j.ID, placed.Attempts), placed.Backend
		}
		return s.complete(ctx, tx, j, lifecycle.Registration{Name: j.Purchase.Name, Expires: expires, Updated: s.Now()})
	})
}

// setPlaced raises the number of orders that were placed for a job, and stores the
// registrar of the last: the next one is placed there, too.
func setPlaced(ctx context.Context, tx *Tx, j order.Job, placed order.Placed) (err error) {
	switch {
	case placed.Attempts > j.Attempts:
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET attempts = $1, reference = $2, backend = $3, refusal = '' WHERE id = $4`,
			placed.Attempts, order.OrderReference(j.ID, placed.Attempts), placed.Backend, j.ID)
	case j.Backend == "":
		_, err = tx.ExecContext(ctx, `UPDATE jobs SET backend = $1 WHERE id = $2`, placed.Backend, j.ID)
	}
	return err
}
