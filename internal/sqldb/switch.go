package sqldb

import (
	"context"
	"time"
)

// Switches stores which activities operators have stopped, on all nodes.
type Switches struct {
	DB  *DB
	Now func() time.Time
}

// Stopped returns the activities that are stopped, with the reasons.
func (s Switches) Stopped(ctx context.Context) (reasons map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `SELECT name, reason FROM stop_switches`)
	if err != nil {
		return nil, err
	}
	reasons = map[string]string{}
	err = eachRow(rows, func() error {
		var name, reason string
		err := rows.Scan(&name, &reason)
		reasons[name] = reason
		return err
	})
	return reasons, err
}
