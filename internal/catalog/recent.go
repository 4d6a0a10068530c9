package catalog

import (
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// maxRecent is the capacity of each of the two generations.
const maxRecent = 1 << 15

// recent caches answers of a registrar for a few seconds.
//
// Answers are stored in two generations. When the younger one reaches the TTL, or is
// full, it replaces the older one, which is dropped as a whole: there is no sweep
// and no timer.
type recent struct {
	mu    sync.Mutex // guards all below
	young map[deed.Name]answer
	old   map[deed.Name]answer
	began time.Time // start of the younger generation
}

// An answer is an answer of the registrar and the time of its query.
type answer struct {
	registrar.Availability
	queried time.Time
}

// find returns the cached answers that are younger than ttl, and the names without
// one.
func (r *recent) find(names []deed.Name, now time.Time, ttl time.Duration) (known map[deed.Name]registrar.Availability, missing []deed.Name) {
	known = make(map[deed.Name]registrar.Availability, len(names))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		a, ok := r.young[name]
		if !ok {
			a, ok = r.old[name]
		}
		if age := now.Sub(a.queried); ok && age >= 0 && age < ttl {
			known[name] = a.Availability
			continue
		}
		missing = append(missing, name)
	}
	return known, missing
}

// add caches the answers of a query made at that time.
func (r *recent) add(answers map[deed.Name]registrar.Availability, queried time.Time, ttl time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, a := range answers {
		if r.young == nil || queried.Sub(r.began) >= ttl || len(r.young) >= maxRecent {
			r.old, r.young, r.began = r.young, map[deed.Name]answer{}, queried
		}
		r.young[name] = answer{a, queried}
	}
}
