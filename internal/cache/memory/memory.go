// Package memory counts in this process. It is the cache of a single node, and the
// fallback when the shared cache is down.
//
// Windows are the same for all callers, so a window that has ended is dropped as a
// whole, without a sweep of old entries.
package memory

import (
	"context"
	"sync"
	"time"

	"deed.example/deed"
)

// maxKeys bounds the memory of one window: about 100 MB. Further callers are not
// counted until the window ends; refusing them would let an attacker with many
// addresses lock everyone else out.
const maxKeys = 1_000_000

// Cache is an in-memory counter. Its zero value is ready to use once Now is set.
type Cache struct {
	Now func() time.Time

	mu      sync.Mutex
	windows map[time.Duration]*window // guarded by mu
}

type window struct {
	reset  time.Time
	counts map[string]int
}

// Count implements deed.Counter.
func (c *Cache) Count(_ context.Context, key string, length time.Duration) (int, time.Time, error) {
	now := c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.window(now, length)
	n := w.counts[key] + 1
	if n > 1 || len(w.counts) < maxKeys {
		w.counts[key] = n
	}
	return n, w.reset, nil
}

// Peek implements deed.Counter.
func (c *Cache) Peek(_ context.Context, key string, length time.Duration) (int, time.Time, error) {
	now := c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.window(now, length)
	return w.counts[key], w.reset, nil
}

// window returns the window of the given length that holds now.
func (c *Cache) window(now time.Time, length time.Duration) *window {
	w := c.windows[length]
	if w != nil && now.Before(w.reset) {
		return w
	}
	if c.windows == nil {
		c.windows = map[time.Duration]*window{}
	}
	w = &window{reset: deed.WindowEnd(now, length), counts: map[string]int{}}
	c.windows[length] = w
	return w
}
