package resolver_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/resolver"
)

// upstream is a resolver that answers as told, over UDP and TCP.
func upstream(t *testing.T, answer func(r *dns.Msg, tcp bool)) resolver.Client {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", conn.LocalAddr().String())
	if err != nil {
		t.Skip(err) // another process has the port
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		r := new(dns.Msg).SetReply(q)
		answer(r, w.RemoteAddr().Network() == "tcp")
		w.WriteMsg(r) // a lost answer fails the test
	})
	for _, s := range []*dns.Server{{PacketConn: conn, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go s.ActivateAndServe() // until the test ends
		<-started
		t.Cleanup(func() { s.Shutdown() }) // it ends with the test anyway
	}
	return resolver.Client{Servers: []string{conn.LocalAddr().String()}, Timeout: time.Minute}
}

func add(r *dns.Msg, records ...string) {
	for _, text := range records {
		if rr, err := dns.NewRR(text); err == nil && (rr.Header().Rrtype == r.Question[0].Qtype || rr.Header().Rrtype == dns.TypeCNAME) {
			r.Answer = append(r.Answer, rr)
		}
	}
}

// Only what the chain from the host leads to is used, with the smallest TTL on the way.
func TestLookup(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(r *dns.Msg, tcp bool)
		want   string
		ttl    time.Duration
		fails  bool
	}{
		"addresses": {func(r *dns.Msg, _ bool) {
			add(r, "a.example. 300 IN A 192.0.2.1", "a.example. 200 IN AAAA 2001:db8::1")
		}, "[192.0.2.1 2001:db8::1]", 200 * time.Second, false},
		"a chain":   {func(r *dns.Msg, _ bool) { add(r, "b.example. 900 IN A 192.0.2.1", "A.example. 90 IN CNAME B.example.") }, "[192.0.2.1]", 90 * time.Second, false},
		"strangers": {func(r *dns.Msg, _ bool) { add(r, "other.example. 1 IN A 192.0.2.66", "a.example. 300 IN A 192.0.2.1") }, "[192.0.2.1]", 300 * time.Second, false},
		"a loop": {func(r *dns.Msg, _ bool) {
			add(r, "a.example. 300 IN CNAME b.example.", "b.example. 300 IN CNAME a.example.")
		}, "[]", 5 * time.Minute, false},
		"nothing":     {func(r *dns.Msg, _ bool) {}, "[]", 5 * time.Minute, false},
		"no such":     {func(r *dns.Msg, _ bool) { r.Rcode = dns.RcodeNameError }, "[]", 5 * time.Minute, false},
		"failure":     {func(r *dns.Msg, _ bool) { r.Rcode = dns.RcodeServerFailure }, "", 0, true},
		"refusal":     {func(r *dns.Msg, _ bool) { r.Rcode = dns.RcodeRefused }, "", 0, true},
		"other":       {func(r *dns.Msg, _ bool) { r.Question[0].Name = "b.example."; add(r, "a.example. 1 IN A 192.0.2.66") }, "", 0, true},
		"no question": {func(r *dns.Msg, _ bool) { r.Question = nil }, "", 0, true},
		"truncated":   {func(r *dns.Msg, tcp bool) { r.Truncated = !tcp; add(r, "a.example. 300 IN A 192.0.2.1") }, "[192.0.2.1]", 300 * time.Second, false},
		"always cut":  {func(r *dns.Msg, _ bool) { r.Truncated = true }, "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			addrs, ttl, err := upstream(t, c.answer).Lookup(t.Context(), "a.example")
			if (err != nil) != c.fails || !c.fails && (fmt.Sprint(addrs) != c.want || ttl != c.ttl) {
				t.Errorf("got %v, %s, %v, want %s, %s", addrs, ttl, err, c.want, c.ttl)
			}
		})
	}
}

// A server that does not answer questions for IPv6 addresses hides no IPv4 addresses.
func TestLookupOfOneKind(t *testing.T) {
	c := upstream(t, func(r *dns.Msg, _ bool) {
		if r.Question[0].Qtype == dns.TypeAAAA {
			r.Rcode = dns.RcodeServerFailure
		}
		add(r, "a.example. 300 IN A 192.0.2.1")
	})
	addrs, ttl, err := c.Lookup(t.Context(), "a.example")
	if err == nil || fmt.Sprint(addrs) != "[192.0.2.1]" || ttl != 300*time.Second {
		t.Errorf("got %v, %s, %v", addrs, ttl, err)
	}
}

// The next resolver is asked when one does not answer.
func TestLookupAsksTheNext(t *testing.T) {
	good := upstream(t, func(r *dns.Msg, _ bool) { add(r, "a.example. 300 IN A 192.0.2.1") })
	bad := upstream(t, func(r *dns.Msg, _ bool) { r.Rcode = dns.RcodeServerFailure })
	c := resolver.Client{Servers: append(bad.Servers, good.Servers...), Timeout: time.Minute}
	if addrs, _, err := c.Lookup(t.Context(), "a.example"); err != nil || len(addrs) != 1 || addrs[0] != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("got %v, %v", addrs, err)
	}
	if _, _, err := (resolver.Client{}).Lookup(t.Context(), "a.example"); err == nil {
		t.Error("looked up without a resolver")
	}
}
