package ratelimit

import (
	"maps"
	"sync"
	"time"
)

// refused remembers for a short time which callers are over a durable limit. Each call is a
// transaction there, and all calls of one caller change one row: whoever goes on calling
// would keep every connection to the database waiting for that row, at no cost.
type refused struct {
	mu  sync.Mutex
	all map[string]refusal // by key; guarded by mu
}

// A refusal is the answer to a caller over its limit.
type refusal struct {
	reset time.Time // of the window
	until time.Time // then the counter is asked again
}

const (
	refusalTTL = 10 * time.Second // the counter may have been reset by another process
	maxRefused = 1 << 16          // about 10 MB
)

// find returns when the window of a caller ends that was refused just now.
func (r *refused) find(key string, now time.Time) (reset time.Time, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, found := r.all[key]
	return one.reset, found && now.Before(one.until)
}

// add adds a caller that is refused until reset.
func (r *refused) add(key string, reset, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) >= maxRefused {
		maps.DeleteFunc(r.all, func(_ string, one refusal) bool { return !now.Before(one.until) })
	}
	if r.all == nil || len(r.all) >= maxRefused {
		r.all = map[string]refusal{} // who is forgotten is counted again
	}
	until := now.Add(refusalTTL)
	if reset.Before(until) {
		until = reset
	}
	r.all[key] = refusal{reset, until}
}

func (r *refused) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.all)
}
