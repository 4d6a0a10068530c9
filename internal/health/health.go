// Package health reports which dependencies of the service are available.
//
// A report runs all checks in parallel, each with a timeout of a second, and is
// cached for a second, so that frequent requests do not load the database. The
// service is down only when an essential dependency is, or another one in a way that
// makes it useless (see Fatal); otherwise, or with a warning, it is degraded.
package health

import (
	"context"
	"errors"
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

// Fatal returns an error of a dependency that is not essential, with which the service
// is down nevertheless: it responds, and is the wrong one.
func Fatal(err error) error { return fatalError{err} }

type fatalError struct{ error }

func (e fatalError) Unwrap() error { return e.error }

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

	// OnResult is called with every failed check, and with one that succeeds again
	// after it failed. It may be nil.
	OnResult func(name string, r Result)

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
	s.notify(results)
	r := Report{Status: OK, At: s.Now(), Parts: map[string]Result{}}
	for i, c := range s.Checks {
		r.Parts[c.Name] = results[i]
		_, fatal := errors.AsType[fatalError](results[i].Err)
		switch down := results[i].Status == Down; {
		case down && (c.Essential || fatal):
			r.Status = Down
		case r.Status == OK && (down || c.Warning != nil && c.Warning() != nil):
			r.Status = Degraded
		}
	}
	return r
}

// notify calls OnResult for the results that need it. The caller holds mu.
func (s *Service) notify(results []Result) {
	if s.OnResult == nil {
		return
	}
	for i, c := range s.Checks {
		failed := s.last.Parts[c.Name].Err != nil
		if results[i].Err != nil || failed {
			s.OnResult(c.Name, results[i])
		}
	}
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
