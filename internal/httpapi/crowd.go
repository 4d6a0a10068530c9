package httpapi

import "sync"

// A crowd counts how many of each caller are inside. The zero crowd is empty.
type crowd struct {
	mu     sync.Mutex
	inside map[string]int // by client key; guarded by mu
}

// enter lets one more of a caller in, unless as many are inside as may be.
func (c *crowd) enter(key string, most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside[key] >= most {
		return false
	}
	if c.inside == nil {
		c.inside = map[string]int{}
	}
	c.inside[key]++
	return true
}

// leave is for one that was let in.
func (c *crowd) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inside[key]--; c.inside[key] == 0 {
		delete(c.inside, key)
	}
}
