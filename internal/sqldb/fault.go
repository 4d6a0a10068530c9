package sqldb

import (
	"context"
	"database/sql"
	"errors"
)

// Faults stores the fault injection of the embedded registry, for all nodes and across
// restarts; it implements local.FaultStore.
type Faults struct {
	DB *DB
}

// Fault implements local.FaultStore.
func (s Faults) Fault(ctx context.Context) (kind string, times int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.queryRow(ctx, `SELECT kind, times FROM registry_faults WHERE id = 1`).Scan(&kind, &times)
	if errors.Is(err, sql.ErrNoRows) {
		return "none", 0, nil
	}
	return kind, times, err
}

// SetFault implements local.FaultStore.
func (s Faults) SetFault(ctx context.Context, kind string, times int) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO registry_faults (id, kind, times) VALUES (1, $1, $2)
			ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, times = excluded.times`,
			kind, times)
		return err
	})
}

// CountFault implements local.FaultStore. It decrements atomically, so that no two
// calls take the same fault.
func (s Faults) CountFault(ctx context.Context, kind string) (counted bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		counted, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE registry_faults
			   SET times = times - 1, kind = CASE WHEN times = 1 THEN 'none' ELSE kind END
			 WHERE id = 1 AND kind = $1 AND times > 0`,
			kind))
		return err
	})
	return counted, err
}
