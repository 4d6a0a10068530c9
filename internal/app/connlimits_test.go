package app

import (
	"net"
	"net/http"
	"testing"

	"deed.example/deed/internal/connlimit"
)

// The listeners together have at most half of the files, and a client a part of it.
func TestConnLimitsShareTheFiles(t *testing.T) {
	const on = "127.0.0.1:0"
	for _, test := range []struct {
		files, redirects  int
		callers, visitors connlimit.Limits
	}{
		{1 << 20, 0, connlimit.Limits{Client: 256, All: 16384}, connlimit.Limits{Client: 64, All: 8192}},
		{65536, 2, connlimit.Limits{Client: 256, All: 16384}, connlimit.Limits{Client: 64, All: 8192}},
		{20000, 2, connlimit.Limits{Client: 256, All: 5000}, connlimit.Limits{Client: 64, All: 2500}},
		{1024, 0, connlimit.Limits{Client: 128, All: 512}, connlimit.Limits{Client: 32, All: 128}},
		{1024, 1, connlimit.Limits{Client: 96, All: 384}, connlimit.Limits{Client: 32, All: 128}},
		{1024, 2, connlimit.Limits{Client: 64, All: 256}, connlimit.Limits{Client: 32, All: 128}},
		{1, 2, connlimit.Limits{Client: 1, All: 1}, connlimit.Limits{Client: 1, All: 1}},
	} {
		c := Default()
		c.Hooks.MaxFiles = test.files
		if test.redirects > 0 {
			c.RedirectListen = on
		}
		if test.redirects > 1 {
			c.RedirectTLSListen = on
		}
		if callers, visitors := c.connLimits(); callers != test.callers || visitors != test.visitors {
			t.Errorf("%d files, %d redirects: got %+v, %+v, want %+v, %+v", test.files, test.redirects, callers, visitors, test.callers, test.visitors)
		}
	}
}

func TestNameServerSharesTheFiles(t *testing.T) {
	for files, want := range map[int]connlimit.Limits{65536: {Client: 64, All: 1024}, 1024: {Client: 32, All: 128}, 1: {Client: 1, All: 1}} {
		c := Default()
		c.Hooks.MaxFiles = files
		if conf := c.dnsLimits(); conf.Conns != want.All || conf.ConnsPerClient != want.Client {
			t.Errorf("%d files: got %d, %d of one client, want %+v", files, conf.Conns, conf.ConnsPerClient, want)
		}
	}
}

// On each public server a connection is closed for one of another client when there are
// too many, and no request begins on it.
func TestPublicServersAreLimited(t *testing.T) {
	c := sandbox(t)
	c.Hooks.MaxFiles = 1 // each server has one connection
	c.RedirectListen, c.RedirectTLSListen, c.ACMEEmail = "127.0.0.1:0", "127.0.0.1:0", "a@example.com"
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close() // nothing was changed
	servers := a.publicServers()
	if len(servers) != 3 {
		t.Fatalf("got %d servers, want 3", len(servers))
	}
	for _, s := range servers {
		first := acceptFrom(t, s, "127.0.0.2")
		s.ConnState(first, http.StateActive)
		acceptFrom(t, s, "127.0.0.3")
		if !aborts(func() { s.ConnState(first, http.StateActive) }) {
			t.Errorf("%s: a request begins on a connection that was closed", s.addr())
		}
	}
}

// acceptFrom returns the server's side of a connection from the address.
func acceptFrom(t *testing.T, s *listening, address string) net.Conn {
	t.Helper()
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := from.Dial("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it may be closed
	accepted, err := s.Listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = accepted.Close() }) // likewise
	return accepted
}

// aborts reports whether f ends the request before its handler.
func aborts(f func()) (aborted bool) {
	defer func() { aborted = recover() == http.ErrAbortHandler }()
	f()
	return false
}
