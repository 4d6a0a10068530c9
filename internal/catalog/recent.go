package catalog

import (
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// maxRecent bounds each of the two generations.
const maxRecent = 1 << 15

// recent remembers for a few seconds what a registrar said.
//
// Answers are kept in two generations. When the younger one is as old as an
// answer may be, or full, it takes the place of the older one, which is dropped
// whole: nothing is ever swept, and no timer runs.
type recent struct {
	mu    sync.Mutex // guards all below
	young map[deed.Name]answer
	old   map[deed.Name]answer
	began time.Time // the younger generation
}

// An answer is what the registrar said, and when it was asked.
type answer struct {
	registrar.Availability
	asked time.Time
}

// find returns what is known of the names and not older than keep, and the names
// that nothing is known of.
func (r *recent) find(names []deed.Name, now time.Time, keep time.Duration) (said map[deed.Name]registrar.Availability, open []deed.Name) {
	said = make(map[deed.Name]registrar.Availability, len(names))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		a, ok := r.young[name]
		if !ok {
			a, ok = r.old[name]
		}
		if age := now.Sub(a.asked); ok && age >= 0 && age < keep {
			said[name] = a.Availability
			continue
		}
		open = append(open, name)
	}
	return said, open
}

// add remembers what was said when the registrar was asked.
func (r *recent) add(said map[deed.Name]registrar.Availability, asked time.Time, keep time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, a := range said {
		if r.young == nil || asked.Sub(r.began) >= keep || len(r.young) >= maxRecent {
			r.old, r.young, r.began = r.young, map[deed.Name]answer{}, asked
		}
		r.young[name] = answer{a, asked}
	}
}
