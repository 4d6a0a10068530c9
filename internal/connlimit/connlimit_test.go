package connlimit

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A client has a limited number of connections, and gets another one for each that it
// closes. Trusted clients have no limit.
func TestClientIsLimited(t *testing.T) {
	s := start(t, Limits{Client: 2, All: 100})
	s.serve(t)
	counted := func(n int) { s.waitUntil(func(l *listener) bool { return len(l.open) == n }) }
	for i, client := range [][2]string{{"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8::ffff:2"}} {
		s.slow(t, client[0])
		last := s.slow(t, client[1])
		if !closed(s.dial(t, client[0])) {
			t.Errorf("%s has more connections than its limit", client[0])
		}
		counted(2*i + 2)
		_ = last.Close() // it is open
		counted(2*i + 1)
		s.slow(t, client[1])
	}
	for range 3 {
		s.slow(t, "10.0.0.1")
	}
	counted(4)
}

// Whoever keeps all connections in use neither keeps others out nor ends their requests,
// however long these take.
func TestBusyConnectionsKeepNobodyOut(t *testing.T) {
	const limit = 8
	for name, attacker := range map[string]func(i int) string{
		"two addresses":           func(i int) string { return fmt.Sprint("192.0.2.", 1+i%2) },
		"addresses of an IPv4/24": func(i int) string { return fmt.Sprint("192.0.2.", i) },
		"networks of an IPv6/48":  func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, Limits{Client: limit, All: limit})
			s.serve(t)
			honest := s.slow(t, "198.51.100.1")
			for i := range 3 * limit {
				s.slow(t, attacker(i))
			}
			for i := range 2 * limit {
				s.slow(t, attacker(i)) // there is no connection left
				c := s.dial(t, fmt.Sprintf("203.0.%d.1", i))
				send(c, "/")
				if !answered(c) {
					t.Fatal("a new client was not answered")
				}
				_ = c.Close() // it is open
			}
			close(s.end)
			if !answered(honest) {
				t.Error("the request of another network was ended")
			}
		})
	}
}

// In a network, the client with the most connections loses the one that is in use longest.
func TestLargestClientLosesItsOldest(t *testing.T) {
	s := start(t, Limits{Client: 4, All: 4})
	s.serve(t)
	neighbour, oldest, newer := s.slow(t, "192.0.2.1"), s.slow(t, "192.0.2.2"), s.slow(t, "192.0.2.2")
	other := s.slow(t, "198.51.100.1")
	last := s.slow(t, "203.0.113.1")
	if !closed(oldest) {
		t.Error("the oldest connection of the largest client is open")
	}
	close(s.end)
	for _, c := range []net.Conn{neighbour, newer, other, last} {
		if !answered(c) {
			t.Error("another request was ended")
		}
	}
}

// Connections that wait for a request are closed before any that is in use, also if their
// network has fewer.
func TestWaitingConnectionsAreClosedFirst(t *testing.T) {
	const limit = 6
	s := start(t, Limits{Client: limit, All: limit})
	s.serve(t)
	var busy []net.Conn
	for range limit - 2 {
		busy = append(busy, s.slow(t, "192.0.2.1"))
	}
	for i := range 3 * limit { // each has asked once, and is held
		c := s.dial(t, fmt.Sprintf("203.0.%d.1", i))
		send(c, "/")
		if !answered(c) {
			t.Fatal("a new client was not answered")
		}
		s.waitUntil(func(l *listener) bool { return waiting(l) == min(i+1, 2) })
		s.grace()
	}
	close(s.end)
	for _, c := range busy {
		if !answered(c) {
			t.Error("a request that was being answered was ended")
		}
	}
}

// A client that has just connected is not closed before its request can arrive, whatever
// those do who keep all other connections in use.
func TestNewClientHasTimeToAsk(t *testing.T) {
	const limit = 4
	s := start(t, Limits{Client: limit, All: limit})
	s.serve(t)
	for range limit {
		s.slow(t, "192.0.2.1")
	}
	c := s.dial(t, "198.51.100.1")
	for range 2 * limit {
		s.slow(t, "192.0.2.1")
	}
	send(c, "/")
	if !answered(c) {
		t.Error("its connection was closed")
	}
}

// A request that arrives when its connection was chosen, and is not closed yet, is not
// handled: its response could not be sent.
func TestNoRequestBeginsOnAChosenConnection(t *testing.T) {
	s := start(t, Limits{Client: 1, All: 1})
	chosen, closing := make(chan struct{}), make(chan struct{})
	s.accepts.wrap = func(c net.Conn) net.Conn {
		if c.RemoteAddr().String() != "192.0.2.1:1" {
			return c
		}
		return &slowToClose{Conn: c, began: sync.OnceFunc(func() { close(chosen) }), end: closing}
	}
	began, ended := make(chan struct{}), make(chan struct{})
	s.http.ConnState = func(c net.Conn, state http.ConnState) {
		if c.RemoteAddr().String() == "192.0.2.1:1" {
			switch state {
			case http.StateActive:
				defer close(began)
			case http.StateClosed:
				defer close(ended)
			}
		}
		ConnState(c, state)
	}
	handled := 0
	s.http.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.RemoteAddr == "192.0.2.1:1" {
			handled++
		}
	})
	s.serve(t)

	c := s.dial(t, "192.0.2.1")
	s.waitUntil(func(l *listener) bool { return len(l.open) == 1 })
	s.grace()
	next := s.dial(t, "198.51.100.1")
	<-chosen
	send(c, "/")
	<-began
	close(closing)
	<-ended
	if handled != 0 || !closed(c) {
		t.Errorf("%d requests were handled", handled)
	}
	send(next, "/")
	if !answered(next) {
		t.Error("the new client was not answered")
	}
}

// slowToClose is closed when the test says so.
type slowToClose struct {
	net.Conn
	began func()
	end   chan struct{}
}

func (c *slowToClose) Close() error {
	c.began()
	<-c.end
	return c.Conn.Close()
}

// Over TLS, too, it is known which connections are in use.
func TestConnStateOverTLS(t *testing.T) {
	s := start(t, Limits{Client: 2, All: 2})
	web := &httptest.Server{Listener: s.limited, Config: s.http}
	web.StartTLS()
	defer web.Close()
	result := make(chan error, 1)
	s.accepts.next <- "192.0.2.1"
	go func() {
		response, err := web.Client().Get(web.URL + "/slow")
		if err == nil {
			err = response.Body.Close()
		}
		result <- err
	}()
	<-s.began
	waits := s.dial(t, "198.51.100.1")
	s.waitUntil(func(l *listener) bool { return len(l.open) == 2 })
	s.grace()
	s.dial(t, "203.0.113.1")
	if !closed(waits) {
		t.Error("the connection that waits is open")
	}
	close(s.end)
	if err := <-result; err != nil {
		t.Errorf("the request was ended: %v", err)
	}
}

// However many clients come and go at once, no count remains.
func TestCountsOfManyClients(t *testing.T) {
	s := start(t, Limits{Client: 3, All: 4})
	s.accepts.next = make(chan string, 400)
	s.serve(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for range 20 {
				s.accepts.next <- fmt.Sprintf("192.0.%d.1", i%5) // or that of another client
				c, err := net.Dial("tcp", s.accepts.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				send(c, "/")
				answered(c)
				s.grace()
				_ = c.Close() // the server may have closed it
			}
		})
	}
	all.Wait()
	s.waitUntil(func(l *listener) bool { return len(l.open) == 0 && len(l.clients) == 0 })
}
