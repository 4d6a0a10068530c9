package memory_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/cache/cachetest"
	"deed.example/deed/internal/cache/memory"
)

func TestCounter(t *testing.T) {
	cachetest.Run(t, func(t *testing.T) cachetest.Fixture {
		now := time.Unix(1_800_000_000, 0)
		clock := func() time.Time { return now }
		return cachetest.Fixture{
			Counter: &memory.Cache{Now: clock},
			Now:     clock,
			Next:    func(w time.Duration) { now = now.Add(w) },
		}
	})
}

func BenchmarkCount(b *testing.B) {
	c := &memory.Cache{Now: time.Now}
	for b.Loop() {
		if _, _, err := c.Count(b.Context(), "search:192.0.2.1", time.Minute); err != nil {
			b.Fatal(err)
		}
	}
}
