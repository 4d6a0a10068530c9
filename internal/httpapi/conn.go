package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"deed.example/deed"
)

// Listen wraps l: it rewrites the responses that net/http sends itself, before any
// handler runs, as JSON like all others. The docs of errors are at publicURL. The listener
// l limits connections (connlimit).
func Listen(l net.Listener, publicURL string) net.Listener {
	return &listener{Listener: l, publicURL: publicURL}
}

type listener struct {
	net.Listener
	publicURL string
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, publicURL: l.publicURL, reading: readDeadline{below: c.SetReadDeadline}, responded: make(chan struct{}, 1)}, nil
}

type conn struct {
	net.Conn
	publicURL string
	reading   readDeadline
	responded chan struct{} // full from the beginning of a response on
}

// maxHalfClosed is how long a client that has closed its side may wait for a response, as
// long as there is time to write it.
const maxHalfClosed = writeTimeout

// Read implements net.Conn. While a handler runs, net/http reads one byte ahead, and takes
// the end of what the client sends for the end of the connection: it would cancel the
// request of a client that closes its side and waits for the response (RFC 9293, 3.6). So
// the end is reported when the response begins; streams begin at once.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.readInTime(p)
	if err == io.EOF && len(p) == 1 {
		limit := time.NewTimer(maxHalfClosed)
		defer limit.Stop()
		select {
		case <-c.responded:
		case <-limit.C:
		}
	}
	return n, err
}

// readInTime reads until the read deadline.
func (c *conn) readInTime(p []byte) (int, error) {
	for {
		if err := c.reading.begin(); err != nil {
			return 0, err
		}
		n, err := c.Conn.Read(p)
		if !c.reading.end(err) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// SetReadDeadline implements net.Conn. net/http removes the deadline before it reads ahead,
// and sets one in the past when a handler has returned.
func (c *conn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		c.respond()
		return c.reading.want(t)
	}
	select {
	case <-c.responded:
	default:
	}
	return c.reading.want(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// respond notes that a response has begun.
func (c *conn) respond() {
	select {
	case c.responded <- struct{}{}:
	default:
	}
}

// NetConn returns the connection below (connlimit.ConnState).
func (c *conn) NetConn() net.Conn { return c.Conn }

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
	defer c.respond()
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
