package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deed.example/deed/internal/logcause"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/worker"
)

// run runs a loop for a while of the test's own time, and returns its log.
func run(t *testing.T, l *worker.Loop, d time.Duration) string {
	t.Helper()
	var logged bytes.Buffer
	l.Log = slog.New(logcause.New(slog.NewTextHandler(&logged, nil), time.Now)) // as the service does
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	time.Sleep(d) // of the bubble
	cancel()
	<-done
	return logged.String()
}

// Rows of one kind that never come to an end do not delay those of another.
func TestKindsDoNotDelayEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var advanced atomic.Int64
		l := &worker.Loop{Rows: []worker.Rows{
			{Name: "stuck", Due: due("a", "b", "c"), Advance: func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }, Slots: 1},
			{Name: "others", Due: due("d"), Advance: func(context.Context, string) error { advanced.Add(1); return nil }},
		}}
		run(t, l, 10*time.Second)
		if n := advanced.Load(); n < 15 {
			t.Errorf("advanced %d times in ten seconds", n)
		}
	})
}

// Rows are not limited by how often they are polled: while there are more, they are read
// at once, each once, and rows that stay due are not read in haste.
func TestManyRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		left, polls := make([]string, 1000), 0
		for i := range left {
			left[i] = fmt.Sprint(i)
		}
		advanced := map[string]int{}
		many := worker.Rows{Name: "many", Due: func(_ context.Context, limit int) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(left[:min(limit, len(left))]), nil
		}, Advance: func(_ context.Context, id string) error {
			mu.Lock()
			defer mu.Unlock()
			advanced[id]++
			left = slices.DeleteFunc(left, func(other string) bool { return other == id })
			return nil
		}}
		stay := make([]string, 100)
		for i := range stay {
			stay[i] = fmt.Sprint("stays ", i)
		}
		stuck := worker.Rows{Name: "stuck", Due: func(_ context.Context, limit int) ([]string, error) {
			polls++
			return slices.Clone(stay[:limit]), nil
		}, Advance: func(context.Context, string) error { return nil }}
		run(t, &worker.Loop{Rows: []worker.Rows{many, stuck}}, 400*time.Millisecond) // before the second poll
		if len(advanced) != 1000 || slices.Max(slices.Collect(maps.Values(advanced))) != 1 {
			t.Errorf("advanced %d rows", len(advanced))
		}
		if polls > 2 {
			t.Errorf("rows that stay due were read %d times", polls)
		}
	})
}

func due(ids ...string) func(context.Context, int) ([]string, error) {
	return func(_ context.Context, limit int) ([]string, error) {
		return slices.Clone(ids[:min(limit, len(ids))]), nil
	}
}

// As many rows are advanced at the same time as there are slots, and no more.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		l := &worker.Loop{Rows: []worker.Rows{{Name: "rows", Due: due("a", "b", "c", "d", "e", "f"), Slots: 2, Advance: func(context.Context, string) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}}}}
		run(t, l, 5*time.Second)
		if most != 2 {
			t.Errorf("%d at the same time", most)
		}
	})
}

// Why something waits is logged once a minute for each cause and kind of rows, and
// counted each time.
func TestCausesAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted atomic.Int64
		waits := func(_ context.Context, id string) error {
			return order.Pending(errors.New("no answer about 0xabcdef to " + strings.Repeat(id, 20)))
		}
		l := &worker.Loop{
			Rows:    []worker.Rows{{Name: "payments", Due: due("a", "b"), Advance: waits}, {Name: "jobs", Due: due("a", "b"), Advance: waits}},
			Waiting: func(string, string) { counted.Add(1) },
		}
		logged := run(t, l, 150*time.Second)
		for _, rows := range []string{"payments", "jobs"} {
			if n := strings.Count(logged, "msg=waiting rows="+rows); n != 3 {
				t.Errorf("%s: logged %d times in two and a half minutes: %s", rows, n, logged)
			}
		}
		for line := range strings.Lines(logged) {
			if strings.Count(line, "times=") > 1 {
				t.Errorf("counted twice in one line: %s", line)
			}
		}
		if counted.Load() < 800 {
			t.Errorf("counted %d", counted.Load())
		}
	})
}

// A row, a query or a task that panics ends neither the process nor anything else. It is
// logged once a minute, with where it happened, and counted each time.
func TestPanicsStopNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var advanced, failed atomic.Int64
		poison := func(_ context.Context, id string) error {
			if id == "poison" {
				panic("no such field in row 7")
			}
			advanced.Add(1)
			return nil
		}
		l := &worker.Loop{
			Rows: []worker.Rows{
				{Name: "rows", Due: due("a", "poison", "b"), Advance: poison, Slots: 1},
				{Name: "queries", Due: func(context.Context, int) ([]string, error) { panic("no such table") }},
			},
			Tasks:  []worker.Task{{Name: "task", Interval: time.Second, Run: func(context.Context) error { panic("no such task") }}},
			Failed: func(string) { failed.Add(1) },
		}
		logged := run(t, l, 9*time.Second+time.Millisecond)
		if advanced.Load() < 36 || failed.Load() < 19+19+10 {
			t.Errorf("advanced %d rows, %d failed", advanced.Load(), failed.Load())
		}
		for _, what := range []string{"panic: no such field in row 7", "panic: no such table", "panic: no such task"} {
			if strings.Count(logged, what) != 1 || !strings.Contains(logged, "worker_test.go:") {
				t.Errorf("%s: got %s", what, logged)
			}
		}
	})
}

// A task runs at its interval, and one that fails runs again.
func TestTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran, failed atomic.Int64
		l := &worker.Loop{
			Tasks:  []worker.Task{{Name: "task", Interval: time.Second, Run: func(context.Context) error { ran.Add(1); return errors.New("broken") }}},
			Failed: func(string) { failed.Add(1) },
		}
		logged := run(t, l, 4500*time.Millisecond)
		if ran.Load() != 5 || failed.Load() != 5 || strings.Count(logged, "broken") != 1 {
			t.Errorf("ran %d times, failed %d times: %s", ran.Load(), failed.Load(), logged)
		}
	})
}
