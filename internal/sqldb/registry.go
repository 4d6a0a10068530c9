package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/registry"
)

// Registry stores the names and orders of the embedded registry; it implements
// local.Store.
//
// Orders are executed lazily: every method first executes the due orders of the name.
// So there is no timer, and an order takes effect exactly at its time, even when the
// clock jumps by years.
type Registry struct {
	DB *DB
}

// Place implements local.Store. The first order of a name needs no lock: its row of the
// name is the only one.
func (s Registry) Place(ctx context.Context, p registry.Placement, at time.Time) (placed registry.Placement, err error) {
	err = s.DB.composed(ctx, func(ctx context.Context, tx *Tx) (err error) {
		if tx.reads != nil {
			placed, err = placeFirst(tx, p, at)
		} else {
			placed, err = placeLocked(ctx, tx, p, at)
		}
		return err
	})
	return placed, err
}

// placeFirst stores a name's first order, executed. For any other, it fails with errNeedsTx
// or what it queues does.
func placeFirst(tx *Tx, p registry.Placement, at time.Time) (registry.Placement, error) {
	done, entry := p.Execute(registry.Entry{})
	if p.State != registry.PlacementPlaced || p.Due.After(at) || done.State != registry.PlacementDone {
		return p, errNeedsTx
	}
	tx.require(errNeedsTx, insertPlacement, placementValues(done)...)
	tx.queue(insertEntry, entryValues(entry)...)
	done.Executed = true
	return done, nil
}

// placeLocked stores any order and executes what is due, while the row of its name is
// locked.
func placeLocked(ctx context.Context, tx *Tx, p registry.Placement, at time.Time) (registry.Placement, error) {
	if err := lockName(ctx, tx, p.Name); err != nil {
		return p, err
	}
	if _, err := tx.ExecContext(ctx, insertPlacement, placementValues(p)...); err != nil {
		return p, err
	}
	executed, err := executeDue(ctx, tx, p.Name, at)
	if err != nil {
		return p, err
	}
	for _, e := range slices.Backward(executed) {
		if e.Reference == p.Reference {
			e.Executed = true
			return e, nil
		}
	}
	return readPlacement(p.Reference, tx.QueryRowContext(ctx, selectPlacement, p.Reference))
}

// Placement implements local.Store. One query reads the order, the entry of its name and
// whether an order for it is due; usually none is, and nothing is written.
func (s Registry) Placement(ctx context.Context, reference string, at time.Time) (registry.Placement, registry.Entry, error) {
	p, entry, due, err := s.placement(ctx, reference, at)
	if err != nil || !due {
		return p, entry, err
	}
	if err := s.catchUp(ctx, p.Name, at); err != nil {
		return registry.Placement{}, registry.Entry{}, err
	}
	p, entry, _, err = s.placement(ctx, reference, at)
	return p, entry, err
}

func (s Registry) placement(ctx context.Context, reference string, at time.Time) (registry.Placement, registry.Entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var row entryRow
	p, err := readPlacement(reference, s.DB.queryRow(ctx, selectPlacementAndEntry, reference, at.Unix()), row.columns()...)
	if err != nil {
		return p, registry.Entry{}, false, err
	}
	entry, err := row.entry()
	return p, entry, row.due, err
}

// Cancel implements local.Store.
func (s Registry) Cancel(ctx context.Context, reference string, at time.Time) error {
	p, _, _, err := s.placement(ctx, reference, at) // its name never changes
	if err != nil {
		return err
	}
	return s.withLockedName(ctx, p.Name, func(ctx context.Context, tx *Tx) error {
		if _, err := executeDue(ctx, tx, p.Name, at); err != nil {
			return err
		}
		// Cancelling twice is a no-op.
		cancelled, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE registry_orders SET state = $1
			 WHERE reference = $2 AND state IN ($3, $4, $1)`,
			registry.PlacementCancelled, reference, registry.PlacementPlaced, registry.PlacementParked))
		if err == nil && !cancelled {
			err = deed.Errorf(deed.CodeNotFound, "order %s has ended and cannot be cancelled", reference)
		}
		return err
	})
}

// Decide implements local.Store.
func (s Registry) Decide(ctx context.Context, name deed.Name, approve bool, at time.Time) error {
	return s.withLockedName(ctx, name, func(ctx context.Context, tx *Tx) error {
		if _, err := executeDue(ctx, tx, name, at); err != nil {
			return err
		}
		held, _, err := scanEntry(tx.QueryRowContext(ctx, selectEntry, name, at.Unix()))
		if err != nil {
			return err
		}
		if held.Transfer == "" {
			return deed.Errorf(deed.CodeNotFound, "no transfer of %s is pending", name)
		}
		p, err := readPlacement(held.Transfer, tx.QueryRowContext(ctx, selectPlacement, held.Transfer))
		if err != nil {
			return err
		}
		if !approve {
			return savePlacement(ctx, tx, p.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the other side has rejected the transfer of %s", name)))
		}
		if p.Due = at; at.Before(p.Accepted) {
			p.Due = p.Accepted // another node's clock is ahead
		}
		_, err = execute(ctx, tx, p)
		return err
	})
}

// withLockedName runs f in a transaction that locks the row of the name.
func (s Registry) withLockedName(ctx context.Context, name deed.Name, f func(context.Context, *Tx) error) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if err := lockName(ctx, tx, name); err != nil {
			return err
		}
		return f(ctx, tx)
	})
}

// lockName locks the row of the name, which is created if missing.
func lockName(ctx context.Context, tx *Tx, name deed.Name) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO registry_names (name) VALUES ($1)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name`, name)
	return err
}

// catchUp executes the due orders of the name. A read-only database is left as it is.
func (s Registry) catchUp(ctx context.Context, name deed.Name, at time.Time) error {
	if s.DB.readOnly {
		return nil
	}
	return s.withLockedName(ctx, name, func(ctx context.Context, tx *Tx) error {
		_, err := executeDue(ctx, tx, name, at)
		return err
	})
}

// executeDue executes the due orders of the name, in order of time, and returns them as
// they are then; a transfer may be due twice. The caller has locked the row of the name.
func executeDue(ctx context.Context, tx *Tx, name deed.Name, at time.Time) (executed []registry.Placement, err error) {
	for {
		var due int
		p, err := scanPlacement(tx.QueryRowContext(ctx, selectDue, name, at.Unix()), &due)
		if errors.Is(err, sql.ErrNoRows) {
			return executed, nil
		}
		if err != nil {
			return nil, err
		}
		if p, err = execute(ctx, tx, p); err != nil {
			return nil, fmt.Errorf("execute order %s: %w", p.Reference, err)
		}
		executed = append(executed, p)
		if due == 1 && (p.State != registry.PlacementPlaced || p.Due.After(at)) {
			return executed, nil
		}
	}
}

// execute completes one placed order, or starts the waiting period of a transfer, and
// returns it as it is then.
func execute(ctx context.Context, tx *Tx, p registry.Placement) (registry.Placement, error) {
	held, _, err := scanEntry(tx.QueryRowContext(ctx, selectEntry, p.Name, p.Due.Unix()))
	if err != nil {
		return p, err
	}
	p, entry := p.Execute(held)
	if err := savePlacement(ctx, tx, p); err != nil || p.State != registry.PlacementDone {
		return p, err
	}
	return p, saveEntry(ctx, tx, entry, held)
}
