package registration_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
)

// limitedRegistry counts lookups, and refuses more than its limit in any second, as a
// registry with a rate limit does.
type limitedRegistry struct {
	registrar.Manager
	now     func() time.Time
	limit   int
	times   []time.Time
	refused int
	lookups map[deed.Name]int
}

func (r *limitedRegistry) Holding(_ context.Context, name deed.Name) (lifecycle.Holding, error) {
	now := r.now()
	if n := len(r.times); n >= r.limit && now.Sub(r.times[n-r.limit]) < time.Second {
		r.refused++
	}
	r.times = append(r.times, now)
	r.lookups[name]++
	return lifecycle.Holding{Name: name, Created: start, Expires: start.AddDate(1, 0, 0), Phase: lifecycle.PhaseActive}, nil
}

var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// nameRows are registrations that are due at a time.
type nameRows struct {
	registration.LifecycleStore
	now  func() time.Time
	next map[string][]time.Time // by backend, of the names in their order
}

func nameOf(backend string, i int) deed.Name { return deed.Name(fmt.Sprintf("%s-%d.com", backend, i)) }

func (s nameRows) DueNames(_ context.Context, backend string, limit int) (due []string, err error) {
	for i, at := range s.next[backend] {
		if len(due) < limit && !at.After(s.now()) {
			due = append(due, string(nameOf(backend, i)))
		}
	}
	return due, nil
}

func (s nameRows) Registration(_ context.Context, name deed.Name) (lifecycle.Registration, error) {
	return lifecycle.Registration{Name: name, Status: lifecycle.StatusActive, Created: start, Expires: start.AddDate(1, 0, 0)}, nil
}

func (s nameRows) UpdateRegistration(_ context.Context, was, _ lifecycle.Registration, _ []lifecycle.Event, next time.Time) (bool, error) {
	for backend, rows := range s.next {
		for i := range rows {
			if nameOf(backend, i) == was.Name {
				rows[i] = next
			}
		}
	}
	return true, nil
}

// slowRegistry does not answer.
type slowRegistry struct{ registrar.Manager }

func (slowRegistry) Holding(ctx context.Context, _ deed.Name) (lifecycle.Holding, error) {
	<-ctx.Done()
	return lifecycle.Holding{}, ctx.Err()
}

// A name whose registry is too slow is tried again later, and not at once; when the node
// stops, nothing is known of the registry.
func TestSlowRegistryIsAskedLater(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	clock := func() time.Time { return start }
	for ctx, later := range map[context.Context]bool{late: true, stopped: false} {
		rows := nameRows{now: clock, next: map[string][]time.Time{"slow": {start}}}
		life := &registration.Lifecycle{Names: rows, Manager: slowRegistry{}, Grace: func(deed.TLD) int { return 30 }, Now: clock, Log: slog.New(slog.DiscardHandler)}
		if err := life.Advance(ctx, string(nameOf("slow", 0))); (err == nil) != later {
			t.Errorf("got %v", err)
		}
		if next := rows.next["slow"][0]; next.After(start) != later {
			t.Errorf("it is due at %s, want later: %t", next, later)
		}
	}
}

// However many names are due at once, a registry is asked as often as it allows and no
// more, each name once; a restart begins nothing anew, and another registry does not
// wait.
func TestComparisonOfManyNamesIsPaced(t *testing.T) {
	const names, limit = 700, 20
	now := start.AddDate(0, 1, 0)
	clock := func() time.Time { return now }
	rows := nameRows{now: clock, next: map[string][]time.Time{"slow": make([]time.Time, names), "quick": make([]time.Time, 100)}}
	registry := &limitedRegistry{now: clock, limit: limit, lookups: map[deed.Name]int{}}
	backends := []registrar.Backend{{Name: "slow", LookupsPerSecond: limit}, {Name: "quick"}}
	open := func() *registration.Lifecycle {
		return &registration.Lifecycle{
			Names: rows, Manager: registry, Pace: registrar.NewPace(backends, clock), Grace: func(deed.TLD) int { return 30 }, Now: clock, Log: slog.New(slog.DiscardHandler),
		}
	}
	life := open()
	polls := 0
	for ; len(registry.lookups) < names+100; polls++ {
		if polls > 10_000 {
			t.Fatalf("%d names were looked up", len(registry.lookups))
		}
		due, err := life.Due(t.Context(), 64)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range due {
			if name[:5] == "quick" { // it has no limit, and is done with the first polls
				registry.lookups[deed.Name(name)]++
				rows.UpdateRegistration(t.Context(), lifecycle.Registration{Name: deed.Name(name)}, lifecycle.Registration{}, nil, now.Add(time.Hour))
				continue
			}
			if err := life.Advance(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if now = now.Add(500 * time.Millisecond); polls == 20 {
			life = open() // the process has died
			now = now.Add(2 * time.Second)
		}
	}
	if registry.refused > limit { // a process that starts may ask for a second at once
		t.Errorf("%d of %d lookups were faster than the limit", registry.refused, len(registry.times))
	}
	for name, n := range registry.lookups {
		if n != 1 {
			t.Errorf("%s was looked up %d times", name, n)
		}
	}
	if seconds := polls / 2; seconds > names/limit+5 {
		t.Errorf("it took %d seconds, which is slower than the limit allows", seconds)
	}
}
