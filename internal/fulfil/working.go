package fulfil

import (
	"slices"
	"sync"
)

// A working set has the payments and jobs that requests of this process advance now. The
// worker leaves those to them.
type working struct {
	mu  sync.Mutex
	ids map[string]int // number of requests, by ID; guarded by mu
}

// begin adds an ID until end is called.
func (w *working) begin(id string) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ids == nil {
		w.ids = map[string]int{}
	}
	w.ids[id]++
	return func() { w.end(id) }
}

func (w *working) end(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ids[id]--; w.ids[id] == 0 {
		delete(w.ids, id)
	}
}

// without removes the IDs of the set from a list.
func (w *working) without(list []string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(list, func(id string) bool { return w.ids[id] > 0 })
}
