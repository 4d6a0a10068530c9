package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
)

// Registry keeps the names and orders of the embedded registry; it implements
// local.Store.
//
// An order is executed when somebody looks: every method first executes the
// orders of the name that are due. So no timer has to run, and none is seen
// before or after its time.
type Registry struct {
	DB *DB
}

// Entry implements local.Store. Most often nothing is due, and then nothing is
// written: the one question asks for both.
func (s Registry) Entry(ctx context.Context, name deed.Name, at time.Time) (deed.RegistryEntry, error) {
	entry, due, err := s.entry(ctx, name, at)
	if err != nil || !due {
		return entry, err
	}
	if err := s.catchUp(ctx, name, at); err != nil {
		return deed.RegistryEntry{}, err
	}
	entry, _, err = s.entry(ctx, name, at)
	return entry, err
}

// Placement implements local.Store.
func (s Registry) Placement(ctx context.Context, reference string, at time.Time) (deed.Placement, error) {
	p, err := s.placement(ctx, reference)
	if err != nil || p.State != deed.PlacementPlaced || p.Due.After(at) {
		return p, err
	}
	if err := s.catchUp(ctx, p.Name, at); err != nil {
		return deed.Placement{}, err
	}
	return s.placement(ctx, reference)
}

// Place implements local.Store.
func (s Registry) Place(ctx context.Context, p deed.Placement, at time.Time) (placed deed.Placement, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if err := lockName(ctx, tx, p.Name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO registry_orders (reference, name, years, account, state, refusal, placed_at, due_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (reference) DO NOTHING`,
			p.Reference, p.Name, p.Years, p.Account, p.State, p.Refusal, p.Placed.Unix(), p.Due.Unix())
		if err != nil {
			return err
		}
		if err := executeDue(ctx, tx, p.Name, at); err != nil {
			return err
		}
		placed, err = scanPlacement(p.Reference, tx.QueryRowContext(ctx, selectPlacement, p.Reference))
		return err
	})
	return placed, err
}

// Cancel implements local.Store.
func (s Registry) Cancel(ctx context.Context, reference string, at time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		p, err := scanPlacement(reference, tx.QueryRowContext(ctx, selectPlacement, reference))
		if err != nil {
			return err
		}
		if err := lockName(ctx, tx, p.Name); err != nil {
			return err
		}
		if err := executeDue(ctx, tx, p.Name, at); err != nil {
			return err
		}
		// A second cancellation finds the first and changes nothing.
		cancelled, err := touched(tx.ExecContext(ctx, `
			UPDATE registry_orders SET state = $1
			 WHERE reference = $2 AND state IN ($3, $4, $1)`,
			deed.PlacementCancelled, reference, deed.PlacementPlaced, deed.PlacementParked))
		if err == nil && !cancelled {
			err = deed.Errorf(deed.CodeNotFound, "order %s is at its end and cannot be taken back", reference)
		}
		return err
	})
}

// catchUp executes what is due for the name.
func (s Registry) catchUp(ctx context.Context, name deed.Name, at time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if err := lockName(ctx, tx, name); err != nil {
			return err
		}
		return executeDue(ctx, tx, name, at)
	})
}

func (s Registry) entry(ctx context.Context, name deed.Name, at time.Time) (deed.RegistryEntry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	return scanEntry(name, s.DB.read.QueryRowContext(ctx, selectEntry, name, at.Unix()))
}

func (s Registry) placement(ctx context.Context, reference string) (deed.Placement, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	return scanPlacement(reference, s.DB.read.QueryRowContext(ctx, selectPlacement, reference))
}

// lockName makes the name's row and holds it until the transaction ends.
func lockName(ctx context.Context, tx *Tx, name deed.Name) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO registry_names (name) VALUES ($1)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name`,
		name)
	return err
}

// executeDue executes what is due for the name, in the order of time. The
// caller holds the name's row.
func executeDue(ctx context.Context, tx *Tx, name deed.Name, at time.Time) error {
	for {
		var reference string
		err := tx.QueryRowContext(ctx, `
			SELECT reference FROM registry_orders
			 WHERE name = $1 AND state = 'placed' AND due_at <= $2
			 ORDER BY due_at, reference LIMIT 1`,
			name, at.Unix()).Scan(&reference)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := execute(ctx, tx, reference); err != nil {
			return fmt.Errorf("execute order %s: %w", reference, err)
		}
	}
}

// execute brings one placed order to its end.
func execute(ctx context.Context, tx *Tx, reference string) error {
	p, err := scanPlacement(reference, tx.QueryRowContext(ctx, selectPlacement, reference))
	if err != nil {
		return err
	}
	held, _, err := scanEntry(p.Name, tx.QueryRowContext(ctx, selectEntry, p.Name, p.Due.Unix()))
	if err != nil {
		return err
	}
	p, entry := p.Execute(held)
	moved, err := touched(tx.ExecContext(ctx, `
		UPDATE registry_orders SET state = $1, refusal = $2
		 WHERE reference = $3 AND state = $4`,
		p.State, p.Refusal, reference, deed.PlacementPlaced))
	if err == nil && moved && p.State == deed.PlacementDone {
		moved, err = touched(tx.ExecContext(ctx, `
			UPDATE registry_names SET reference = $1, account = $2, created_at = $3, expires_at = $4
			 WHERE name = $5 AND coalesce(reference, '') = $6`,
			entry.Reference, entry.Account, entry.Created.Unix(), entry.Expires.Unix(), entry.Name, held.Reference))
	}
	if err == nil && !moved {
		err = fmt.Errorf("%s changed hands although its row was held", p.Name)
	}
	return err
}

// selectEntry also says whether an order for the name is due. Its state is
// written out, so that the index of placed orders serves the question.
const selectEntry = `
	SELECT coalesce(reference, ''), coalesce(account, ''), coalesce(created_at, 0), coalesce(expires_at, 0),
	       EXISTS (SELECT 1 FROM registry_orders WHERE name = $1 AND state = 'placed' AND due_at <= $2)
	  FROM registry_names WHERE name = $1`

func scanEntry(name deed.Name, row *sql.Row) (e deed.RegistryEntry, due bool, err error) {
	var created, expires int64
	err = row.Scan(&e.Reference, &e.Account, &created, &expires, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return deed.RegistryEntry{}, false, nil // an order makes the row before anything else
	}
	if err != nil || e.Reference == "" {
		return deed.RegistryEntry{}, due, err
	}
	e.Name, e.Created, e.Expires = name, time.Unix(created, 0).UTC(), time.Unix(expires, 0).UTC()
	return e, due, nil
}

const selectPlacement = `
	SELECT name, years, account, state, refusal, placed_at, due_at
	  FROM registry_orders WHERE reference = $1`

func scanPlacement(reference string, row *sql.Row) (deed.Placement, error) {
	p := deed.Placement{RegistryOrder: deed.RegistryOrder{Reference: reference}}
	var placed, due int64
	err := row.Scan(&p.Name, &p.Years, &p.Account, &p.State, &p.Refusal, &placed, &due)
	if errors.Is(err, sql.ErrNoRows) {
		return deed.Placement{}, deed.Errorf(deed.CodeNotFound, "there is no order %s", reference)
	}
	p.Placed, p.Due = time.Unix(placed, 0).UTC(), time.Unix(due, 0).UTC()
	return p, err
}
