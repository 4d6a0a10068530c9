package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/ratelimit"
)

type broken struct{}

func (broken) Count(context.Context, string, time.Duration) (int, time.Time, error) {
	return 0, time.Time{}, errors.New("connection refused")
}

func (b broken) Peek(ctx context.Context, key string, w time.Duration) (int, time.Time, error) {
	return b.Count(ctx, key, w)
}

func limiter(now *time.Time) *ratelimit.Limiter {
	clock := func() time.Time { return *now }
	local := &memory.Cache{Now: clock}
	return &ratelimit.Limiter{Shared: local, Local: local, Durable: local, Now: clock, OnCacheError: func(error) {}}
}

var twice = deed.Limit{Name: "test", Max: 2, Window: time.Minute}

// A caller that waits for the retry delay is allowed, within one window.
func TestRetryDelayIsLongEnough(t *testing.T) {
	for _, offset := range []time.Duration{0, time.Nanosecond, 59 * time.Second, time.Minute - time.Nanosecond, 1500 * time.Millisecond} {
		now := time.Unix(1_800_000_000, 0).Add(offset)
		l := limiter(&now)
		var err error
		for range 3 {
			_, err = l.Spend(t.Context(), twice, "a")
		}
		e, ok := errors.AsType[*deed.Error](err)
		if !ok || e.Code != deed.CodeRateLimited || e.Retry < time.Second || e.Retry > time.Minute || e.Retry%time.Second != 0 {
			t.Fatalf("%s into the window: got %v", offset, err)
		}
		now = now.Add(e.Retry)
		if d, err := l.Spend(t.Context(), twice, "a"); err != nil || d.Remaining != 1 {
			t.Errorf("%s into the window, after %s: got %+v, %v", offset, e.Retry, d, err)
		}
	}
}

func TestLocalCounterWithoutTheCache(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limiter(&now)
	failures := 0
	l.Shared, l.OnCacheError = broken{}, func(error) { failures++ }
	for i, want := range []deed.Code{"", "", deed.CodeRateLimited} {
		d, err := l.Spend(t.Context(), twice, "a")
		if deed.CodeOf(err) != want || d == nil || d.Remaining != max(0, 1-i) {
			t.Errorf("call %d: got %+v, %v, want %q", i+1, d, err, want)
		}
	}
	if failures != 3 {
		t.Errorf("got %d cache errors, want 3", failures)
	}
}

// A durable limit has no fallback counter.
func TestDurableLimitNeedsItsCounter(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limiter(&now)
	l.Durable = broken{}
	daily := deed.DefaultLimits().Register
	if d, err := l.Spend(t.Context(), daily, "a"); d != nil || deed.CodeOf(err) != deed.CodeUnavailable || strings.Contains(err.Error(), "RATE_LIMITED") {
		t.Errorf("got %+v, %v", d, err)
	}
}

// counting is a counter that counts how often it is asked.
type counting struct {
	deed.Counter
	asked int
}

func (c *counting) Count(ctx context.Context, key string, w time.Duration) (int, time.Time, error) {
	c.asked++
	return c.Counter.Count(ctx, key, w)
}

func (c *counting) Peek(ctx context.Context, key string, w time.Duration) (int, time.Time, error) {
	c.asked++
	return c.Counter.Peek(ctx, key, w)
}

// Who goes on calling over a durable limit does not make the database work for each call, and
// is allowed again when the window ends or the counter was reset.
func TestRefusedCallersAreNotCounted(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := limiter(&now)
	durable := &counting{Counter: l.Durable}
	l.Durable = durable
	daily := deed.Limit{Name: "daily", Max: 2, Window: 24 * time.Hour, Durable: true}
	spend := func(caller string, times int, want deed.Code, asked int) {
		t.Helper()
		durable.asked = 0
		for range times {
			d, err := l.Spend(t.Context(), daily, caller)
			if deed.CodeOf(err) != want || d == nil || want != "" && d.Remaining != 0 || !d.Reset.Equal(deed.WindowEnd(now, daily.Window)) {
				t.Fatalf("got %+v, %v, want %q", d, err, want)
			}
		}
		if durable.asked != asked {
			t.Errorf("%s: the counter was asked %d times, want %d", caller, durable.asked, asked)
		}
	}
	spend("a", 2, "", 2)
	spend("a", 100, deed.CodeRateLimited, 1)
	if d, err := l.Peek(t.Context(), daily, "a"); err != nil || d.Remaining != 0 {
		t.Errorf("got %+v, %v", d, err)
	}
	spend("b", 1, "", 1)
	now = now.Add(time.Minute)
	spend("a", 100, deed.CodeRateLimited, 1)
	spend("b", 1, "", 1)
	now = deed.WindowEnd(now, daily.Window).Add(-time.Second)
	spend("a", 100, deed.CodeRateLimited, 1)
	now = now.Add(time.Second)
	spend("a", 2, "", 2)
	spend("a", 1, deed.CodeRateLimited, 1)
	l.Durable = &memory.Cache{Now: func() time.Time { return now }} // it was reset by another process
	now = now.Add(10 * time.Second)
	if _, err := l.Spend(t.Context(), daily, "a"); err != nil {
		t.Error(err)
	}
}
