package httpapi

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

func (c *conns) inUse() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.open {
		if one.idleSince.Load() == 0 {
			n++
		}
	}
	return n
}

// Whoever holds connections open does not keep others out, and does not end requests that
// are being answered.
func TestConnectionLimitOfAllClients(t *testing.T) {
	const limit = 4
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, end := make(chan struct{}), make(chan struct{})
	server := &http.Server{ConnState: connState, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			began <- struct{}{}
			<-end
		}
	})}
	limited := &listener{Listener: l, all: conns{limit: limit}}
	go func() { _ = server.Serve(limited) }() // it ends with the test
	t.Cleanup(func() { _ = server.Close() })

	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn, path string) { fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: deed.example\r\n\r\n", path) }
	answered := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // a connection that fails is closed anyway
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	}

	slow := dial()
	ask(slow, "/slow")
	<-began
	for range 3 * limit { // each has asked once, and is held
		c := dial()
		ask(c, "/")
		if !answered(c) {
			t.Fatal("a new client was not answered")
		}
		for limited.all.inUse() > 1 { // the server notices a moment later that a connection waits
			time.Sleep(time.Millisecond)
		}
	}
	var busy []net.Conn
	for range limit - 1 {
		c := dial()
		ask(c, "/slow")
		<-began
		busy = append(busy, c)
	}
	refused := dial()
	ask(refused, "/")
	if answered(refused) {
		t.Error("there are more requests than connections")
	}
	close(end)
	for _, c := range append(busy, slow) {
		if !answered(c) {
			t.Error("a request that was being answered was ended")
		}
	}
}
