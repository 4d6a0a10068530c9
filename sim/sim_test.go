package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSimulation runs many seeds. SIM_SEED=7 runs that one alone, and tells what
// happened in it.
func TestSimulation(t *testing.T) { simulateSeeds(t, run, allEnds, usualSeeds) }

// TestOutsideSimulation runs many seeds with a registry that knows orders by the state
// of their name only.
func TestOutsideSimulation(t *testing.T) { simulateSeeds(t, runOutside, outsideEnds, usualSeeds/2) }

// A runFunc runs a seed, and keeps the trace if it is loud.
type runFunc func(seed uint64, loud bool) (*world, error)

func simulateSeeds(t *testing.T, runner runFunc, ends []string, usual uint64) {
	t.Helper()
	if text := os.Getenv("SIM_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		w, err := runner(seed, true)
		t.Log("\n" + strings.Join(w.trace, "\n"))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		return
	}
	simulate(t, seeds(usual), runner, ends)
}

// allEnds are the ends of payments and of names that a run of many seeds must
// meet.
var allEnds = []string{
	"alias", "adopted and refunded", "registration consumed", "registration refunded", "registration void", "renewal consumed", "renewal refunded",
	"transfer consumed", "transfer refunded", "deleted", "transferred_out", "handed over",
	"adopted and dust", "registration released", "claimed", "put aside", "restored", "recovered",
}

// seeds is how many seeds a test runs: SIM_SEEDS, or the usual number.
func seeds(usual uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SIM_SEEDS"), 10, 64); err == nil {
		return n
	}
	return usual
}

// simulate runs the seeds from 1 on, on all processors, and tells of the first
// that breaks something what happened in it.
func simulate(t *testing.T, n uint64, runner runFunc, wanted []string) {
	t.Helper()
	start := time.Now()
	var next, done atomic.Uint64
	var mu sync.Mutex
	worst, why, ends := uint64(0), error(nil), map[string]int{} // guarded by mu
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1); seed <= n; seed = next.Add(1) {
				mu.Lock()
				stop := worst != 0 && worst < seed
				mu.Unlock()
				if stop {
					return
				}
				w, err := runner(seed, false)
				done.Add(1)
				mu.Lock()
				for end, n := range w.ends {
					ends[end] += n
				}
				if err != nil && (worst == 0 || seed < worst) {
					worst, why = seed, err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds, %.0f a second", done.Load(), float64(done.Load())/time.Since(start).Seconds())
	t.Logf("payments ended: %v", ends)
	if worst == 0 {
		// A world in which some end is never reached would prove nothing of it.
		for _, end := range wanted {
			if ends[end] == 0 && n >= 100 {
				t.Errorf("in %d seeds nothing ended as %s", n, end)
			}
		}
		return
	}
	w, again := runner(worst, true)
	t.Log("\n" + strings.Join(w.trace, "\n"))
	t.Errorf("seed %d: %v", worst, why)
	if again == nil || again.Error() != why.Error() {
		t.Errorf("seed %d ran differently the second time: %v", worst, again)
	}
}

// A seed is one run, whoever runs it.
func TestSeedIsReproducible(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		first, _ := run(seed, true)
		second, _ := run(seed, true)
		if a, b := strings.Join(first.trace, "\n"), strings.Join(second.trace, "\n"); a != b || len(first.trace) < steps/2 {
			t.Errorf("seed %d: got another run of %d and %d lines", seed, len(first.trace), len(second.trace))
		}
	}
}
