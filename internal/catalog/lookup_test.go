package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// The queries of one search, and of all searches together, are limited.
func TestQuestionsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct{ searches, parallel, slots, want int }{
		"one search":    {1, 16, 64, 16},
		"many searches": {8, 16, 24, 24},
	} {
		t.Run(name, func(t *testing.T) {
			r := &registry{gate: make(chan struct{}), began: make(chan deed.Name, 10_000)}
			s := searcher(t, r)
			s.MaxParallel, s.Slots = tt.parallel, make(chan struct{}, tt.slots)
			var wg sync.WaitGroup
			for i := range tt.searches {
				wg.Go(func() {
					results, err := s.Search(t.Context(), "example"+string(rune('a'+i)), s.Prices.Listings())
					if err != nil || strings.Contains(inWords(results), Unknown) {
						t.Errorf("got %v, %v", results, err)
					}
				})
			}
			for range tt.want {
				<-r.began
			}
			close(r.gate)
			wg.Wait()
			if want := tt.searches * len(s.Prices.Listings()); int(r.maxOpen.Load()) != tt.want || int(r.calls.Load()) != want {
				t.Errorf("got %d calls, %d in parallel, want %d and %d", r.calls.Load(), r.maxOpen.Load(), want, tt.want)
			}
			if len(s.Slots) != 0 {
				t.Errorf("%d slots are still taken", len(s.Slots))
			}
		})
	}
}

// Identical concurrent searches share their queries, and cancelling one does not
// affect the others.
func TestIdenticalQueriesAreShared(t *testing.T) {
	r := &registry{gate: make(chan struct{}), began: make(chan deed.Name, 100)}
	s := searcher(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := s.Check(ctx, []deed.Name{"example.com"})
		first <- err
	}()
	<-r.began
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) { // the registrar has not failed
		t.Errorf("the cancelled search: got %v", err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := s.find(t, "example", "com"); got != "13.06" {
				t.Errorf("got %s", got)
			}
		})
	}
	close(r.gate)
	wg.Wait()
	if n := r.calls.Load(); n != 1 {
		t.Errorf("got %d calls, want 1", n)
	}
}

// A registrar that does not answer, or ignores cancellation, leaves names unknown;
// when it answers again, so does the search.
func TestSilentRegistrar(t *testing.T) {
	for name, deaf := range map[string]bool{"silent": false, "deaf": true} {
		t.Run(name, func(t *testing.T) {
			r := &registry{gate: make(chan struct{}), deaf: deaf}
			s := searcher(t, r)
			s.Timeout, s.MaxParallel = time.Millisecond, 2
			if got := s.find(t, "example", "com", "net", "org"); got != "unknown unknown unknown" {
				t.Errorf("got %s", got)
			}
			close(r.gate)
			if got := searcher(t, r).find(t, "example", "com", "net"); got != "13.06 14.74" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// When every slot is taken, a search gives up in time.
func TestNoSlotIsFree(t *testing.T) {
	r := &registry{}
	s := searcher(t, r)
	s.Timeout, s.Slots = time.Millisecond, make(chan struct{})
	if got := s.find(t, "example", "com"); got != "unknown" || r.calls.Load() != 0 {
		t.Errorf("got %s after %d calls", got, r.calls.Load())
	}
}

// bulk is a registrar with bulk queries.
type bulk struct {
	registry
	queries [][]deed.Name
}

func (b *bulk) Batches(names []deed.Name) [][]deed.Name {
	return slices.Collect(slices.Chunk(names, 100))
}

func (b *bulk) AvailableAll(_ context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	b.mu.Lock()
	b.queries = append(b.queries, names)
	b.mu.Unlock()
	out := map[deed.Name]registrar.Availability{}
	for _, name := range names {
		if a, err := b.answer(name); err == nil {
			out[name] = a
		}
	}
	if len(out) == 0 {
		return nil, errSilent
	}
	return out, nil
}

func TestBulkQueries(t *testing.T) {
	b := &bulk{}
	b.set("example.com", registrar.Availability{Reason: "taken"})
	b.set("example.net", registrar.Availability{Reason: "silent"})
	s := searcher(t, b)
	s.MaxParallel = 1
	if got := s.find(t, "example", "com", "net", "dev"); got != "taken unknown 15.14" {
		t.Errorf("got %s", got)
	}
	if got := s.find(t, "example", "net"); got != "unknown" {
		t.Errorf("an error: got %s", got)
	}
	all, err := s.Search(t.Context(), "example", s.Prices.Listings())
	if err != nil || len(all) != len(s.Prices.Listings()) {
		t.Fatalf("got %d results, %v", len(all), err)
	}
	largest := 0
	for _, q := range b.queries {
		largest = max(largest, len(q))
	}
	if len(b.queries) != 1+6 || largest != 100 || b.calls.Load() != 1 {
		t.Errorf("got %d queries of up to %d names, and %d single ones", len(b.queries), largest, b.calls.Load())
	}
}
