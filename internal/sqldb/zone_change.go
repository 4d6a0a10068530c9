package sqldb

import (
	"context"
	"errors"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/order"
)

// ChangeZone implements zone.Store: in one transaction the change is applied, the serial
// raised, the served records regenerated, the outbox written, the job completed and the
// payment consumed. When the change is not allowed, the job fails and the payment is due
// for refund instead. It returns false when another process was first.
func (s Zones) ChangeZone(ctx context.Context, j order.Job) (revision uint32, done bool, err error) {
	jobs := Jobs{DB: s.DB, Now: s.Now, Zones: s}
	err = s.DB.composed(ctx, func(ctx context.Context, tx *Tx) error {
		revision, done = 0, false
		// While this waited for the lock, another process may have applied the change. Then
		// neither of the moves below is made, whatever Apply says of the changed zone.
		z, next, err := s.tryChange(ctx, tx, j)
		if no, refused := errors.AsType[*deed.Error](err); refused {
			done, err = jobs.failChange(ctx, tx, j, no)
			return err
		}
		if err != nil {
			return err
		}
		p, err := jobs.settledPayment(ctx, tx, j)
		if err != nil {
			return err
		}
		revision, done, j.Revision = next.Serial, true, next.Serial
		if err := s.writeChange(ctx, tx, j, z, next); err != nil {
			return err
		}
		if err := jobs.queueMove(tx, j, time.Time{}, order.JobCompleted); err != nil {
			return err
		}
		return jobs.queuePaymentMove(tx, j, p, order.PaymentConsumed)
	})
	switch {
	case errors.Is(err, errNotMoved):
		return 0, false, nil
	case errors.Is(err, errUsedID):
		revision = 0
		err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
			done, err = jobs.failChange(ctx, tx, j, errUsedID)
			return err
		})
	}
	return revision, done, err
}

// SettleChange implements zone.Store: it is ChangeZone, and records the settlement in the
// same transaction.
func (s Zones) SettleChange(ctx context.Context, p order.Payment, txHash string) (next order.Payment, revision uint32, done bool, err error) {
	jobs := Jobs{DB: s.DB, Now: s.Now, Zones: s}
	err = s.DB.composed(ctx, func(ctx context.Context, tx *Tx) error {
		j, err := s.jobOf(ctx, tx, p)
		if err != nil {
			return err
		}
		if j.State != order.JobAwaitingPayment {
			return errNotMoved
		}
		z, changed, err := s.tryChange(ctx, tx, j)
		if err != nil {
			return err
		}
		revision, j.Revision = changed.Serial, changed.Serial
		if next, err = jobs.settleAndConsume(tx, p, txHash); err != nil {
			return err
		}
		next.Job = completed(j, s.Now())
		if err := s.writeChange(ctx, tx, j, z, changed); err != nil {
			return err
		}
		return jobs.queueMove(tx, j, time.Time{}, order.JobQueued, order.JobCompleted)
	})
	if _, refused := errors.AsType[*deed.Error](err); refused || errors.Is(err, errNotMoved) {
		return p, 0, false, nil
	}
	if err != nil {
		return p, 0, false, err
	}
	return next, revision, true, nil
}

// jobOf returns the job of a payment. Whoever changes it requires that its state is the
// same: one that this process has stored need not be read.
func (s Zones) jobOf(ctx context.Context, tx *Tx, p order.Payment) (order.Job, error) {
	if p.Job != nil {
		return *p.Job, nil
	}
	return s.DB.readJob(ctx, tx, order.JobID(p.ID))
}

// completed returns the job of a change as it is after it was queued and completed.
func completed(j order.Job, now time.Time) *order.Job {
	j.Updated = time.Unix(now.Unix(), 0)
	j.State, j.Waiting = order.JobCompleted, ""
	for _, state := range []order.JobState{order.JobQueued, order.JobCompleted} {
		j.Steps = append(slices.Clip(j.Steps), order.Step{State: state, At: j.Updated})
	}
	return &j
}

// tryChange returns the zone of a change, which it locks, and what the change makes of it.
// It fails with an Error when the change is not allowed.
func (s Zones) tryChange(ctx context.Context, tx *Tx, j order.Job) (z zoneRow, next dnszone.Zone, err error) {
	if z, err = s.lockZone(ctx, tx, j.Purchase.Name); err == nil {
		next, err = j.Purchase.Change.Apply(z.Zone, s.Now().UTC().Truncate(time.Second))
	}
	return z, next, err
}

// writeChange stores what the change of a job has made of a zone.
func (s Zones) writeChange(ctx context.Context, tx *Tx, j order.Job, z zoneRow, next dnszone.Zone) error {
	was := z.Zone
	z.Zone = next
	if err := s.writeZone(ctx, tx, z, was); err != nil {
		return err
	}
	tx.emit(event.Event{Owner: z.Owner, Type: event.DNSChanged, At: s.Now(), Data: event.Data{Domain: z.Name, Serial: z.Serial, JobID: j.PublicID}})
	return nil
}

// errUsedID is returned for a new record whose ID is or was used in its zone. With 70
// random bits this is very unlikely; the payment is refunded.
var errUsedID = &deed.Error{Code: deed.CodeDNS, Message: "a new record got an id that was used before: ask for the change again"}

// failChange fails the job of a change that can no longer be applied.
func (s Jobs) failChange(ctx context.Context, tx *Tx, j order.Job, no *deed.Error) (bool, error) {
	j.Refusal = no.Code
	j.Failure = "the change could not be made any more: " + no.Message + "; the payment goes back to the payer"
	moved, err := s.move(ctx, tx, j, order.JobFailed, time.Time{})
	if err != nil || !moved {
		return moved, err
	}
	return true, s.settleAccounts(ctx, tx, j, order.PaymentRefundDue)
}
