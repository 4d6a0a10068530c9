package catalog

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// One search has so many questions open and no more, and all searches together
// likewise.
func TestQuestionsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct{ searches, atOnce, slots, want int }{
		"one search":    {1, 16, 64, 16},
		"many searches": {8, 16, 24, 24},
	} {
		t.Run(name, func(t *testing.T) {
			r := &registry{gate: make(chan struct{}), began: make(chan deed.Name, 10_000)}
			s := searcher(t, r)
			s.MaxParallel, s.Slots = tt.atOnce, make(chan struct{}, tt.slots)
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
			if asked := tt.searches * len(s.Prices.Listings()); int(r.most.Load()) != tt.want || int(r.asked.Load()) != asked {
				t.Errorf("got %d questions, %d at once, want %d and %d", r.asked.Load(), r.most.Load(), asked, tt.want)
			}
			if len(s.Slots) != 0 {
				t.Errorf("%d slots are still taken", len(s.Slots))
			}
		})
	}
}

// Searches for the same share their questions, and a caller who leaves takes
// nothing away from the others.
func TestEqualQuestionsAreOne(t *testing.T) {
	r := &registry{gate: make(chan struct{}), began: make(chan deed.Name, 100)}
	s := searcher(t, r)
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan string)
	go func() {
		results, _ := s.Check(ctx, []deed.Name{"example.com"}) // it fails, because nothing is known
		first <- inWords(results)
	}()
	<-r.began
	leave()
	if got := <-first; got != "unknown" {
		t.Errorf("who left: got %s", got)
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
	if n := r.asked.Load(); n != 1 {
		t.Errorf("got %d questions, want 1", n)
	}
}

// A registrar that says nothing, and one that does not even hear that we gave
// up, leave names unknown; when it speaks again, so do we.
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
	if got := s.find(t, "example", "com"); got != "unknown" || r.asked.Load() != 0 {
		t.Errorf("got %s after %d questions", got, r.asked.Load())
	}
}

// bulk is a registrar that can be asked about many names at once.
type bulk struct {
	registry
	questions [][]deed.Name
}

func (b *bulk) AvailableAll(_ context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	b.mu.Lock()
	b.questions = append(b.questions, names)
	b.mu.Unlock()
	out := map[deed.Name]registrar.Availability{}
	for _, name := range names {
		if a, err := b.look(name); err == nil {
			out[name] = a
		}
	}
	if len(out) == 0 {
		return nil, errSilent
	}
	return out, nil
}

func TestManyNamesInOneQuestion(t *testing.T) {
	b := &bulk{}
	b.say("example.com", registrar.Availability{Reason: "taken"})
	b.say("example.net", registrar.Availability{Reason: "silent"})
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
	most := 0
	for _, q := range b.questions {
		most = max(most, len(q))
	}
	if len(b.questions) != 2+6 || most != bulkSize || b.asked.Load() != 0 {
		t.Errorf("got %d questions of up to %d names, and %d of one", len(b.questions), most, b.asked.Load())
	}
}
