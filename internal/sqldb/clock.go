package sqldb

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Clock is the common clock of all nodes that share a database. Leases and quiet
// windows are written by one node and read by another: with local clocks, a fast node
// would conclude too early that an order was never placed.
//
// On PostgreSQL it is the clock of the database, approximated by the local clock plus
// the offset at the last Sync. A SQLite file has one node, and uses its clock.
type Clock struct {
	db     *DB
	now    func() time.Time
	offset atomic.Int64 // nanoseconds
}

// NewClock returns the clock of db, based on the local clock.
func NewClock(db *DB, now func() time.Time) *Clock { return &Clock{db: db, now: now} }

// Now returns the time of the database.
func (c *Clock) Now() time.Time { return c.now().Add(time.Duration(c.offset.Load())) }

// Sync measures the offset to the clock of the database. Call it before the first use
// and every few seconds after that.
func (c *Clock) Sync(ctx context.Context) error {
	if c.db.dialect != postgres && c.db.Time == nil {
		return nil
	}
	before := c.now()
	remote, err := c.db.time(ctx)
	if err != nil {
		return fmt.Errorf("read the time of the database: %w", err)
	}
	after := c.now()
	middle := before.Add(after.Sub(before) / 2)
	c.offset.Store(int64(remote.Sub(middle)))
	return nil
}

// time returns the time of the database's clock.
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
