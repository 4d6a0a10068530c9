package worker

import (
	"sync"
	"time"
)

const (
	causeInterval = time.Minute
	maxCauses     = 100 // kept at once: error texts of a chain are unbounded
)

// causeLog limits log lines to one per cause and minute.
type causeLog struct {
	mu   sync.Mutex
	seen map[string]*causeCount // guarded by mu
}

type causeCount struct {
	since time.Time
	times int // since then
}

// add counts a cause. It reports whether to log it now, and how often it has
// occurred since it was last logged.
func (c *causeLog) add(name, cause string, now time.Time) (times int, log bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) >= maxCauses {
		c.seen = map[string]*causeCount{}
	}
	key := name + " " + cause
	n := c.seen[key]
	if n == nil {
		c.seen[key] = &causeCount{since: now}
		return 1, true
	}
	n.times++
	if now.Sub(n.since) < causeInterval {
		return n.times, false
	}
	times, n.times, n.since = n.times, 0, now
	return times, true
}
