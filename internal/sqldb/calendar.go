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
// Only registrations use it; tokens and payments never do. The embedded chain has a
// clock of its own, which AdvanceAll moves, too.
//
// Its offset is stored in the database: it survives a restart, and every node that
// calls Sync once a second follows within a second.
type Calendar struct {
	db    *DB
	now   func() time.Time
	ahead atomic.Int64 // nanoseconds; it only grows
	chain atomic.Int64 // likewise, of the chain's clock
}

// NewCalendar returns the calendar of db, based on a clock. Call Sync before its
// first use.
func NewCalendar(db *DB, now func() time.Time) *Calendar { return &Calendar{db: db, now: now} }

// ChainAhead returns how far the clock of the embedded chain is ahead.
func (c *Calendar) ChainAhead() time.Duration { return time.Duration(c.chain.Load()) }

// Now returns the date of the calendar.
func (c *Calendar) Now() time.Time { return c.now().Add(time.Duration(c.ahead.Load())) }

// Sync reads the offset from the database. Call it every second.
func (c *Calendar) Sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.db.Timeout)
	defer cancel()
	var ahead, chain int64
	err := c.db.read.QueryRowContext(ctx, `SELECT ahead, chain_ahead FROM calendar WHERE id = 1`).Scan(&ahead, &chain)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the calendar: %w", err)
	}
	c.move(ahead, chain)
	return nil
}

// Advance advances the calendar of all nodes and returns its new date. It fails with
// CodeValidation when d is not positive, or too large.
func (c *Calendar) Advance(ctx context.Context, d time.Duration) (time.Time, error) {
	return c.advance(ctx, d, 0)
}

// AdvanceAll is Advance, and advances the clock of the embedded chain as much.
func (c *Calendar) AdvanceAll(ctx context.Context, d time.Duration) (time.Time, error) {
	return c.advance(ctx, d, d)
}

func (c *Calendar) advance(ctx context.Context, d, onChain time.Duration) (time.Time, error) {
	if d <= 0 || d > maxAhead {
		return time.Time{}, errAdvance
	}
	var ahead, chain int64
	err := c.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO calendar (id, ahead, chain_ahead) VALUES (1, $1, $2)
			ON CONFLICT (id) DO UPDATE SET ahead = calendar.ahead + excluded.ahead, chain_ahead = calendar.chain_ahead + excluded.chain_ahead
			 WHERE calendar.ahead + excluded.ahead <= $3
			RETURNING ahead, chain_ahead`,
			int64(d), int64(onChain), int64(maxAhead)).Scan(&ahead, &chain)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, errAdvance
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("move the calendar: %w", err)
	}
	c.move(ahead, chain)
	return c.Now(), nil
}

var errAdvance = deed.Invalid("advance", "the calendar goes forward only, and up to a hundred years in all")

// move sets larger offsets. Smaller ones, read earlier by another goroutine, are
// ignored.
func (c *Calendar) move(ahead, chain int64) {
	raise(&c.ahead, ahead)
	raise(&c.chain, chain)
}

func raise(n *atomic.Int64, to int64) {
	for old := n.Load(); to > old; old = n.Load() {
		if n.CompareAndSwap(old, to) {
			return
		}
	}
}
