package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Jobs implements registration.Store, fulfil.JobStore and fulfil.JobQueue. Fill every
// field.
type Jobs struct {
	DB    *DB
	Now   func() time.Time
	Zones Zones // for the zones of new names
}

// createJob stores the job of a payment in its first state, and claims the name if it
// buys one. It fails with CodeDomainUnavailable when the name is claimed or registered.
func createJob(ctx context.Context, tx *Tx, p order.Payment, state order.JobState, now time.Time) (order.Job, error) {
	now = time.Unix(now.Unix(), 0)
	never := time.Unix(0, 0)
	j := order.Job{
		ID: order.JobID(p.ID), PublicID: newPublicID("job_"), PaymentID: p.ID, Purchase: p.Purchase, Owner: p.Auth.Payer, State: state,
		Submitted: never, Lease: never, Created: now, Updated: now, Deadline: time.Unix(p.Purchase.Deadline(now).Unix(), 0),
		Steps: []order.Step{{State: state, At: now}},
	}
	var next any
	if state == order.JobQueued || state == order.JobVerifying {
		next = now.Unix()
	}
	tx.queue(`
		INSERT INTO jobs (id, public_id, payment_id, kind, domain, owner, state, reference, attempts, submitted_at, lease_until,
		                  refusal, failure, created_at, updated_at, deadline_at, next_at, backend, steps)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', 0, 0, 0, '', '', $8, $8, $9, $10, '', $11)`,
		j.ID, j.PublicID, p.ID, p.Purchase.Kind, p.Purchase.Name, j.Owner, state, now.Unix(), j.Deadline.Unix(), next, stepText(state, now))
	if !p.Purchase.Kind.ClaimsName() {
		return j, nil
	}
	return j, claim(ctx, tx, p.Purchase.Name, j.ID)
}

// claim claims the name for a job. The claim comes first and the check for a registration
// second: a claim waits for the transaction of an earlier one, and only a statement that
// starts after that sees its result.
func claim(ctx context.Context, tx *Tx, name deed.Name, id string) error {
	claimed, err := rowsAffected(tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, id))
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

// stepText returns a step as it is stored (see readSteps).
func stepText(state order.JobState, at time.Time) string { return fmt.Sprint(state, " ", at.Unix()) }

// nextStep returns a step as it is appended to those before it.
func nextStep(state order.JobState, at time.Time) string { return "," + stepText(state, at) }

// moveJob moves the job of a payment, if any, after a transition of the payment. Its time to
// be delivered begins when the money has arrived.
func moveJob(ctx context.Context, tx *Tx, paymentID string, from, to order.JobState, now time.Time) error {
	id := order.JobID(paymentID)
	if to != order.JobCancelled {
		tx.queue(`
			UPDATE jobs SET state = $1, updated_at = $2, next_at = $2, deadline_at = deadline_at + $2 - created_at, steps = steps || $3
			 WHERE id = $4 AND state = $5`,
			to, now.Unix(), nextStep(to, now), id, from)
		return nil
	}
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE jobs SET state = $1, updated_at = $2, next_at = NULL, steps = steps || $3 WHERE id = $4 AND state = $5`,
		to, now.Unix(), nextStep(to, now), id, from))
	if err != nil || !moved {
		return err
	}
	return dropClaim(ctx, tx, id)
}

const deleteClaim = `DELETE FROM claims WHERE job_id = $1`

func dropClaim(ctx context.Context, tx *Tx, id string) error {
	_, err := tx.ExecContext(ctx, deleteClaim, id)
	return err
}

// MoveJob implements registration.Store.
func (s Jobs) MoveJob(ctx context.Context, j order.Job, to order.JobState, next time.Time) (moved bool, err error) {
	err = s.DB.atOnce(ctx, func(ctx context.Context, tx *Tx) error {
		if to == order.JobSubmitting && !j.Purchase.Kind.ClaimsName() {
			// Renewals of one name are serialized: each starts at the expiry
			// that the previous one resulted in.
			if err := takeTurn(ctx, tx, j); err != nil {
				return err
			}
		}
		return s.queueMove(tx, j, next, to)
	})
	if errors.Is(err, errNotMoved) {
		return false, nil
	}
	return err == nil, err
}

// errNotMoved rolls back a transaction that came too late or too early.
var errNotMoved = errors.New("the job was not moved")

// takeTurn claims a registered name for one of its jobs. It fails with errNotMoved while
// another job has the claim, and when the expiry has changed since this job read it. The
// claim comes first and the check second, as in claim.
func takeTurn(ctx context.Context, tx *Tx, j order.Job) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO claims (domain, job_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, j.Purchase.Name, j.ID)
	if err != nil {
		return err
	}
	var mine int
	err = tx.QueryRowContext(ctx, `
		SELECT count(*) FROM claims c JOIN registrations r ON r.domain = c.domain
		 WHERE c.domain = $1 AND c.job_id = $2 AND r.expires_at = $3`,
		j.Purchase.Name, j.ID, unixOrZero(j.From)).Scan(&mine)
	if err == nil && mine == 0 {
		err = errNotMoved
	}
	return err
}

// move stores the job in its next state. It returns false when another process has moved
// it, or has started another attempt.
func (s Jobs) move(ctx context.Context, tx *Tx, j order.Job, to order.JobState, next time.Time) (bool, error) {
	update, args, err := s.moveStatement(j, next, to)
	if err != nil {
		return false, err
	}
	moved, err := rowsAffected(tx.ExecContext(ctx, update, args...))
	if err == nil && moved {
		s.emitMove(tx, j, to)
	}
	return moved, err
}

// moveStatement returns the statement that stores a job in its next state, or in the one
// after several, if no other process has moved it.
func (s Jobs) moveStatement(j order.Job, next time.Time, states ...order.JobState) (update string, args []any, err error) {
	now, to, steps := s.Now(), j.State, ""
	for _, state := range states {
		if !to.CanBecome(state) && to != state {
			return "", nil, fmt.Errorf("job %s: there is no transition from %s to %s", j.ID, to, state)
		}
		if state != to { // it makes progress
			j.Waiting, steps = "", steps+nextStep(state, now)
		}
		to = state
	}
	var nextAt any
	if !next.IsZero() {
		nextAt = next.Unix()
	}
	attempts := j.Attempts
	if to == order.JobSubmitting {
		attempts-- // the move is the attempt
	}
	return `
		UPDATE jobs SET state = $1, reference = $2, attempts = $3, submitted_at = $4, lease_until = $5, refusal = $6, failure = $7,
		                updated_at = $8, next_at = $9, from_at = $10, until_at = $11, revision = $12, backend = $13, deadline_at = $14, cause = $15,
		                steps = steps || $16
		 WHERE id = $17 AND state = $18 AND attempts = $19`, []any{
			to, j.Reference, j.Attempts, j.Submitted.Unix(), j.Lease.Unix(), j.Refusal, j.Failure, now.Unix(), nextAt, unixOrZero(j.From), unixOrZero(j.Until), j.Revision, j.Backend, j.Deadline.Unix(), storable(j.Waiting), steps,
			j.ID, j.State, attempts}, nil
}

// emitMove tells the owner of a job that it has moved, if that is worth an event.
func (s Jobs) emitMove(tx *Tx, j order.Job, to order.JobState) {
	if j.State == to {
		return
	}
	j.State = to
	if e, ok := event.OfJob(j, s.Now()); ok {
		tx.emit(e)
	}
}

// CompleteJob implements registration.Store.
func (s Jobs) CompleteJob(ctx context.Context, j order.Job, r lifecycle.Registration) error {
	err := s.DB.composed(ctx, func(ctx context.Context, tx *Tx) error { return s.complete(ctx, tx, j, r) })
	if err != nil && (errors.Is(err, errNotMoved) || s.hasEnded(ctx, j.ID)) {
		return nil // by another process, perhaps between what this one read and what it wrote
	}
	return err
}

func (s Jobs) hasEnded(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	j, err := s.DB.readJob(ctx, s.DB.read, id)
	return err == nil && j.State.Ended()
}

func (s Jobs) complete(ctx context.Context, tx *Tx, j order.Job, r lifecycle.Registration) error {
	j.Until = r.Expires
	if j.Purchase.Kind != order.PurchaseRenewal {
		return s.completeOrder(ctx, tx, j, r)
	}
	moved, err := s.move(ctx, tx, j, order.JobCompleted, time.Time{})
	if err != nil || !moved {
		return err
	}
	if err := s.extendRegistration(ctx, tx, j, r); err != nil {
		return err
	}
	return s.settleAccounts(ctx, tx, j, order.PaymentConsumed)
}

// FailJob implements registration.Store.
func (s Jobs) FailJob(ctx context.Context, j order.Job) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		moved, err := s.move(ctx, tx, j, order.JobFailed, time.Time{})
		if err != nil || !moved {
			return err
		}
		if err := watchLateOrder(ctx, tx, j, s.Now()); err != nil {
			return err
		}
		return s.settleAccounts(ctx, tx, j, order.PaymentRefundDue)
	})
}
