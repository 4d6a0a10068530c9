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

// A Checker checks whether a name is available. Every registrar.Registrar is one.
type Checker interface {
	Available(ctx context.Context, name deed.Name) (registrar.Availability, error)
}

// A BulkChecker is a Checker that can check many names in one call. A name missing in
// its answer is unknown; an error means that all are.
type BulkChecker interface {
	Checker
	AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error)

	// Batches divides names into those that one call should check.
	Batches(names []deed.Name) [][]deed.Name
}

// lookup returns the availability of the names, as far as it is known within the
// timeout.
func (s *Searcher) lookup(ctx context.Context, names []deed.Name) map[deed.Name]registrar.Availability {
	known, missing := s.recent.find(names, s.Now(), s.CacheTTL)
	if len(missing) == 0 {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	batches := s.batches(missing)
	if len(batches) == 1 {
		maps.Copy(known, s.share(ctx, batches[0]))
		return known
	}
	pending := make(chan []deed.Name, len(batches))
	for _, names := range batches {
		pending <- names
	}
	close(pending)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards known
	for range min(s.MaxParallel, len(batches)) {
		wg.Go(func() {
			for names := range pending {
				answers := s.share(ctx, names)
				mu.Lock()
				maps.Copy(known, answers)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return known
}

// batches divides names into those of one query.
func (s *Searcher) batches(names []deed.Name) [][]deed.Name {
	if bulk, ok := s.Registrar.(BulkChecker); ok {
		return bulk.Batches(names)
	}
	return slices.Collect(slices.Chunk(names, 1))
}

// share runs a query, or joins an identical one in flight. It returns nil when ctx is
// done first.
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

// query queries the registrar as soon as a slot is free, and caches the answers. An
// answer is as old as its query: the name may have been sold in between.
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
	if known, missing := s.recent.find(names, s.Now(), s.CacheTTL); len(missing) == 0 {
		return known // an identical query ended just before this one began
	}
	start := s.Now()
	answers, err := s.available(ctx, names)
	if err != nil {
		s.OnError(err)
		return nil
	}
	s.recent.add(answers, start, s.CacheTTL)
	return answers
}

func (s *Searcher) available(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	if bulk, ok := s.Registrar.(BulkChecker); ok && len(names) > 1 {
		return bulk.AvailableAll(ctx, names)
	}
	a, err := s.Registrar.Available(ctx, names[0])
	return map[deed.Name]registrar.Availability{names[0]: a}, err
}
