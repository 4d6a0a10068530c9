package epp

import "slices"

// A priority decides who gets a session first when all are in use.
type priority int

const (
	normal priority = iota // orders, changes, and what they need to know
	lookup                 // whether names are available: anybody may ask that, at any rate
)

// maxPassed is how many others may pass the lookups that wait, before one of these gets
// a session.
const maxPassed = 4

// A waiter waits for a session.
type waiter struct {
	priority priority
	wake     chan struct{} // gets a value when the waiter may be next; its capacity is 1
}

// Waiters are the callers that wait for a session. Others pass lookups, and in each
// priority the first to come is the first to be served. The mutex of the pool guards it.
type waiters struct {
	waiting [2][]*waiter // by priority, the longest waiting first
	lookups int          // that use a session or connect
	passed  int          // how many have passed the lookups since the last of these
}

// add adds a waiter at the end, or before all others of its priority.
func (q *waiters) add(w *waiter, first bool) {
	at := len(q.waiting[w.priority])
	if first {
		at = 0
	}
	q.waiting[w.priority] = slices.Insert(q.waiting[w.priority], at, w)
}

// remove removes a waiter, if it is there.
func (q *waiters) remove(w *waiter) {
	q.waiting[w.priority] = slices.DeleteFunc(q.waiting[w.priority], func(other *waiter) bool { return other == w })
}

// next returns the waiter that gets the next session of so many, nil for none. Of
// several sessions, lookups leave one to the others.
func (q *waiters) next(sessions int) *waiter {
	others, lookups := q.waiting[normal], q.waiting[lookup]
	if q.lookups >= max(sessions-1, 1) {
		lookups = nil
	}
	switch {
	case len(lookups) > 0 && (len(others) == 0 || q.passed >= maxPassed):
		return lookups[0]
	case len(others) > 0:
		return others[0]
	}
	return nil
}

// serve removes the waiter, who gets a session.
func (q *waiters) serve(w *waiter) {
	q.remove(w)
	switch {
	case w.priority == lookup:
		q.lookups++
		q.passed = 0
	case len(q.waiting[lookup]) > 0:
		q.passed++
	}
}

// end says that a session of this priority is no longer used.
func (q *waiters) end(p priority) {
	if p == lookup {
		q.lookups--
	}
}
