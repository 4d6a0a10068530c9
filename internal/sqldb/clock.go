package sqldb

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Clock is the one clock of all nodes that share a database. Leases and quiet
// windows are written by one node and judged by another: were each to go by its
// own watch, a fast one would believe too early that an order was never placed.
//
// On PostgreSQL it is the database's, as our own plus the difference when we last
// asked. A SQLite file has one node, and its clock is that node's.
type Clock struct {
	db     *DB
	now    func() time.Time
	offset atomic.Int64 // nanoseconds
}

// NewClock returns the clock of db over this machine's own.
func NewClock(db *DB, now func() time.Time) *Clock { return &Clock{db: db, now: now} }

// Now returns the time of the database.
func (c *Clock) Now() time.Time { return c.now().Add(time.Duration(c.offset.Load())) }

// Sync asks the database what time it is. Call it before the first use and every
// few seconds from then on.
func (c *Clock) Sync(ctx context.Context) error {
	if c.db.dialect != postgres && c.db.Time == nil {
		return nil
	}
	before := c.now()
	theirs, err := c.db.time(ctx)
	if err != nil {
		return fmt.Errorf("ask the database for the time: %w", err)
	}
	after := c.now()
	middle := before.Add(after.Sub(before) / 2)
	c.offset.Store(int64(theirs.Sub(middle)))
	return nil
}

// time returns what the database's own clock shows.
func (db *DB) time(ctx context.Context) (time.Time, error) {
	if db.Time != nil {
		return db.Time(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	var micros int64
	err := db.read.QueryRowContext(ctx, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`).Scan(&micros)
	return time.UnixMicro(micros), err
}
