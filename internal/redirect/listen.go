package redirect

import (
	"net"
	"sync"

	"deed.example/deed/internal/ratelimit"
)

// maxConns limits the open connections of one client, and maxAllConns those of all.
const (
	maxConns    = 64
	maxAllConns = 8192
)

// Listen returns a listener that accepts a limited number of connections at a time, from
// each client that is not a trusted proxy and from all together. Others are closed.
func Listen(l net.Listener, clients Clients) net.Listener {
	return &listener{Listener: l, clients: clients, open: map[string]int{}}
}

type listener struct {
	net.Listener
	clients Clients

	mu   sync.Mutex
	open map[string]int // guarded by mu: connections by client
	all  int            // guarded by mu
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr := parseAddr(c.RemoteAddr().String())
		key, limit := ratelimit.AddressKey(addr), maxConns
		if l.clients.trusts(addr) {
			limit = maxAllConns
		}
		if l.acquire(key, limit) {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.release(key) })}, nil
		}
		_ = c.Close() // it was never used
	}
}

func (l *listener) acquire(key string, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxAllConns || l.open[key] >= limit {
		return false
	}
	l.open[key]++
	l.all++
	return true
}

func (l *listener) release(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.open[key]--; l.open[key] == 0 {
		delete(l.open, key)
	}
}

type conn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}
