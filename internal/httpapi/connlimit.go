package httpapi

import (
	"cmp"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxAllConns is the maximum number of open connections of all clients, where the limit of
// open files of the process allows it: half of the files are left for the database, the
// chain and the name server.
const maxAllConns = 16384

// conns are the open connections. When there are as many as the limit, those that have
// waited longest for a request are closed, so that nobody keeps others out by holding
// connections open.
type conns struct {
	limit int

	mu   sync.Mutex
	open map[*conn]struct{} // guarded by mu
}

// add adds a connection, and reports false when all others are in use.
func (c *conns) add(n *conn) bool {
	closed, ok := c.exchange(n)
	for _, idle := range closed {
		_ = idle.Close() // nothing is being sent on it
	}
	return ok
}

func (c *conns) exchange(n *conn) (closed []*conn, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.limit {
		if closed = c.longestIdle(); len(closed) == 0 {
			return nil, false
		}
		for _, idle := range closed {
			delete(c.open, idle)
		}
	}
	if c.open == nil {
		c.open = map[*conn]struct{}{}
	}
	c.open[n] = struct{}{}
	return closed, true
}

// longestIdle returns the connections that have waited longest: several, since it looks at
// all of them.
func (c *conns) longestIdle() (idle []*conn) {
	since := map[*conn]int64{}
	for n := range c.open {
		if at := n.idleSince.Load(); at > 0 {
			idle, since[n] = append(idle, n), at
		}
	}
	slices.SortFunc(idle, func(a, b *conn) int { return cmp.Compare(since[a], since[b]) })
	return idle[:min(len(idle), max(1, c.limit/16))]
}

func (c *conns) remove(n *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, n)
}

// connState is the ConnState of the http.Server: it stores since when a connection has
// waited for a request.
func connState(c net.Conn, state http.ConnState) {
	n, ok := c.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateNew, http.StateIdle:
		n.idleSince.Store(time.Now().UnixNano())
	default:
		n.idleSince.Store(0)
	}
}
