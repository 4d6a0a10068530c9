package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
)

// Jobs implements registration.Store. Fill both fields.
type Jobs struct {
	DB  *DB
	Now func() time.Time
}

// createJob writes the job of a payment down and claims its name. It fails with
// CodeDomainUnavailable when another job is buying the name, or somebody has it.
func createJob(ctx context.Context, tx *Tx, p deed.Payment, now time.Time) error {
	id := deed.JobID(p.ID)
	_, err := tx.ExecContext(ctx, `
		INSERT INTO jobs (id, payment_id, domain, owner, state, reference, attempts, submitted_at, lease_until,
		                  refusal, failure, created_at, updated_at, deadline_at)
		VALUES ($1, $2, $3, $4, $5, '', 0, 0, 0, '', '', $6, $6, $7)`,
		id, p.ID, p.Purchase.Name, p.Auth.Payer, deed.JobAwaitingPayment, now.Unix(), now.Add(deed.JobDeadline).Unix())
	if err != nil {
		return err
	}
	if err := addStep(ctx, tx, id, deed.JobAwaitingPayment, now); err != nil {
		return err
	}
	return claim(ctx, tx, p.Purchase.Name, id)
}

// claim takes the name for a job. The claim comes first and the look at what is
// registered second: a claim waits for the one before it to end, and only a
// statement that begins after that sees what it left behind.
func claim(ctx context.Context, tx *Tx, name deed.Name, id string) error {
	claimed, err := touched(tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, id))
	if err != nil {
		return err
	}
	if !claimed {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is being bought by somebody else", name)
	}
	var held int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM registrations WHERE domain = $1`, name).Scan(&held); err != nil {
		return err
	}
	if held > 0 {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is taken", name)
	}
	return nil
}

func addStep(ctx context.Context, tx *Tx, id string, state deed.JobState, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO job_steps (job_id, n, state, at)
		SELECT $1, count(*), $2, $3 FROM job_steps WHERE job_id = $1`,
		id, state, now.Unix())
	return err
}

// moveJob moves the job of a payment, if it has one, for the payment's sake.
func moveJob(ctx context.Context, tx *Tx, paymentID string, from, to deed.JobState, now time.Time) error {
	id := deed.JobID(paymentID)
	var next any
	if to == deed.JobQueued {
		next = now.Unix()
	}
	moved, err := touched(tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, updated_at = $2, next_at = $3 WHERE id = $4 AND state = $5`,
		to, now.Unix(), next, id, from))
	if err != nil || !moved {
		return err
	}
	if to == deed.JobCancelled {
		if err := dropClaim(ctx, tx, id); err != nil {
			return err
		}
	}
	return addStep(ctx, tx, id, to, now)
}

func dropClaim(ctx context.Context, tx *Tx, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM claims WHERE job_id = $1`, id)
	return err
}

// Job implements registration.Store.
func (s Jobs) Job(ctx context.Context, id string) (deed.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	j, err := readJob(ctx, s.DB.read, id)
	if err != nil {
		return j, err
	}
	rows, err := s.DB.read.QueryContext(ctx, `SELECT state, at FROM job_steps WHERE job_id = $1 ORDER BY n`, id)
	if err != nil {
		return j, err
	}
	defer rows.Close() // rows.Err below tells what went wrong
	for rows.Next() {
		var step deed.Step
		var at int64
		if err := rows.Scan(&step.State, &at); err != nil {
			return j, err
		}
		step.At = time.Unix(at, 0)
		j.Steps = append(j.Steps, step)
	}
	return j, rows.Err()
}

// JobOf implements registration.Store.
func (s Jobs) JobOf(ctx context.Context, p deed.Payment) (deed.Job, error) {
	if p.AliasOf != "" {
		return s.Job(ctx, deed.JobID(p.AliasOf))
	}
	return s.Job(ctx, deed.JobID(p.ID))
}

func readJob(ctx context.Context, from rower, id string) (deed.Job, error) {
	j := deed.Job{ID: id}
	var submitted, lease, created, updated, deadline int64
	err := from.QueryRowContext(ctx, `
		SELECT j.payment_id, p.kind, p.domain, p.years, j.owner, j.state, j.reference, j.attempts, j.submitted_at, j.lease_until,
		       j.refusal, j.failure, j.created_at, j.updated_at, j.deadline_at
		  FROM jobs j JOIN payments p ON p.id = j.payment_id
		 WHERE j.id = $1`,
		id).Scan(&j.PaymentID, &j.Purchase.Kind, &j.Purchase.Name, &j.Purchase.Years, &j.Owner, &j.State, &j.Reference, &j.Attempts,
		&submitted, &lease, &j.Refusal, &j.Failure, &created, &updated, &deadline)
	if errors.Is(err, sql.ErrNoRows) {
		return j, deed.Errorf(deed.CodeNotFound, "there is no job %s", id)
	}
	j.Submitted, j.Lease, j.Created, j.Updated, j.Deadline = time.Unix(submitted, 0), time.Unix(lease, 0), time.Unix(created, 0), time.Unix(updated, 0), time.Unix(deadline, 0)
	return j, err
}

// MoveJob implements registration.Store.
func (s Jobs) MoveJob(ctx context.Context, j deed.Job, to deed.JobState, next time.Time) (moved bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		moved, err = s.move(ctx, tx, j, to, next)
		return err
	})
	return moved, err
}

// move writes the job as it is now, in its next state. It returns false when
// another process has moved it, or has tried it again meanwhile.
func (s Jobs) move(ctx context.Context, tx *Tx, j deed.Job, to deed.JobState, next time.Time) (bool, error) {
	if !j.State.MayBecome(to) && j.State != to {
		return false, fmt.Errorf("job %s: no arrow leads from %s to %s", j.ID, j.State, to)
	}
	now := s.Now()
	var nextAt any
	if !next.IsZero() {
		nextAt = next.Unix()
	}
	attempts := j.Attempts
	if to == deed.JobSubmitting {
		attempts-- // the move is the attempt
	}
	moved, err := touched(tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, reference = $2, attempts = $3, submitted_at = $4, lease_until = $5, refusal = $6, failure = $7,
		                updated_at = $8, next_at = $9
		 WHERE id = $10 AND state = $11 AND attempts = $12`,
		to, j.Reference, j.Attempts, j.Submitted.Unix(), j.Lease.Unix(), j.Refusal, j.Failure, now.Unix(), nextAt, j.ID, j.State, attempts))
	if err != nil || !moved || j.State == to {
		return moved, err
	}
	return true, addStep(ctx, tx, j.ID, to, now)
}

// CompleteJob implements registration.Store.
func (s Jobs) CompleteJob(ctx context.Context, j deed.Job, r deed.Registration) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		moved, err := s.move(ctx, tx, j, deed.JobCompleted, time.Time{})
		if err != nil || !moved {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO registrations (domain, owner, status, reference, payment_id, created_at, expires_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			r.Name, r.Owner, r.Status, r.Reference, r.PaymentID, r.Created.Unix(), r.Expires.Unix(), s.Now().Unix())
		if err != nil {
			return err
		}
		return s.settleAccounts(ctx, tx, j, deed.PaymentConsumed)
	})
}

// FailJob implements registration.Store.
func (s Jobs) FailJob(ctx context.Context, j deed.Job) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		moved, err := s.move(ctx, tx, j, deed.JobFailed, time.Time{})
		if err != nil || !moved {
			return err
		}
		return s.settleAccounts(ctx, tx, j, deed.PaymentRefundDue)
	})
}

// settleAccounts ends a job: its name is free of claims, and its payment is
// consumed or owed back. A payment in any other state than settled is a bug of
// ours, and nothing of it is written.
func (s Jobs) settleAccounts(ctx context.Context, tx *Tx, j deed.Job, to deed.PaymentState) error {
	if err := dropClaim(ctx, tx, j.ID); err != nil {
		return err
	}
	p, err := readPayment(ctx, tx, j.PaymentID)
	if err != nil {
		return err
	}
	moved, err := movePayment(ctx, tx, p, to, "", s.Now())
	if err == nil && !moved {
		err = fmt.Errorf("payment %s of job %s is %s", p.ID, j.ID, p.State)
	}
	if err != nil || to != deed.PaymentConsumed {
		return err
	}
	return post(ctx, tx, p, "consumed", "owed", "revenue", s.Now())
}

// DueJobs implements registration.Store.
func (s Jobs) DueJobs(ctx context.Context, most int) ([]string, error) {
	return due(ctx, s.DB, `SELECT id FROM jobs WHERE next_at <= $1 ORDER BY next_at LIMIT $2`, s.Now(), most)
}

// Registration implements registration.Store.
func (s Jobs) Registration(ctx context.Context, name deed.Name) (deed.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	r := deed.Registration{Name: name}
	var created, expires int64
	err := s.DB.read.QueryRowContext(ctx, `
		SELECT owner, status, reference, payment_id, created_at, expires_at FROM registrations WHERE domain = $1`,
		name).Scan(&r.Owner, &r.Status, &r.Reference, &r.PaymentID, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return r, deed.Errorf(deed.CodeNotFound, "%s is not registered here", name)
	}
	r.Created, r.Expires = time.Unix(created, 0).UTC(), time.Unix(expires, 0).UTC()
	return r, err
}
