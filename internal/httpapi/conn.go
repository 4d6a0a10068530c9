package httpapi

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// maxConns is how many connections one client may have open. Trusted proxies are
// not limited.
const maxConns = 256

// Listen wraps l: it limits the connections per client and of all clients, and rewrites
// the responses that net/http sends itself, before any handler runs, as JSON like all
// others. The docs of errors are at publicURL.
func Listen(l net.Listener, trusted []netip.Prefix, publicURL string) net.Listener {
	return &listener{Listener: l, trusted: trusted, publicURL: publicURL, all: conns{limit: connLimit()}}
}

type listener struct {
	net.Listener
	trusted   []netip.Prefix
	publicURL string
	open      clientLimiter // connections
	all       conns         // of clients that are not trusted
}

// Accept implements net.Listener. A connection above the limit is closed without
// a response.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer, _ := netip.ParseAddrPort(c.RemoteAddr().String()) // all zero addresses count as one client
		addr := peer.Addr().Unmap()
		if within(addr, l.trusted) {
			return &conn{Conn: c, publicURL: l.publicURL, release: func() {}}, nil
		}
		if n, ok := l.admit(c, ratelimit.AddressKey(addr)); ok {
			return n, nil
		}
		_ = c.Close() // it was never used
	}
}

// admit counts the connection of a client, unless there are too many.
func (l *listener) admit(c net.Conn, client string) (n *conn, ok bool) {
	if !l.open.acquire(client, maxConns) {
		return nil, false
	}
	n = &conn{Conn: c, publicURL: l.publicURL}
	n.release = sync.OnceFunc(func() {
		l.open.release(client)
		l.all.remove(n)
	})
	if !l.all.add(n) {
		n.release()
		return nil, false
	}
	return n, true
}

type conn struct {
	net.Conn
	publicURL string
	release   func()
	idleSince atomic.Int64 // in nanoseconds; 0 while it is in use (connState)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}

// CloseWrite lets net/http linger after an error response, so that the client can
// read it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// A response that net/http sends itself is recognized by these. It is written to
// the connection with one Write; no handler of this package sends text/plain.
var (
	rawPrefix  = []byte("HTTP/1.1 ")
	rawHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	rawExpect  = []byte("HTTP/1.1 417 ")
)

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, rawPrefix) || !bytes.HasPrefix(p, rawExpect) && !bytes.Contains(p[:min(len(p), 256)], rawHeaders) {
		return c.Conn.Write(p)
	}
	status, err := strconv.Atoi(string(p[len(rawPrefix):min(len(p), len(rawPrefix)+3)]))
	if err != nil {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(rawError(status, c.publicURL)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// rawError returns a complete error response. Whatever net/http rejects itself is
// a malformed request, except for headers that are too large.
func rawError(status int, publicURL string) []byte {
	e := &deed.Error{Code: deed.CodeValidation, Message: "this is not an HTTP/1.1 request we can read"}
	if status == http.StatusRequestHeaderFieldsTooLarge {
		e.Message = fmt.Sprintf("the headers are larger than %d bytes", maxHeaderBytes)
	} else {
		status = http.StatusBadRequest
	}
	id := newRequestID()
	raw := encode(errorBody(http.Header{"X-Request-Id": {id}}, status, e, publicURL))
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Request-Id: %s\r\nCache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(raw), id, raw)
}
