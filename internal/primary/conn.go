package primary

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	maxConns     = 256 // in total
	maxPeerConns = 32  // from one address
	writeTimeout = 10 * time.Second
)

// A listener limits the number of connections, so that unauthenticated peers cannot
// exhaust them and a secondary that stops reading does not keep its connection
// forever.
type listener struct {
	net.Listener

	mu    sync.Mutex
	conns map[*conn]netip.Addr // open ones, by their peer; guarded by mu
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, conns: map[*conn]netip.Addr{}}
}

// Accept implements net.Listener. Connections above the limits are closed without a
// response.
func (l *listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: raw, listener: l}
		if l.take(c, peer(raw.RemoteAddr())) {
			return c, nil
		}
		_ = raw.Close() // it was never used
	}
}

func (l *listener) take(c *conn, from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := 0
	for _, addr := range l.conns {
		if addr == from {
			same++
		}
	}
	if len(l.conns) >= maxConns || same >= maxPeerConns {
		return false
	}
	l.conns[c] = from
	return true
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

// A conn is a connection whose writes time out.
type conn struct {
	net.Conn
	listener *listener
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
