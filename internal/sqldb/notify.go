package sqldb

import (
	"context"
	"fmt"
	"sync"

	"deed.example/deed"
)

// ZoneChannel is the notification channel for changed zones (see Listen).
const ZoneChannel = "zones"

// A notifier sends notices of changed zones to all nodes, after the transactions that
// have changed them.
//
// The notices are not part of these transactions: PostgreSQL commits transactions that
// notify one after the other, so that each would wait for the disk alone, on all nodes
// together. One that only notifies does not wait for the disk. What is lost when a process
// or a connection ends is found by the next poll of each node (zone.Follower).
type notifier struct {
	senders sync.WaitGroup

	mu      sync.Mutex // guards all below
	waiting []string
	sending bool
}

// notify has all nodes notified of a zone when the transaction is committed, as
// zone.Follower reads it; serial 0 is a zone that was withdrawn.
func (tx *Tx) notify(name deed.Name, serial uint32) {
	if tx.prepared == nil { // on SQLite there is one node
		tx.notices = append(tx.notices, fmt.Sprint(name, " ", serial))
	}
}

// sendNotices sends notices in the background: those of transactions that are committed
// while others are sent leave together.
func (db *DB) sendNotices(notices []string) {
	if len(notices) == 0 {
		return
	}
	n := &db.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, notices...)
	if !n.sending {
		n.sending = true
		n.senders.Go(db.sendWaiting)
	}
}

func (db *DB) sendWaiting() {
	n := &db.notifier
	for {
		n.mu.Lock()
		notices := n.waiting
		n.waiting, n.sending = nil, len(notices) > 0
		n.mu.Unlock()
		if len(notices) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), db.Timeout)
		// The polls find what is not sent.
		_, _ = db.write.ExecContext(ctx, `SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice`, ZoneChannel, notices)
		cancel()
	}
}
