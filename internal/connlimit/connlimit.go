// Package connlimit limits the open connections of the clients of an HTTP listener.
//
// One client, which is an IPv4 address or an IPv6 /64, has a limit; its connections above
// the limit are closed. When all clients together have too many, a new connection is still
// accepted, and others are closed for it: those that wait for a request, or any if none
// waits. The network with the most connections loses its own first, so that whoever holds
// many connections open, in use or not, does not keep other networks out.
//
// What is closed is chosen and removed under one lock. ConnState asks under the same lock
// when a request begins: either the connection is in use from then on, or it was removed
// before and the request is not handled.
//
// The servers of DNS choose otherwise, and do it themselves. A query takes no time, so
// package nameserver closes the connection that has waited longest for one. Package primary
// knows who may ask, and closes the oldest connection on which nobody has proved to be a
// secondary.
package connlimit

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits are the maximum numbers of open connections.
type Limits struct {
	Client int // of one client
	All    int // of all clients
}

// Listen returns a listener that applies the limits to l. Connections from trusted
// addresses are not limited, nor counted. Use ConnState for the http.Server.
func Listen(l net.Listener, limits Limits, trusted []netip.Prefix) net.Listener {
	return listen(l, limits, trusted, time.Now)
}

func listen(l net.Listener, limits Limits, trusted []netip.Prefix, now func() time.Time) *listener {
	return &listener{Listener: l, limits: limits, trusted: trusted, now: now, open: map[*conn]struct{}{}, clients: map[netip.Prefix]int{}}
}

type listener struct {
	net.Listener
	limits  Limits
	trusted []netip.Prefix
	now     func() time.Time

	mu      sync.Mutex
	open    map[*conn]struct{}   // guarded by mu
	clients map[netip.Prefix]int // guarded by mu: connections of each client
}

// Accept implements net.Listener. A connection above the limit of its client is closed.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := Accept(l.Listener)
		if err != nil {
			return nil, err
		}
		peer, _ := netip.ParseAddrPort(c.RemoteAddr().String()) // all zero addresses count as one client
		addr := peer.Addr().Unmap().WithZone("")
		if slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return c, nil
		}
		n := &conn{Conn: c, listener: l, client: prefix(addr, 32, 64), network: prefix(addr, 24, 48)}
		closed, ok := l.add(n)
		for _, other := range closed {
			_ = other.Conn.Close() // its client has to connect again
		}
		if ok {
			return n, nil
		}
		_ = c.Close() // it was never used
	}
}

// prefix returns the network of the address, with as many bits as its version of IP has.
func prefix(addr netip.Addr, bits4, bits6 int) netip.Prefix {
	bits := bits6
	if addr.Is4() {
		bits = bits4
	}
	p, _ := addr.Prefix(bits) // they always fit
	return p
}

// add adds a connection, unless its client has too many. It returns those that are
// removed for it; the caller closes them.
func (l *listener) add(c *conn) (closed []*conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[c.client] >= l.limits.Client {
		return nil, false
	}
	c.waits, c.since = true, l.now()
	l.open[c] = struct{}{}
	l.clients[c.client]++
	if len(l.open) > l.limits.All {
		closed = l.excess()
	}
	for _, other := range closed {
		l.remove(other)
	}
	return closed, true
}

// remove removes a connection, if it is still there. The caller holds mu.
func (l *listener) remove(c *conn) {
	if _, open := l.open[c]; !open {
		return
	}
	delete(l.open, c)
	if l.clients[c.client]--; l.clients[c.client] == 0 {
		delete(l.clients, c.client)
	}
}

// set stores whether the connection waits for a request, and reports whether it is still
// open.
func (l *listener) set(c *conn, waits bool) (open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.waits, c.since = waits, l.now()
	_, open = l.open[c]
	return open
}

type conn struct {
	net.Conn
	listener        *listener
	client, network netip.Prefix

	// guarded by mu of the listener:
	waits bool      // for a request
	since time.Time // when that changed
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http linger after an error response, so that the client can read
// it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ConnState is the ConnState of an http.Server whose listener is from Listen, or one that
// wraps it with connections that have a method NetConn.
func ConnState(c net.Conn, state http.ConnState) {
	for {
		switch n := c.(type) {
		case *conn:
			n.changed(state)
			return
		case interface{ NetConn() net.Conn }: // a tls.Conn has it, too
			c = n.NetConn()
		default:
			return // it is not limited
		}
	}
}

func (c *conn) changed(state http.ConnState) {
	switch state {
	case http.StateIdle:
		c.listener.set(c, true)
	case http.StateActive:
		if !c.listener.set(c, false) {
			panic(http.ErrAbortHandler) // net/http recovers from it, and no handler sees the request: nobody would get its response
		}
	}
}
