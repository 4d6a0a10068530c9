package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// errNotOurs is the error for a name that is not registered here.
func errNotOurs(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not a name of this service", name)
}

// Registered implements operator.Rules.
func (s Operators) Registered(ctx context.Context, name deed.Name) error {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var found deed.Name
	err := s.DB.queryRow(ctx, `SELECT domain FROM registrations WHERE domain = $1`, name).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return errNotOurs(name)
	}
	return err
}

// SetSuspended implements operator.Rules. A name that is not served for another reason,
// such as its expiry, is not served again by the end of a suspension.
func (s Operators) SetSuspended(ctx context.Context, name deed.Name, suspend bool, reason string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		var status lifecycle.Status
		err := tx.QueryRowContext(ctx, `SELECT status FROM registrations WHERE domain = $1`, name).Scan(&status)
		if errors.Is(err, sql.ErrNoRows) {
			return errNotOurs(name)
		}
		if err != nil {
			return err
		}
		if suspend {
			if _, err := tx.ExecContext(ctx, `
				INSERT INTO suspensions (domain, reason, suspended_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, name, reason, s.Now().Unix()); err != nil {
				return err
			}
			return s.Zones.setServing(ctx, tx, name, false)
		}
		if err := endSuspension(ctx, tx, name); err != nil {
			return err
		}
		if !status.Resolves() {
			return nil
		}
		return s.Zones.setServing(ctx, tx, name, true)
	})
}

// Suspended implements registration.Suspensions.
func (s Operators) Suspended(ctx context.Context, name deed.Name) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return suspended(ctx, s.DB.read, name)
}

// suspended reports whether an operator has suspended the name.
func suspended(ctx context.Context, from rowQuerier, name deed.Name) (bool, error) {
	var n int
	err := from.QueryRowContext(ctx, `SELECT count(*) FROM suspensions WHERE domain = $1`, name).Scan(&n)
	return n > 0, err
}

// endSuspension ends the suspension of a name, if there is one. It does not concern the next
// owner of the name.
func endSuspension(ctx context.Context, tx *Tx, name deed.Name) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM suspensions WHERE domain = $1`, name)
	return err
}
