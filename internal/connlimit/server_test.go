package connlimit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// testTimeout is when a test gives up.
const testTimeout = time.Minute

// A clock moves by a nanosecond each time that it is read, so that no two times are equal.
type clock struct{ nanoseconds atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.nanoseconds.Add(1)) }

// grace moves the clock beyond graceTime.
func (c *clock) grace() { c.nanoseconds.Add(int64(2 * graceTime)) }

// A server has a limited listener, whose clients have the addresses that the test gives
// them. A request for /slow is answered when the test has ended it.
type server struct {
	*clock
	limited *listener
	accepts *addresses
	http    *http.Server
	began   chan struct{} // requests for /slow
	end     chan struct{} // closed: they are answered
}

func start(t *testing.T, limits Limits) *server {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{clock: &clock{}, began: make(chan struct{}), end: make(chan struct{})}
	s.accepts = &addresses{Listener: inner, next: make(chan string, 1)}
	s.limited = listen(s.accepts, limits, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, s.now)
	s.http = &http.Server{ConnState: ConnState, Handler: http.HandlerFunc(s.handle), BaseContext: func(net.Listener) context.Context { return t.Context() }}
	return s
}

func (s *server) handle(_ http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/slow" {
		return
	}
	s.began <- struct{}{}
	select {
	case <-s.end:
	case <-r.Context().Done():
	}
}

func (s *server) serve(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.http.Serve(s.limited); err != http.ErrServerClosed {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { _ = s.http.Close(); <-done }) // no client needs its connection any more
}

// dial connects as a client at the address.
func (s *server) dial(t *testing.T, from string) net.Conn {
	t.Helper()
	s.accepts.next <- from
	c, err := net.Dial("tcp", s.accepts.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })                // it may be closed
	_ = c.SetReadDeadline(time.Now().Add(testTimeout)) // a connection that fails is closed
	return c
}

// slow connects and sends a request that stays in use.
func (s *server) slow(t *testing.T, from string) net.Conn {
	t.Helper()
	c := s.dial(t, from)
	send(c, "/slow")
	select {
	case <-s.began:
	case <-time.After(testTimeout):
		t.Fatal("a request did not begin")
	}
	return c
}

// waitUntil waits until the server has noticed a change of a connection.
func (s *server) waitUntil(what func(*listener) bool) {
	for {
		s.limited.mu.Lock()
		ok := what(s.limited)
		s.limited.mu.Unlock()
		if ok {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// waiting returns how many connections wait for a request. The caller holds mu.
func waiting(l *listener) (n int) {
	for c := range l.open {
		if c.waits {
			n++
		}
	}
	return n
}

func send(c net.Conn, path string) { // an error is noticed when the response is read
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: deed.example\r\n\r\n", path)
}

// answered reports whether the connection has a response.
func answered(c net.Conn) bool {
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		_ = response.Body.Close() // it is empty
	}
	return err == nil
}

// closed waits until the server has closed the connection without a response.
func closed(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// addresses gives each accepted connection the address that its client has announced.
type addresses struct {
	net.Listener
	next chan string
	wrap func(net.Conn) net.Conn // optional
}

func (a *addresses) Accept() (net.Conn, error) {
	c, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c = &peer{c.(*net.TCPConn), net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(<-a.next), 1))}
	if a.wrap != nil {
		c = a.wrap(c)
	}
	return c, nil
}

type peer struct {
	*net.TCPConn
	from net.Addr
}

func (p *peer) RemoteAddr() net.Addr { return p.from }
