package app

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	gcInterval      = time.Second
	normalGCPercent = 100       // percent of the live memory that may be garbage
	maxGarbage      = 128 << 20 // bytes that a busy node may have more than its live memory
)

// A gcPacer lets a busy node collect garbage about once a second, instead of each
// time its memory has doubled: with little live memory that is many times a second, and
// took a fifth of the processor time of paid changes. A node with nothing to do, or with
// much live memory, collects as usual. GOGC in the environment turns it off, and the
// runtime observes GOMEMLIMIT in any case.
type gcPacer struct {
	samples   []metrics.Sample
	allocated uint64 // until the last adjustment
	percent   int
}

func newGCPacer() *gcPacer {
	return &gcPacer{samples: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}}, percent: normalGCPercent}
}

// adjust sets the percentage for what was allocated since it was called last.
func (p *gcPacer) adjust(context.Context) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	metrics.Read(p.samples)
	allocated, live := p.samples[0].Value.Uint64(), p.samples[1].Value.Uint64()
	percent := garbagePercent(allocated-p.allocated, live)
	if percent != p.percent {
		debug.SetGCPercent(percent)
	}
	p.allocated, p.percent = allocated, percent
	return nil
}

// garbagePercent returns how much garbage may be there, as a percentage of the live
// memory, for as much as is allocated in a second.
func garbagePercent(allocated, live uint64) int {
	return max(normalGCPercent, int(min(allocated, maxGarbage)*100/max(live, 1<<20)))
}
