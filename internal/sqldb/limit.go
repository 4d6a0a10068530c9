package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
)

// Limits implements deed.Counter for windows that must survive a restart. Fill both
// fields.
type Limits struct {
	DB  *DB
	Now func() time.Time
}

// maxEnded is how many windows that have ended are deleted at once.
const maxEnded = 100

// Count implements deed.Counter.
func (s Limits) Count(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	now := s.Now()
	reset := deed.WindowEnd(now, window)
	var n int
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		err := tx.QueryRowContext(ctx, `
			INSERT INTO limits (ends, key, n) VALUES ($1, $2, 1)
			ON CONFLICT (ends, key) DO UPDATE SET n = limits.n + 1
			RETURNING n`,
			reset.Unix(), key).Scan(&n)
		if err != nil || n > 1 {
			return err
		}
		// The first call of a key in a window deletes some of the windows that have ended: there
		// may have been as many as an attacker has addresses.
		_, err = tx.ExecContext(ctx, `
			DELETE FROM limits WHERE (ends, key) IN (SELECT ends, key FROM limits WHERE ends <= $1 ORDER BY ends, key LIMIT $2)`, now.Unix(), maxEnded)
		return err
	})
	return n, reset, err
}

// Reset deletes all counts.
func (s Limits) Reset(ctx context.Context) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM limits`)
		return err
	})
}

// Peek implements deed.Counter.
func (s Limits) Peek(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	reset := deed.WindowEnd(s.Now(), window)
	var n int
	err := s.DB.read.QueryRowContext(ctx, `SELECT coalesce(sum(n), 0) FROM limits WHERE ends = $1 AND key = $2`, reset.Unix(), key).Scan(&n)
	return n, reset, err
}
