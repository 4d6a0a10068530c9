package sqldb

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// A Node is one process that shares the database.
type Node struct {
	ID      string
	Host    string
	Version string
	Started time.Time
	Seen    time.Time // its last write
}

// Nodes stores which processes share the database.
type Nodes struct {
	DB  *DB
	Now func() time.Time
}

// NewNode returns this process.
func NewNode(host, version string, now time.Time) Node {
	return Node{ID: rand.Text(), Host: host, Version: version, Started: now}
}

// nodeTTL is how long a node is listed after its last write.
const nodeTTL = time.Hour

// Write writes the row of a node. It fails when the database cannot store anything,
// and so it is also the check for that.
func (s Nodes) Write(ctx context.Context, n Node) error {
	if err := s.DB.checkSpace(); err != nil {
		return err
	}
	now := s.Now().Unix()
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM nodes WHERE seen_at < $1`, now-int64(nodeTTL.Seconds())); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO nodes (id, host, version, started_at, seen_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
			n.ID, n.Host, n.Version, n.Started.Unix(), now)
		return err
	})
}

// All returns the nodes, those that were seen last first.
func (s Nodes) All(ctx context.Context) (all []Node, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `SELECT id, host, version, started_at, seen_at FROM nodes ORDER BY seen_at DESC, id`)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var n Node
		var started, seen int64
		err := rows.Scan(&n.ID, &n.Host, &n.Version, &started, &seen)
		n.Started, n.Seen = timeOrZero(started), timeOrZero(seen)
		all = append(all, n)
		return err
	})
	return all, err
}

// liveFor is how long after its last write a node counts as running: several times as
// long as the interval of its writes.
const liveFor = 30 * time.Second

// Divide reads which nodes run and leaves to each its share of the due rows. It returns
// their number. Nodes that disagree about it for a moment advance a row twice, or late,
// and both do no harm.
func (s Nodes) Divide(ctx context.Context, n Node) (nodes int, err error) {
	if s.DB.dialect == sqlite { // one process has the file
		return 1, nil
	}
	live, err := s.DB.readColumn(ctx, `SELECT id FROM nodes WHERE seen_at >= $1 ORDER BY id`, s.Now().Add(-liveFor).Unix())
	if err != nil {
		return 0, err
	}
	rank := slices.Index(live, n.ID)
	if rank < 0 { // its own row is late: it works alone rather than not at all
		s.DB.share.Store(nil)
		return max(len(live), 1), nil
	}
	s.DB.share.Store(&share{rank, len(live)})
	return len(live), nil
}

// Remove removes the row of a node that ends, so that the others take over its share.
func (s Nodes) Remove(ctx context.Context, n Node) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM nodes WHERE id = $1`, n.ID)
		return err
	})
}

// minFreeBytes is what the file system of a SQLite file must have left: a small write
// may still fit into the file when a larger one does not.
const minFreeBytes = 16 << 20

// checkSpace fails when the file system of a SQLite file is full. PostgreSQL is on
// another machine, and says so itself.
func (db *DB) checkSpace() error {
	if db.path == "" {
		return nil
	}
	free, err := freeBytes(filepath.Dir(db.path))
	if err != nil {
		return fmt.Errorf("read the free space of the disk: %w", err)
	}
	if free < minFreeBytes {
		return fmt.Errorf("the disk of the database is full: %d bytes are free, and %d are needed", free, minFreeBytes)
	}
	return nil
}
