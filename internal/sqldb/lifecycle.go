package sqldb

import (
	"context"
	"errors"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// UpdateRegistration implements registration.LifecycleStore. The WHERE clause compares
// all fields of was, so that a concurrent change is never overwritten.
func (s Registrations) UpdateRegistration(ctx context.Context, was, is lifecycle.Registration, events []lifecycle.Event, next time.Time) (written bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		changed := was.Updated
		if !was.Equal(is) {
			changed = now
		}
		written, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrations SET status = $1, expires_at = $2, locked_at = $3, nameservers = $4, ds = $5, updated_at = $6, next_at = $7,
			       glue = $16, epp_status = $17, phase = $18, phase_at = $19, roid = $21, verify = $22, verify_by = $23, compared_at = $24,
			       our_servers_until = CASE WHEN $26 > our_servers_until THEN $26 ELSE our_servers_until END, `+dsSeen("$5", "$4", "$25", "$27")+`
			 WHERE domain = $8 AND reference = $9 AND expires_at = $10 AND status = $11 AND updated_at = $12
			   AND (locked_at IS NOT NULL) = $13 AND nameservers = $14 AND ds = $15 AND glue = $20 AND owner = $28 AND cancelling_at IS NULL`,
			is.Status, is.Expires.Unix(), lockedAt(is.Locked, now), strings.Join(is.Nameservers, " "), dsColumn(is.DS), changed.Unix(), next.Unix(),
			was.Name, was.Reference, was.Expires.Unix(), was.Status, was.Updated.Unix(),
			was.Locked, strings.Join(was.Nameservers, " "), dsColumn(was.DS),
			is.Glue.String(), storable(strings.Join(is.Registry.Statuses, " ")), is.Registry.Phase, unixOrZero(is.Registry.Since), was.Glue.String(),
			storable(is.Registry.ROID), storable(strings.Join(is.Registry.Verification.Claims, " ")), unixOrZero(is.Registry.Verification.Deadline),
			unixOrZero(is.Compared), now.Unix(), unixOrZero(is.OurServersUntil), unixOrZero(is.DSSeen), was.Owner))
		if err != nil || !written {
			return err
		}
		if err := s.Zones.setServing(ctx, tx, is.Name, is.Status.Resolves()); err != nil {
			return err
		}
		return addEvents(ctx, tx, events, was.Owner)
	})
	return written, err
}

// EndRegistration implements registration.LifecycleStore. The zone of the name ends in
// the same transaction.
func (s Registrations) EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		ended, err := rowsAffected(tx.ExecContext(ctx, `
			DELETE FROM registrations WHERE domain = $1 AND reference = $2 AND expires_at = $3 AND cancelling_at IS NULL`,
			was.Name, was.Reference, was.Expires.Unix()))
		if err != nil || !ended {
			return err
		}
		return s.ended(ctx, tx, was, reason, events)
	})
}

// ended stores a registration whose row was deleted as a former one, and ends its zone.
func (s Registrations) ended(ctx context.Context, tx *Tx, was lifecycle.Registration, reason string, events []lifecycle.Event) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO former_registrations (reference, domain, owner, payment_id, created_at, expires_at, ended_at, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		was.Reference, was.Name, was.Owner, was.PaymentID, was.Created.Unix(), was.Expires.Unix(), s.Now().Unix(), reason)
	if err == nil {
		err = s.Zones.endZone(ctx, tx, was.Name)
	}
	if err == nil {
		err = endSuspension(ctx, tx, was.Name)
	}
	if err == nil {
		err = endMandatesOf(ctx, tx, was.Name, "the name has ended", s.Now())
	}
	if err == nil {
		err = eraseRegistrant(ctx, tx, was.Reference, lifecycle.RegistrantErasing)
	}
	if err != nil {
		return err
	}
	return addEvents(ctx, tx, events, was.Owner)
}

func addEvents(ctx context.Context, tx *Tx, events []lifecycle.Event, owner deed.Wallet) error {
	for _, e := range events {
		if err := addEvent(ctx, tx, e, owner); err != nil {
			return err
		}
	}
	return nil
}

// CompareSoon implements registration.Names.
func (s Registrations) CompareSoon(ctx context.Context, name deed.Name) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE registrations SET next_at = $1 WHERE domain = $2 AND next_at > $1`, s.Now().Unix(), name)
		return err
	})
}

// compareDelay is how soon after an act of its owner a name is compared with the
// registry: of two concurrent actions, it may have applied them in the other order.
const compareDelay = time.Minute

// RecordAction implements registration.Names. An action that is not stored may have been
// done at the registry: the name is compared soon.
func (s Registrations) RecordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error {
	err := s.recordAction(ctx, is, a)
	if !errors.Is(err, lifecycle.ErrConcurrentAction) {
		return err
	}
	return errors.Join(err, s.DB.tx(context.WithoutCancel(ctx), func(ctx context.Context, tx *Tx) error {
		soon := s.Now().Add(compareDelay).Unix()
		_, err := tx.ExecContext(ctx, `UPDATE registrations SET next_at = $1 WHERE domain = $2 AND reference = $3 AND next_at > $1`, soon, is.Name, is.Reference)
		return err
	}))
}

// recordAction stores the action. It writes only the columns that it changes, since others
// may have changed concurrently.
func (s Registrations) recordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now()
		columns, condition, values := actionColumns(is, a, now)
		moved, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrations SET `+columns+`, updated_at = $1, next_at = CASE WHEN next_at > $2 THEN $2 ELSE next_at END
			 WHERE domain = $3 AND reference = $4 AND owner = $5 AND cancelling_at IS NULL`+condition,
			append([]any{now.Unix(), now.Add(compareDelay).Unix(), is.Name, is.Reference, a.Wallet}, values...)...))
		if err == nil && !moved {
			err = notRecorded(ctx, tx, is, a)
		}
		if err == nil {
			err = addAction(ctx, tx, is, a, now) // the row is locked by the update above
		}
		if err != nil || a.Kind != lifecycle.ActionHandover {
			return err
		}
		if err := eraseRegistrant(ctx, tx, is.Reference, lifecycle.RegistrantResetting); err != nil {
			return err
		}
		if err := s.Zones.relabel(ctx, tx, is.Name); err != nil {
			return err
		}
		if err := endMandatesOf(ctx, tx, is.Name, order.ReasonOwnerChanged, now); err != nil {
			return err
		}
		if err := leaveMove(ctx, tx, is, now); err != nil {
			return err
		}
		return addHandover(ctx, tx, is, a.Wallet, now)
	})
}

// addHandover stores the event of a hand-over, and tells both owners. A name may be handed
// over several times in a second, and the time that an event is about makes it another one.
func addHandover(ctx context.Context, tx *Tx, is lifecycle.Registration, former deed.Wallet, now time.Time) error {
	var last int64
	err := tx.QueryRowContext(ctx, `SELECT coalesce(max(about_at), 0) FROM events WHERE reference = $1 AND type = $2`,
		is.Reference, lifecycle.EventHandedOver).Scan(&last)
	if err != nil {
		return err
	}
	about := time.Unix(max(now.Unix(), last+1), 0)
	happened := lifecycle.Event{Name: is.Name, Reference: is.Reference, Type: lifecycle.EventHandedOver, At: now, About: about}
	told := event.OfRegistration(happened, former)
	told.Data.NewOwner = is.Owner
	tx.emit(told) // addEvent tells the new owner
	return addEvent(ctx, tx, happened, is.Owner)
}

// notRecorded returns why an action could not be recorded.
func notRecorded(ctx context.Context, tx *Tx, is lifecycle.Registration, a lifecycle.OwnerAction) error {
	r, err := readRegistration(ctx, tx, is.Name)
	if err == nil && r.Owner == a.Wallet && r.Reference == is.Reference && !r.Cancelling {
		return lifecycle.ErrConcurrentAction
	}
	return notChanged(ctx, tx, is.Name, a.Wallet)
}

// notChanged returns why the owner of a name could not change its registration.
func notChanged(ctx context.Context, tx *Tx, name deed.Name, owner deed.Wallet) error {
	if r, err := readRegistration(ctx, tx, name); err == nil && r.Cancelling && r.Owner == owner {
		return deed.Invalid("domain", "%s is being cancelled", name)
	}
	return deed.Errorf(deed.CodeOwnershipDenied, "%s was handed over in the meantime", name)
}

func addAction(ctx context.Context, tx *Tx, is lifecycle.Registration, a lifecycle.OwnerAction, now time.Time) error {
	n, err := countActions(ctx, tx, is.Reference)
	if err != nil {
		return err
	}
	if a.Kind == lifecycle.ActionHandover && a.After != n {
		return lifecycle.ErrConcurrentAction
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO owner_actions (reference, n, domain, wallet, action, detail, at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		is.Reference, n, is.Name, a.Wallet, a.Kind, a.Detail, now.Unix())
	return err
}

// CountActions implements registration.Names.
func (s Registrations) CountActions(ctx context.Context, reference string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return countActions(ctx, s.DB.read, reference)
}

// countOwnerActions reads the last action only: they cost nothing, so there may be many.
const countOwnerActions = `SELECT coalesce(max(n) + 1, 0) FROM owner_actions WHERE reference = $1`

func countActions(ctx context.Context, q rowQuerier, reference string) (n int, err error) {
	err = q.QueryRowContext(ctx, countOwnerActions, reference).Scan(&n)
	return n, err
}

// actionColumns returns the columns that an action sets, and a condition; their values
// start at $6.
func actionColumns(is lifecycle.Registration, a lifecycle.OwnerAction, now time.Time) (columns, condition string, values []any) {
	switch a.Kind {
	case lifecycle.ActionHandover:
		return "owner = $6, locked_at = $7", "", []any{is.Owner, lockedAt(is.Locked, now)}
	case lifecycle.ActionNameservers:
		condition = " AND ds = $9"
		if a.OnlyDS {
			condition += ` AND nameservers = $6 AND our_servers_until = $10
			   AND NOT EXISTS (SELECT 1 FROM delegation_moves m WHERE m.domain = registrations.domain AND m.reference = registrations.reference)`
		}
		values = []any{strings.Join(is.Nameservers, " "), dsColumn(is.DS), is.Glue.String(), dsColumn(a.HadDS)}
		switch {
		case a.OnlyDS:
			values = append(values, unixOrZero(is.OurServersUntil))
		case a.HadServers != nil:
			condition += " AND nameservers = $10"
			values = append(values, strings.Join(a.HadServers, " "))
		}
		columns = "nameservers = $6, ds = $7, glue = $8, " + dsSeen("$7", "$6", "$1", "ds_seen_at")
		if a.HadOurServers {
			columns += ", our_servers_until = $1"
		}
		return columns, condition, values
	}
	return "locked_at = $6", "", []any{lockedAt(is.Locked, now)}
}
