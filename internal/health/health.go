// Package health reports which dependencies of the service are available.
//
// A report runs all checks in parallel, each with a timeout of a second, and is
// cached for a second, so that frequent requests do not load the database. The
// service is down only when an essential dependency is; when another one is down, or
// has a warning, it is degraded.
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

// A Status is the status of the service or of one dependency.
type Status string

// The statuses. A dependency is OK, Down, or Off: not part of this deployment.
const (
	OK       Status = "ok"
	Degraded Status = "degraded"
	Down     Status = "down"
	Off      Status = "off"
)

// A Check checks one dependency.
type Check struct {
	Name      string
	Essential bool                            // without it the service is down
	Ping      func(ctx context.Context) error // nil when it is not part of this deployment
	Warning   func() error                    // reports a resource that runs low; may be nil
}

// A Result is the result of one check.
type Result struct {
	Status Status
	Took   time.Duration
	Err    error // why it is down, for the log
}

// A Report is the result of all checks.
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

// Report returns a report that is at most a second old. Concurrent callers share
// one.
func (s *Service) Report(ctx context.Context) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := s.Now().Sub(s.last.At); s.last.At.IsZero() || age < 0 || age >= reportTTL {
		// The report is shared: it must not fail because one caller disconnected.
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
