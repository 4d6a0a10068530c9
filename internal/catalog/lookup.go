package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A Checker says whether a name can be bought. Every registrar.Registrar is one.
type Checker interface {
	Available(ctx context.Context, name deed.Name) (registrar.Availability, error)
}

// A BulkChecker is a Checker that can be asked about many names at once, which
// a search of the whole catalogue is glad of. A name that its answer leaves out
// is one it did not speak of; an error means that it spoke of none.
type BulkChecker interface {
	Checker
	AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error)
}

// bulkSize is how many names a BulkChecker is asked about at once.
const bulkSize = 100

// ask returns what is known of the names, at the latest when the patience of a
// search is over.
func (s *Searcher) lookup(ctx context.Context, names []deed.Name) map[deed.Name]registrar.Availability {
	said, open := s.recent.find(names, s.Now(), s.CacheTTL)
	if len(open) == 0 {
		return said
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	size := 1
	if _, ok := s.Registrar.(BulkChecker); ok {
		size = bulkSize
	}
	waiting := make(chan []deed.Name, len(open))
	for names := range slices.Chunk(open, size) {
		waiting <- names
	}
	close(waiting)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards said
	for range min(s.MaxParallel, len(waiting)) {
		wg.Go(func() {
			for names := range waiting {
				answers := s.share(ctx, names)
				mu.Lock()
				maps.Copy(said, answers)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return said
}

// share puts a question, or joins whoever is putting it already. It returns
// nothing when ctx is done first.
func (s *Searcher) share(ctx context.Context, names []deed.Name) map[deed.Name]registrar.Availability {
	if ctx.Err() != nil {
		return nil
	}
	answer := s.inflight.DoChan(fmt.Sprint(names), func() (any, error) {
		return s.query(context.WithoutCancel(ctx), names), nil
	})
	select {
	case a := <-answer:
		return a.Val.(map[deed.Name]registrar.Availability)
	case <-ctx.Done():
		return nil
	}
}

// question asks the registrar, as soon as it may, and remembers what it says. An
// answer is as old as its question: the name may have been sold in between.
func (s *Searcher) query(ctx context.Context, names []deed.Name) map[deed.Name]registrar.Availability {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	select {
	case s.Slots <- struct{}{}:
		defer func() { <-s.Slots }()
	case <-ctx.Done():
		s.OnError(ctx.Err())
		return nil
	}
	if said, open := s.recent.find(names, s.Now(), s.CacheTTL); len(open) == 0 {
		return said // the same question ended just before this one began
	}
	asked := s.Now()
	said, err := s.available(ctx, names)
	if err != nil {
		s.OnError(err)
		return nil
	}
	s.recent.add(said, asked, s.CacheTTL)
	return said
}

func (s *Searcher) available(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	if bulk, ok := s.Registrar.(BulkChecker); ok {
		return bulk.AvailableAll(ctx, names)
	}
	a, err := s.Registrar.Available(ctx, names[0])
	return map[deed.Name]registrar.Availability{names[0]: a}, err
}
