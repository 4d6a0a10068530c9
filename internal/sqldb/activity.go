package sqldb

import (
	"context"
	"sync"
	"time"

	"deed.example/deed"
)

const (
	// activityInterval is the minimum interval between two updates of when a wallet was
	// last active, by one process.
	activityInterval = time.Minute

	// maxActive bounds the memory of one process: about 10 MB.
	maxActive = 100_000
)

// activity remembers when it was last stored that wallets were active.
type activity struct {
	mu     sync.Mutex
	stored map[deed.Wallet]time.Time // guarded by mu
}

// due reports whether an interval has passed, and then begins the next one. So an update that
// fails is not repeated by each call.
func (a *activity) due(w deed.Wallet, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, ok := a.stored[w]; ok && at.Sub(last) < activityInterval {
		return false
	}
	if a.stored == nil || len(a.stored) >= maxActive {
		a.stored = map[deed.Wallet]time.Time{}
	}
	a.stored[w] = at
	return true
}

// NoteActivity implements signin.Store.
func (s *Sessions) NoteActivity(ctx context.Context, w deed.Wallet, at time.Time) error {
	if !s.active.due(w, at) {
		return nil
	}
	return s.db.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE wallets SET last_active_at = $1 WHERE address = $2 AND last_active_at < $1`, at.Unix(), w)
		return err
	})
}
