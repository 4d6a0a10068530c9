package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// Job implements fulfil.JobStore.
func (s Jobs) Job(ctx context.Context, id string) (order.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return s.DB.readJob(ctx, s.DB.prepared(), id)
}

// JobOf implements fulfil.JobStore.
func (s Jobs) JobOf(ctx context.Context, p order.Payment) (order.Job, error) {
	if p.AliasOf != "" {
		return s.Job(ctx, order.JobID(p.AliasOf))
	}
	return s.Job(ctx, order.JobID(p.ID))
}

// PublicJob implements fulfil.JobStore.
func (s Jobs) PublicJob(ctx context.Context, publicID string) (order.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var id string
	err := s.DB.queryRow(ctx, `SELECT id FROM jobs WHERE public_id = $1`, publicID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return order.Job{}, deed.Errorf(deed.CodeNotFound, "there is no job %s", publicID)
	}
	if err != nil {
		return order.Job{}, err
	}
	return s.Job(ctx, id)
}

// readJob returns the job.
func (db *DB) readJob(ctx context.Context, from rowQuerier, id string) (order.Job, error) {
	j := order.Job{ID: id}
	var submitted, lease, since, until, revision, created, updated, deadline, next int64
	var purchase, steps string
	err := from.QueryRowContext(ctx, `
		SELECT j.public_id, j.payment_id, p.kind, p.domain, p.years, p.purchase, j.owner, j.state, j.reference, j.backend, j.attempts, j.submitted_at, j.lease_until,
		       j.from_at, j.until_at, j.revision, j.refusal, j.failure, j.cause, j.created_at, j.updated_at, j.deadline_at, coalesce(j.next_at, 0), j.steps
		  FROM jobs j JOIN payments p ON p.id = j.payment_id
		 WHERE j.id = $1`,
		id).Scan(&j.PublicID, &j.PaymentID, &j.Purchase.Kind, &j.Purchase.Name, &j.Purchase.Years, &purchase, &j.Owner, &j.State, &j.Reference, &j.Backend, &j.Attempts,
		&submitted, &lease, &since, &until, &revision, &j.Refusal, &j.Failure, &j.Waiting, &created, &updated, &deadline, &next, &steps)
	if errors.Is(err, sql.ErrNoRows) {
		return j, deed.Errorf(deed.CodeNotFound, "there is no job %s", id)
	}
	if err != nil {
		return j, err
	}
	j.Submitted, j.Lease, j.Created, j.Updated, j.Deadline = time.Unix(submitted, 0), time.Unix(lease, 0), time.Unix(created, 0), time.Unix(updated, 0), time.Unix(deadline, 0)
	j.From, j.Until, j.Next, j.Revision = timeOrZero(since), timeOrZero(until), timeOrZero(next), uint32(revision)
	if j.Steps, err = readSteps(steps); err != nil {
		return j, fmt.Errorf("read the steps of job %s: %w", id, err)
	}
	sealed, err := readPurchase(&j.Purchase, purchase)
	if err != nil || sealed == "" || j.State.Ended() {
		return j, err
	}
	// A code that no key of ours opens any more must not leave the job stuck: without
	// it the registry refuses the order, and the payer gets the money back.
	j.Purchase.AuthCode, _ = db.open(j.PaymentID, sealed)
	return j, nil
}

// readSteps reads steps like "queued 1700000000", with commas between them.
func readSteps(list string) (steps []order.Step, err error) {
	for step := range strings.SplitSeq(strings.Trim(list, ","), ",") {
		if step == "" {
			continue
		}
		state, text, _ := strings.Cut(step, " ")
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		steps = append(steps, order.Step{State: order.JobState(state), At: time.Unix(at, 0)})
	}
	return steps, nil
}

// timeOrZero converts a column in which 0 means no time.
func timeOrZero(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// unixOrZero is the inverse of timeOrZero.
func unixOrZero(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
