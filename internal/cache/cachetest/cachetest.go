// Package cachetest is the conformance suite of deed.Counter: in memory, in Redis,
// and in the database.
package cachetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
)

// A Fixture is a fresh counter and a function that advances its clock to the next
// window. If the clock cannot be set, Next waits.
type Fixture struct {
	Counter deed.Counter
	Now     func() time.Time // the counter's own clock
	Next    func(window time.Duration)
}

// window is short, because tests with a real clock have to wait for it.
const window = 2 * time.Second

// Run runs the suite. open returns a fresh fixture for each case.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	for name, run := range map[string]func(*testing.T, Fixture){
		"counts each key separately": eachKey,
		"windows are aligned":        aligned,
		"a new window starts at one": newWindow,
		"peeking does not count":     peeking,
		"exact under concurrency":    raced,
	} {
		t.Run(name, func(t *testing.T) { run(t, open(t)) })
	}
}

func eachKey(t *testing.T, f Fixture) {
	for i := range 3 {
		for _, key := range []string{"a", "b"} {
			if n, _ := f.count(t, key, 24*time.Hour); n != i+1 {
				t.Errorf("%s: got %d, want %d", key, n, i+1)
			}
		}
	}
}

func aligned(t *testing.T, f Fixture) {
	for _, w := range []time.Duration{window, time.Minute, time.Hour, 24 * time.Hour} {
		before := f.Now()
		_, reset := f.count(t, "a", w)
		// The clock may cross into the next window between the two readings.
		if reset.Before(deed.WindowEnd(before, w)) || reset.After(deed.WindowEnd(f.Now(), w)) {
			t.Errorf("%s: at %s the window ends at %s", w, before, reset)
		}
		if s := int64(w / time.Second); reset.Unix()%s != 0 || reset.Nanosecond() != 0 {
			t.Errorf("%s: %s is not aligned to the window", w, reset)
		}
	}
}

func newWindow(t *testing.T, f Fixture) {
	f.Next(window)
	key, first, second, reset := f.twice(t)
	f.Next(window)
	third, next := f.count(t, key, window)
	if first != 1 || second != 2 || third != 1 || next.Before(reset.Add(window)) {
		t.Errorf("got %d, %d until %s, then %d until %s", first, second, reset, third, next)
	}
}

// twice counts a new key two times in one window, and returns it. On a busy machine a
// real clock may enter the next window in between; then another key is tried.
func (f Fixture) twice(t *testing.T) (key string, first, second int, reset time.Time) {
	t.Helper()
	for try := range 10 {
		key = fmt.Sprint("a", try)
		var same time.Time
		first, reset = f.count(t, key, window)
		second, same = f.count(t, key, window)
		if same.Equal(reset) {
			return key, first, second, reset
		}
	}
	t.Fatal("no two counts were in one window")
	return key, first, second, reset
}

func peeking(t *testing.T, f Fixture) {
	for want := range 3 {
		for range 2 {
			n, reset, err := f.Counter.Peek(t.Context(), "a", 24*time.Hour)
			if err != nil || n != want || reset.Before(f.Now()) {
				t.Errorf("got %d until %s, %v, want %d", n, reset, err, want)
			}
		}
		f.count(t, "a", 24*time.Hour)
	}
	f.Next(window)
	if n, _, err := f.Counter.Peek(t.Context(), "b", window); err != nil || n != 0 {
		t.Errorf("a key that was never counted: got %d, %v", n, err)
	}
}

func raced(t *testing.T, f Fixture) {
	const callers, calls = 16, 20
	var wg sync.WaitGroup
	counts := make([][]int, callers)
	for i := range counts {
		wg.Go(func() {
			for range calls {
				n, _ := f.count(t, "a", 24*time.Hour)
				counts[i] = append(counts[i], n)
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(counts...)))
	for i, n := range all {
		if n != i+1 {
			t.Fatalf("the counts are not 1 to %d: %s", callers*calls, fmt.Sprint(all))
		}
	}
}

func (f Fixture) count(t *testing.T, key string, w time.Duration) (int, time.Time) {
	t.Helper()
	n, reset, err := f.Counter.Count(t.Context(), key, w)
	if err != nil {
		t.Error(err) // not Fatal: called from other goroutines
	}
	return n, reset
}
