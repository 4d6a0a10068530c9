// Package health tells which of the things we stand on are there.
//
// A report is made by asking all of them at once, each for a second at most,
// and is then good for a second: however often health is asked for, the
// database is asked once. The service is down only when it cannot do its job;
// when something it can work without is missing, or runs low, it is degraded.
package health

import (
	"context"
	"sync"
	"time"
)

const (
	checkTimeout = time.Second // for one check
	reportTTL    = time.Second
)

// A Status is the state of the service or of one part.
type Status string

// The statuses. A part is OK, Down, or Off: this deployment does not have it.
const (
	OK       Status = "ok"
	Degraded Status = "degraded"
	Down     Status = "down"
	Off      Status = "off"
)

// A Check asks after one part.
type Check struct {
	Name      string
	Essential bool                            // without it the service is down
	Ping      func(ctx context.Context) error // nil when there is no such part
	Warning   func() error                    // what will be missing soon; may be nil
}

// A Result is what one check found.
type Result struct {
	Status Status
	Took   time.Duration
	Err    error // why it is down, for the log
}

// A Report is what all checks found.
type Report struct {
	Status Status
	At     time.Time
	Parts  map[string]Result
}

// Service makes reports. Fill the exported fields.
type Service struct {
	Checks []Check
	Now    func() time.Time

	mu   sync.Mutex
	last Report // guarded by mu
}

// Report returns a report that is at most a second old. Callers who come while
// one is being made wait for it.
func (s *Service) Report(ctx context.Context) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := s.Now().Sub(s.last.At); s.last.At.IsZero() || age < 0 || age >= reportTTL {
		// The report serves others too: it must not fail because one caller left.
		s.last = s.runChecks(context.WithoutCancel(ctx))
	}
	return s.last
}

func (s *Service) runChecks(ctx context.Context) Report {
	var wg sync.WaitGroup
	results := make([]Result, len(s.Checks))
	for i, c := range s.Checks {
		wg.Go(func() { results[i] = s.runCheck(ctx, c) })
	}
	wg.Wait()
	r := Report{Status: OK, At: s.Now(), Parts: map[string]Result{}}
	for i, c := range s.Checks {
		r.Parts[c.Name] = results[i]
		switch down := results[i].Status == Down; {
		case down && c.Essential:
			r.Status = Down
		case r.Status == OK && (down || c.Warning != nil && c.Warning() != nil):
			r.Status = Degraded
		}
	}
	return r
}

func (s *Service) runCheck(ctx context.Context, c Check) Result {
	if c.Ping == nil {
		return Result{Status: Off}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	began := s.Now()
	err := c.Ping(ctx)
	r := Result{Status: OK, Took: s.Now().Sub(began), Err: err}
	if err != nil {
		r.Status = Down
	}
	return r
}
