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
