package primary

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"deed.example/deed/internal/connlimit"
)

const (
	maxConns     = 512 // in total
	maxPeerConns = 160 // from one address of IPv4 or /64 of IPv6; NSD transfers 128 zones at once
	writeTimeout = 10 * time.Second
)

// A listener limits the number of connections, so that unauthenticated peers cannot
// exhaust them and a secondary that stops reading does not keep its connection
// forever.
type listener struct {
	net.Listener

	mu    sync.Mutex
	conns map[*conn]struct{} // open ones; guarded by mu
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, conns: map[*conn]struct{}{}}
}

// Accept implements net.Listener. A connection above the limit of its client is closed
// without a response.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := connlimit.Accept(l.Listener)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, listener: l, from: clientOf(peer(raw.RemoteAddr())), since: time.Now()}
		if l.take(c) {
			return c, nil
		}
		_ = raw.Close() // it was never used
	}
}

// take adds a connection, if the limits allow it. When there are as many as the limit, the
// oldest one on which nobody has proved to be a secondary is closed, so that strangers keep
// no secondary out.
func (l *listener) take(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	var oldest *conn
	for other := range l.conns {
		if other.from == c.from {
			same++
		}
		if !other.admitted && (oldest == nil || other.since.Before(oldest.since)) {
			oldest = other
		}
	}
	if same >= maxPeerConns || len(l.conns) >= maxConns && oldest == nil {
		return false
	}
	if len(l.conns) >= maxConns {
		delete(l.conns, oldest)
		_ = oldest.Conn.Close() // ends its reader
	}
	l.conns[c] = struct{}{}
	return true
}

// admit says that the peer of a connection may read the zones.
func (l *listener) admit(addr net.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.RemoteAddr() == addr { // each connection has an address of its own
			c.admitted = true
			return
		}
	}
}

// closeAll closes all connections.
func (l *listener) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Conn.Close() // nothing to recover
	}
	clear(l.conns)
}

// peer returns the IP address of addr, or the zero address when it has none.
func peer(addr net.Addr) netip.Addr {
	ap, _ := netip.ParseAddrPort(addr.String()) // the zero address counts as one peer and is never allowed
	return ap.Addr().Unmap()
}

// clientOf returns what counts as one client: an IPv4 address, or an IPv6 /64, which one
// host can use all of.
func clientOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	network, _ := a.WithZone("").Prefix(64) // fails for the zero address, which is one client
	return network.Addr()
}

// A conn is a connection whose writes time out.
type conn struct {
	net.Conn
	listener *listener
	from     netip.Addr // what counts as one client
	since    time.Time
	admitted bool // its peer may read the zones; guarded by the mutex of the listener
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
