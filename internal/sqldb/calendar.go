package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed"
)

// maxAhead is how far a calendar can be advanced in total: a hundred years.
const maxAhead = 36525 * 24 * time.Hour

// A Calendar is a clock that the sandbox can advance, to test the lifecycle of names.
// Only registrations use it; the chain, tokens and payments never do.
//
// Its offset is stored in the database: it survives a restart, and every node that
// calls Sync once a second follows within a second.
type Calendar struct {
	db    *DB
	now   func() time.Time
	ahead atomic.Int64 // nanoseconds; it only grows
}

// NewCalendar returns the calendar of db, based on a clock. Call Sync before its
// first use.
func NewCalendar(db *DB, now func() time.Time) *Calendar { return &Calendar{db: db, now: now} }

// Now returns the date of the calendar.
func (c *Calendar) Now() time.Time { return c.now().Add(time.Duration(c.ahead.Load())) }

// Sync reads the offset from the database. Call it every second.
func (c *Calendar) Sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.db.Timeout)
	defer cancel()
	var ahead int64
	err := c.db.read.QueryRowContext(ctx, `SELECT ahead FROM calendar WHERE id = 1`).Scan(&ahead)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the calendar: %w", err)
	}
	c.move(ahead)
	return nil
}

// Advance advances the calendar of all nodes and returns its new date. It fails with
// CodeValidation when d is not positive, or too large.
func (c *Calendar) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	if d <= 0 || d > maxAhead {
		return time.Time{}, errAdvance
	}
	var ahead int64
	err := c.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO calendar (id, ahead) VALUES (1, $1)
			ON CONFLICT (id) DO UPDATE SET ahead = calendar.ahead + excluded.ahead
			 WHERE calendar.ahead + excluded.ahead <= $2
			RETURNING ahead`,
			int64(d), int64(maxAhead)).Scan(&ahead)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, errAdvance
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("move the calendar: %w", err)
	}
	c.move(ahead)
	return c.Now(), nil
}

var errAdvance = deed.Invalid("advance", "the calendar goes forward only, and up to a hundred years in all")

// move sets a larger offset. A smaller one, read earlier by another goroutine, is
// ignored.
func (c *Calendar) move(ahead int64) {
	for old := c.ahead.Load(); ahead > old; old = c.ahead.Load() {
		if c.ahead.CompareAndSwap(old, ahead) {
			return
		}
	}
}
