package health_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed/internal/health"
)

func up(context.Context) error   { return nil }
func down(context.Context) error { return errors.New("connection refused") }

func TestReport(t *testing.T) {
	tests := []struct {
		name            string
		database, cache func(context.Context) error
		want            health.Status
	}{
		{"all up", up, up, health.OK},
		{"no cache in this deployment", up, nil, health.OK},
		{"cache down", up, down, health.Degraded},
		{"database down", down, up, health.Down},
		{"both down", down, down, health.Down},
		{"another cache", up, func(context.Context) error { return health.Fatal(errors.New("not ours")) }, health.Down},
	}
	for _, tt := range tests {
		s := &health.Service{Now: time.Now, Checks: []health.Check{
			{Name: "cache", Ping: tt.cache},
			{Name: "database", Essential: true, Ping: tt.database},
			{Name: "mirror", Ping: tt.cache},
		}}
		if got := s.Report(t.Context()); got.Status != tt.want || len(got.Parts) != 3 {
			t.Errorf("%s: got %+v, want %s", tt.name, got, tt.want)
		}
	}
}

// A dependency with a warning is OK and degrades the service, essential or not.
func TestWarningDegrades(t *testing.T) {
	for _, essential := range []bool{false, true} {
		low := health.Check{Name: "chain", Essential: essential, Ping: up, Warning: func() error { return errors.New("low on gas") }}
		s := &health.Service{Now: time.Now, Checks: []health.Check{low, {Name: "cache", Ping: up}}}
		if got := s.Report(t.Context()); got.Status != health.Degraded || got.Parts["chain"].Status != health.OK {
			t.Errorf("got %+v", got)
		}
	}
}

// However many callers there are, even cancelled ones, checks run once a second.
func TestReportIsCached(t *testing.T) {
	var checks atomic.Int64
	var mu sync.Mutex
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	s := &health.Service{Now: clock, Checks: []health.Check{{Name: "database", Essential: true, Ping: func(ctx context.Context) error {
		checks.Add(1)
		if errors.Is(ctx.Err(), context.Canceled) { // by the disconnected caller
			return ctx.Err()
		}
		return nil
	}}}}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for second := range 3 {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r := s.Report(cancelled); r.Status != health.OK {
					t.Errorf("got %+v", r)
				}
			})
		}
		wg.Wait()
		if got := checks.Load(); got != int64(second+1) {
			t.Errorf("second %d: checked %d times", second, got)
		}
		mu.Lock()
		now = now.Add(time.Second)
		mu.Unlock()
	}
}

// Failures are reported, and the first success after them.
func TestOnResult(t *testing.T) {
	var got []string
	now, err := time.Unix(1_800_000_000, 0), error(nil)
	s := &health.Service{Now: func() time.Time { return now }, OnResult: func(name string, r health.Result) { got = append(got, name+" "+string(r.Status)) },
		Checks: []health.Check{{Name: "database", Ping: func(context.Context) error { return err }}, {Name: "cache", Ping: up}}}
	for _, err = range []error{nil, errors.New("full"), errors.New("full"), nil, nil} {
		s.Report(t.Context())
		now = now.Add(time.Minute)
	}
	if want := []string{"database down", "database down", "database ok"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A dependency that hangs is down, and does not block the report.
func TestHangingCheckIsDown(t *testing.T) {
	s := &health.Service{Now: time.Now, Checks: []health.Check{{Name: "database", Essential: true, Ping: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}}}
	if got := s.Report(t.Context()); got.Status != health.Down {
		t.Errorf("got %+v", got)
	}
}
