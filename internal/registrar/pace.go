package registrar

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Pace bounds how many names are looked up at each backend to compare them, so that
// the comparison of all names never asks faster than a backend allows. Orders and
// changes do not wait for it. Make it with NewPace. It is safe for concurrent use.
type Pace struct {
	now       func() time.Time
	intervals map[string]time.Duration // between two lookups; 0 for no limit

	mu    sync.Mutex           // guards the fields below
	nodes int                  // that share the limits
	next  map[string]time.Time // when the next lookup may begin
}

// paceBurst is how much unused time a backend can catch up with.
const paceBurst = time.Second

// NewPace returns the pace of the backends, as they are configured.
func NewPace(backends []Backend, now func() time.Time) *Pace {
	p := &Pace{now: now, intervals: map[string]time.Duration{}, nodes: 1, next: map[string]time.Time{}}
	for _, b := range backends {
		p.intervals[b.Name] = 0
		if b.LookupsPerSecond > 0 {
			p.intervals[b.Name] = time.Second / time.Duration(b.LookupsPerSecond)
		}
	}
	return p
}

// Backends returns the names of all backends, sorted.
func (p *Pace) Backends() []string { return slices.Sorted(maps.Keys(p.intervals)) }

// Share divides the limits by the number of nodes that run.
func (p *Pace) Share(nodes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodes = max(nodes, 1)
}

// Take takes at most limit lookups, and returns how many the backend allows now.
func (p *Pace) Take(backend string, limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	interval := p.intervals[backend] * time.Duration(p.nodes)
	if interval == 0 {
		return limit
	}
	now := p.now()
	start := p.next[backend]
	if earliest := now.Add(-max(paceBurst, interval)); start.Before(earliest) {
		start = earliest
	}
	n := min(limit, max(0, int(now.Sub(start)/interval)))
	p.next[backend] = start.Add(time.Duration(n) * interval)
	return n
}

// Return gives back lookups that were not made.
func (p *Pace) Return(backend string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next[backend] = p.next[backend].Add(-time.Duration(n) * p.intervals[backend] * time.Duration(p.nodes))
}

// Wait takes one lookup, and waits until the backend allows it. It fails when ctx is
// done.
func (p *Pace) Wait(ctx context.Context, backend string) error {
	for p.Take(backend, 1) == 0 {
		p.mu.Lock()
		interval := p.intervals[backend] * time.Duration(p.nodes)
		pause := time.NewTimer(max(time.Millisecond, p.next[backend].Add(interval).Sub(p.now())))
		p.mu.Unlock()
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
	return ctx.Err()
}
