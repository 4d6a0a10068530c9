package epp

import (
	"strings"
	"testing"
)

// Orders pass lookups that wait, in each priority the first to come is the first to be
// served, and some lookups get their turn among any number of orders.
func TestWhoIsNext(t *testing.T) {
	var q waiters
	names := map[*waiter]string{}
	add := func(p priority, name string) {
		w := &waiter{priority: p}
		names[w] = name
		q.add(w, false)
	}
	for _, name := range []string{"l1", "l2", "l3"} {
		add(lookup, name)
	}
	for _, name := range []string{"o1", "o2", "o3", "o4", "o5", "o6"} {
		add(normal, name)
	}
	var served []string
	for w := q.next(3); w != nil; w = q.next(3) {
		q.serve(w)
		q.end(w.priority)
		served = append(served, names[w])
	}
	if got := strings.Join(served, " "); got != "o1 o2 o3 o4 l1 o5 o6 l2 l3" {
		t.Errorf("got %s", got)
	}
}

// Lookups use all sessions but one, or the only one.
func TestLookupsAtOnce(t *testing.T) {
	for sessions, want := range map[int]int{1: 1, 2: 1, 4: 3} {
		var q waiters
		for range 10 {
			q.add(&waiter{priority: lookup}, false)
		}
		got := 0
		for w := q.next(sessions); w != nil; w = q.next(sessions) {
			q.serve(w)
			got++
		}
		if got != want {
			t.Errorf("%d sessions: got %d lookups at once, want %d", sessions, got, want)
		}
		order := &waiter{priority: normal}
		q.add(order, false)
		if q.next(sessions) != order {
			t.Errorf("%d sessions: an order waits behind lookups", sessions)
		}
	}
}
