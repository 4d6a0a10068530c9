package health_test

import (
	"context"
	"errors"
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
		{"all there", up, up, health.OK},
		{"no cache in this deployment", up, nil, health.OK},
		{"cache down", up, down, health.Degraded},
		{"database down", down, up, health.Down},
		{"both down", down, down, health.Down},
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

// A part that runs low is there, and the service is degraded, essential or not.
func TestPartThatRunsLow(t *testing.T) {
	for _, essential := range []bool{false, true} {
		low := health.Check{Name: "chain", Essential: essential, Ping: up, Warning: func() error { return errors.New("no gas tomorrow") }}
		s := &health.Service{Now: time.Now, Checks: []health.Check{low, {Name: "cache", Ping: up}}}
		if got := s.Report(t.Context()); got.Status != health.Degraded || got.Parts["chain"].Status != health.OK {
			t.Errorf("got %+v", got)
		}
	}
}

// However many ask, and even when they leave, the parts are asked once a second.
func TestReportIsNoWeapon(t *testing.T) {
	var asked atomic.Int64
	var mu sync.Mutex
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	s := &health.Service{Now: clock, Checks: []health.Check{{Name: "database", Essential: true, Ping: func(ctx context.Context) error {
		asked.Add(1)
		if errors.Is(ctx.Err(), context.Canceled) { // by the caller who left
			return ctx.Err()
		}
		return nil
	}}}}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for second := range 3 {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r := s.Report(gone); r.Status != health.OK {
					t.Errorf("got %+v", r)
				}
			})
		}
		wg.Wait()
		if got := asked.Load(); got != int64(second+1) {
			t.Errorf("second %d: asked %d times", second, got)
		}
		mu.Lock()
		now = now.Add(time.Second)
		mu.Unlock()
	}
}

// A part that hangs is down, and does not hold the report up for ever.
func TestPartThatHangsIsDown(t *testing.T) {
	s := &health.Service{Now: time.Now, Checks: []health.Check{{Name: "database", Essential: true, Ping: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}}}
	if got := s.Report(t.Context()); got.Status != health.Down {
		t.Errorf("got %+v", got)
	}
}
