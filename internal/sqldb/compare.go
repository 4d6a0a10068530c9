package sqldb

import (
	"context"
	"time"
)

// Compared returns since when every name of the backend was compared with it; zero if it
// has no names.
func (s Registrations) Compared(ctx context.Context, backend string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var first int64
	err := s.DB.read.QueryRowContext(ctx, `SELECT coalesce(min(compared_at), 0) FROM registrations WHERE backend = $1`, backend).Scan(&first)
	return timeOrZero(first), err
}

// A Waiting is how many names wait to be compared with their registrar, and how long the
// first of them is overdue.
type Waiting struct {
	Names   int
	Longest time.Duration
}

// Waiting returns the names that wait, by backend.
func (s Registrations) Waiting(ctx context.Context) (map[string]Waiting, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	now := s.Now()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT backend, count(*), min(next_at) FROM registrations
		 WHERE next_at <= $1 AND next_at > 0 AND cancelling_at IS NULL
		 GROUP BY backend`, now.Unix())
	if err != nil {
		return nil, err
	}
	all := map[string]Waiting{}
	err = eachRow(rows, func() error {
		var backend string
		var n int
		var first int64
		if err := rows.Scan(&backend, &n, &first); err != nil {
			return err
		}
		all[backend] = Waiting{Names: n, Longest: now.Sub(timeOrZero(first))}
		return nil
	})
	return all, err
}
