package httpapi

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"

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
	return &conn{Conn: c, publicURL: l.publicURL}, nil
}

type conn struct {
	net.Conn
	publicURL string
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
