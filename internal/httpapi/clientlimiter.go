package httpapi

import "sync"

// A clientLimiter limits how many requests or streams one client has open at a
// time. The zero value is ready to use.
type clientLimiter struct {
	mu   sync.Mutex
	open map[string]int // by client key; guarded by mu
}

// acquire counts one more for the client, unless limit are open already.
func (c *clientLimiter) acquire(key string, limit int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key] >= limit {
		return false
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[key]++
	return true
}

// release undoes a successful acquire.
func (c *clientLimiter) release(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[key]--; c.open[key] == 0 {
		delete(c.open, key)
	}
}
