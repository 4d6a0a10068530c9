package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
)

// A closingListener reports, for each connection, whether its sending side was
// closed before the whole connection was.
type closingListener struct {
	net.Listener
	orderly chan bool
}

func (l closingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &closingConn{TCPConn: c.(*net.TCPConn), orderly: l.orderly}, nil
}

// A closingConn is used by one goroutine of net/http at a time.
type closingConn struct {
	*net.TCPConn
	half, closed bool
	orderly      chan bool
}

func (c *closingConn) CloseWrite() error {
	c.half = true
	return c.TCPConn.CloseWrite()
}

func (c *closingConn) Close() error {
	if !c.closed {
		c.closed = true
		c.orderly <- c.half
	}
	return c.TCPConn.Close()
}

// serve serves h on a real connection and returns its address.
func serve(t *testing.T, s *Server, h handler) (address string, orderly chan bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	orderly = make(chan bool, 1)
	server := &http.Server{Handler: s.middleware(s.handle(h)), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(Listen(closingListener{l, orderly}, "")) }() // it ends with the test
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String(), orderly
}

// A client that asked whether to send its body (RFC 9110, 10.1.1) and sends too much
// of it gets 413, and time to read it.
func TestLargeBodyAfterContinue(t *testing.T) {
	s := quietServer(io.Discard)
	s.Trusted = []netip.Prefix{}
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the message was passed on") })
	for name, tt := range map[string]struct {
		limit int
		h     handler
	}{
		"JSON": {maxAuthBody, func(w http.ResponseWriter, r *http.Request) error {
			var in struct{}
			return decode(w, r, maxAuthBody, &in)
		}},
		"message": {maxMessage, func(w http.ResponseWriter, r *http.Request) error { return s.message(w, r, next, "MCP") }},
		"zone file": {maxZoneFile, func(w http.ResponseWriter, r *http.Request) error {
			_, err := readBody(w, r, maxZoneFile)
			return unread(err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			address, orderly := serve(t, s, tt.h)
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close() // it is only read from here on
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", 100<<20)
			in := bufio.NewReader(c)
			if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
				t.Fatalf("got %q, %v, want 100", line, err)
			}
			if line, err := in.ReadString('\n'); err != nil || line != "\r\n" {
				t.Fatalf("got %q, %v", line, err)
			}
			if _, err := io.WriteString(c, strings.Repeat("m", tt.limit+1)); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 413 || !strings.Contains(string(body), string(deed.CodeValidation)) {
				t.Errorf("got %d %s, %v", res.StatusCode, body, err)
			}
			if !<-orderly {
				t.Error("the connection was closed at once: a client that still sends loses the response")
			}
		})
	}
}
