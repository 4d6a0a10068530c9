package nameserver_test

import (
	"encoding/hex"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver"
)

// withCookie adds a cookie in hexadecimal to the query.
func withCookie(m *dns.Msg, cookie string) *dns.Msg {
	return withOptions(m, &dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie})
}

func withOptions(m *dns.Msg, options ...dns.EDNS0) *dns.Msg {
	if m.IsEdns0() == nil {
		m.SetEdns0(1232, false)
	}
	m.IsEdns0().Option = append(m.IsEdns0().Option, options...)
	return m
}

// optionOf returns the option with this code in the response, or nil.
func optionOf(m *dns.Msg, code uint16) dns.EDNS0 {
	if opt := m.IsEdns0(); opt != nil {
		for _, o := range opt.Option {
			if o.Option() == code {
				return o
			}
		}
	}
	return nil
}

func cookieOf(t *testing.T, m *dns.Msg) string {
	t.Helper()
	c, ok := optionOf(m, dns.EDNS0COOKIE).(*dns.EDNS0_COOKIE)
	if !ok || len(c.Cookie) != 48 {
		t.Fatalf("got %v, want a cookie of 24 bytes", m)
	}
	return c.Cookie
}

// A cookie is kept for half an hour, renewed until an hour has passed, and then
// replaced; one of another secret is replaced, too (RFC 9018, 4.3).
func TestCookieLifetime(t *testing.T) {
	var seconds atomic.Int64 // read by the server
	seconds.Store(1_800_000_000)
	cfg := config()
	cfg.Now, cfg.Sockets = func() time.Time { return time.Unix(seconds.Load(), 0) }, 1
	s, other := serve(t, cfg), serve(t, config())
	for _, srv := range []*nameserver.Server{s, other} {
		publish(t, srv, "hotel.test", testZone...)
	}
	exchange := func(srv *nameserver.Server, network, cookie string) string {
		return cookieOf(t, ask(t, srv, network, withCookie(query("www.hotel.test", dns.TypeA), cookie)))
	}
	const client = "0123456789abcdef"
	first := exchange(s, "udp", client)
	if !strings.HasPrefix(first, client+"01000000") {
		t.Errorf("got %s, want the client's part and version 1", first)
	}
	if got := exchange(s, "tcp", first); got != first {
		t.Errorf("at once, over TCP: got %s, want %s", got, first)
	}
	if got := exchange(other, "udp", first); got == first {
		t.Error("a server with another secret accepted the cookie")
	}
	seconds.Add(31 * 60)
	if got := exchange(s, "udp", first); got == first || !strings.HasPrefix(got, client) {
		t.Errorf("after 31 minutes: got %s, want a new one", got)
	}
}

// A query without a question asks for a cookie (RFC 7873, 5.4). A cookie of an
// impossible length is malformed (RFC 7873, 5.2.2).
func TestCookieForms(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	empty := withCookie(new(dns.Msg), "0123456789abcdef")
	empty.Id = 7
	got := ask(t, s, "tcp", empty)
	if cookieOf(t, got); got.Rcode != dns.RcodeSuccess || len(got.Question) != 0 {
		t.Errorf("without a question: got %v", got)
	}
	for _, size := range []int{0, 7, 9, 15, 41} {
		m := withCookie(query("www.hotel.test", dns.TypeA), strings.Repeat("ab", size))
		got := ask(t, s, "udp", m)
		if got.Rcode != dns.RcodeFormatError || got.IsEdns0() == nil {
			t.Errorf("a cookie of %d bytes: got %v, want FORMERR with EDNS", size, got)
		}
	}
	cfg := config()
	cfg.Cookies = false
	off := serve(t, cfg)
	if got := ask(t, off, "udp", withCookie(query("www.hotel.test", dns.TypeA), "0123456789abcdef")); optionOf(got, dns.EDNS0COOKIE) != nil {
		t.Errorf("turned off: got %v", got)
	}
}

// NSID says which server answered; keepalive, over TCP only, how long a connection
// may be idle.
func TestNSIDAndKeepalive(t *testing.T) {
	cfg := config()
	cfg.NSID, cfg.Idle = "fra1", 15*time.Second
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	for _, network := range []string{"udp", "tcp"} {
		got := ask(t, s, network, withOptions(query("www.hotel.test", dns.TypeA), &dns.EDNS0_NSID{Code: dns.EDNS0NSID}, &dns.EDNS0_TCP_KEEPALIVE{Code: dns.EDNS0TCPKEEPALIVE}))
		nsid, ok := optionOf(got, dns.EDNS0NSID).(*dns.EDNS0_NSID)
		if !ok || nsid.Nsid != hex.EncodeToString([]byte("fra1")) {
			t.Errorf("%s: got NSID %v", network, nsid)
		}
		alive, ok := optionOf(got, dns.EDNS0TCPKEEPALIVE).(*dns.EDNS0_TCP_KEEPALIVE)
		if ok != (network == "tcp") || ok && alive.Timeout != 150 {
			t.Errorf("%s: got keepalive %v", network, alive)
		}
	}
	if got := ask(t, s, "udp", query("www.hotel.test", dns.TypeA).SetEdns0(1232, false)); len(got.IsEdns0().Option) != 0 {
		t.Errorf("not asked for: got %v", got)
	}
	cfg.NSID = strings.Repeat("x", 65)
	if s, err := nameserver.Open(cfg); err == nil {
		s.Close()
		t.Error("an NSID of 65 bytes was accepted")
	}
}

// Every answer to a query with EDNS has EDNS (RFC 6891, 7), and the question.
func TestErrorsHaveEDNS(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	for name, c := range map[string]struct {
		change func(m *dns.Msg)
		want   int
	}{
		"UPDATE":       {func(m *dns.Msg) { m.SetUpdate("hotel.test.") }, dns.RcodeNotImplemented},
		"NOTIFY":       {func(m *dns.Msg) { m.SetNotify("hotel.test.") }, dns.RcodeNotImplemented},
		"STATUS":       {func(m *dns.Msg) { m.Opcode = dns.OpcodeStatus }, dns.RcodeNotImplemented},
		"AXFR":         {func(m *dns.Msg) { m.SetAxfr("hotel.test.") }, dns.RcodeRefused},
		"foreign name": {func(m *dns.Msg) { m.SetQuestion("example.org.", dns.TypeA) }, dns.RcodeRefused},
		"class":        {func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }, dns.RcodeRefused},
	} {
		got := raw(t, s, message(t, func(m *dns.Msg) { c.change(m); m.SetEdns0(1232, false) }))
		if got == nil || got.Rcode != c.want || got.IsEdns0() == nil || len(got.Question) != 1 {
			t.Errorf("%s: got %v, want %s with EDNS", name, got, dns.RcodeToString[c.want])
		}
	}
}

// BIND's dig, an independent implementation, accepts the cookie and prints the
// other options.
func TestDigReadsOptions(t *testing.T) {
	dig, err := exec.LookPath("dig")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("dig is not installed")
	}
	cfg := config()
	cfg.NSID = "fra1"
	s := serve(t, cfg)
	publish(t, s, "hotel.test", testZone...)
	out, err := exec.CommandContext(t.Context(), dig, "-p", strconv.Itoa(int(s.Addr().Port())), "@127.0.0.1", "+tcp", "+nsid", "+cookie", "+keepalive", "www.hotel.test", "A").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"(good)", `("fra1")`, "TCP-KEEPALIVE: 10.0 secs"} {
		if !strings.Contains(strings.ReplaceAll(string(out), "TCP KEEPALIVE", "TCP-KEEPALIVE"), want) {
			t.Errorf("got %s, want %s in it", out, want)
		}
	}
}
