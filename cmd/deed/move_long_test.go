//go:build long

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/nameserver/peer"
)

// Addresses of name servers on port 53, where resolvers expect them.
const (
	ownServer   = "127.77.0.1" // serves the names of the service
	tldServer   = "127.77.0.4" // serves com
	otherServer = "127.77.0.2" // of another company, without DNSSEC
	hostsServer = "127.77.0.3" // knows the addresses of the other two
)

// onPort53 serves at an address until the test ends. It skips the test where port 53
// needs privileges.
func onPort53(t *testing.T, addr string, answer func(q *dns.Msg) *dns.Msg) {
	t.Helper()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		if r := answer(q); r != nil {
			w.WriteMsg(r) // who does not get it asks again
		}
	})
	conn, err := net.ListenPacket("udp", addr+":53")
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Skipf("port 53 of %s is not available: %v", addr, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", addr+":53")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dns.Server{{PacketConn: conn, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go s.ActivateAndServe() // until the test ends
		<-started
		t.Cleanup(func() { s.Shutdown() }) // it ends with the test anyway
	}
}

// unsigned answers for the zone with these records, without DNSSEC.
func unsigned(zone string, records ...string) func(q *dns.Msg) *dns.Msg {
	return func(q *dns.Msg) *dns.Msg {
		r := new(dns.Msg).SetReply(q)
		r.Authoritative = true
		for _, text := range records {
			rr, err := dns.NewRR(text)
			if suffix, wild := strings.CutPrefix(text, "*."); err == nil && wild && strings.HasPrefix(suffix, zone) && q.Question[0].Name != zone {
				rr.Header().Name = q.Question[0].Name
			}
			if err == nil && strings.EqualFold(rr.Header().Name, q.Question[0].Name) && rr.Header().Rrtype == q.Question[0].Qtype {
				r.Answer = append(r.Answer, rr)
			}
		}
		if len(r.Answer) == 0 {
			soa, err := dns.NewRR(zone + " 1 IN SOA ns1." + zone + " hostmaster." + zone + " 1 3600 600 1209600 1")
			if err == nil {
				r.Ns = append(r.Ns, soa)
			}
		}
		return r
	}
}

// refer returns the referral of com to moving.com. Its name servers stay in caches for
// a shorter time than its DS, as in most TLDs with the servers' own TTL. The embedded server serves both
// zones, and so never refers to the second one.
func refer(q *dns.Msg, pass func(q *dns.Msg) *dns.Msg, servers []string) *dns.Msg {
	ds := pass(ask("moving.com.", dns.TypeDS))
	if ds == nil {
		return nil
	}
	r := new(dns.Msg).SetReply(q).SetEdns0(4096, true)
	for _, server := range servers {
		r.Ns = append(r.Ns, &dns.NS{Hdr: dns.RR_Header{Name: "moving.com.", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: 1}, Ns: server + "."})
	}
	for _, rr := range append(ds.Answer, ds.Ns...) { // the DS, or the proof that there is none
		sig, signed := rr.(*dns.RRSIG)
		if kind := rr.Header().Rrtype; kind == dns.TypeDS || kind == dns.TypeNSEC || signed && sig.TypeCovered != dns.TypeSOA {
			r.Ns = append(r.Ns, rr)
		}
	}
	return r
}

// startCachingResolver starts an Unbound that follows delegations and keeps what it
// learns for up to three seconds.
func startCachingResolver(t *testing.T, ours string, servers func() []string) *peer.Daemon {
	t.Helper()
	pass := func(q *dns.Msg) *dns.Msg {
		r, _, err := (&dns.Client{Net: "tcp"}).Exchange(q, ours)
		if err != nil {
			return nil
		}
		return r
	}
	onPort53(t, ownServer, func(q *dns.Msg) *dns.Msg { return pass(q) })
	onPort53(t, tldServer, func(q *dns.Msg) *dns.Msg {
		if name := q.Question[0].Name; dns.IsSubDomain("moving.com.", strings.ToLower(name)) && q.Question[0].Qtype != dns.TypeDS {
			return refer(q, pass, servers())
		}
		return pass(q)
	})
	onPort53(t, otherServer, unsigned("moving.com.", "*.moving.com. 60 IN A 192.0.2.99", "moving.com. 60 IN NS ns1.other.example.", "moving.com. 60 IN NS ns2.other.example."))
	onPort53(t, hostsServer, unsigned("example.",
		"ns1.deed.example. 60 IN A "+ownServer, "ns2.deed.example. 60 IN A "+ownServer, "ns1.other.example. 60 IN A "+otherServer, "ns2.other.example. 60 IN A "+otherServer))
	key := ""
	for _, rr := range exchange(t, ask("com.", dns.TypeDNSKEY), ours).Answer {
		if k, ok := rr.(*dns.DNSKEY); ok {
			key = strings.ReplaceAll(k.String(), "\t", " ")
		}
	}
	conf := fmt.Sprintf(`
server:
    directory: "{dir}"
    chroot: ""
    username: ""
    pidfile: "{dir}/pid"
    use-syslog: no
    verbosity: 1
    val-log-level: 2
    num-threads: 1
    interface: 127.0.0.1
    port: {port}
    do-ip6: no
    do-not-query-localhost: no
    module-config: "validator iterator"
    cache-max-ttl: 3
    cache-max-negative-ttl: 1
    trust-anchor: "%s"
    domain-insecure: "example"
remote-control:
    control-enable: no
stub-zone:
    name: com
    stub-addr: %s
stub-zone:
    name: example
    stub-addr: %s
`, key, tldServer, hostsServer)
	return startUnbound(t, conf)
}

// A timeline is what a resolver answered for the hosts of a zone, asked all the time.
type timeline struct {
	secure, insecure, failed atomic.Int64
	last                     atomic.Value // of string: the last address, with "+ad" if it was validated
}

func (l *timeline) run(zone, resolver string, done <-chan struct{}) {
	client := dns.Client{Timeout: 30 * time.Second}
	for asked := 0; ; asked++ {
		select {
		case <-done:
			return
		default:
		}
		// The DS is asked for by itself, so that it is in the cache longer than the name
		// servers that came with it.
		_, _, _ = client.Exchange(new(dns.Msg).SetQuestion(zone, dns.TypeDS), resolver)
		m := new(dns.Msg).SetQuestion(fmt.Sprintf("h%d.%s", asked, zone), dns.TypeA) // another host each time: none is in the cache
		m.AuthenticatedData = true
		r, _, err := client.Exchange(m, resolver)
		switch {
		case err != nil || r.Rcode == dns.RcodeServerFailure:
			l.failed.Add(1)
		case len(r.Answer) > 0 && r.AuthenticatedData:
			l.secure.Add(1)
			l.last.Store(r.Answer[0].(*dns.A).A.String() + "+ad")
		case len(r.Answer) > 0:
			l.insecure.Add(1)
			l.last.Store(r.Answer[0].(*dns.A).A.String())
		}
	}
}

// A signed name moves to servers of others and back. At no moment does a validating
// resolver with a cache treat it as bogus.
func TestMoveNeverMakesANameBogus(t *testing.T) {
	n := start(t, t.TempDir(), "DEED_LIMITS_REGISTER=1000", "DEED_LIMITS_DNS=100000", "DEED_DNS_PARENT_DS_TTL=6s", "DEED_DNS_PARENT_NS_TTL=6s")
	c, ours := n.owner(t), n.sandbox(t).DNS
	ttl := 60
	sell(t, c, "moving.com", api.RecordRequest{Type: "A", Host: "*", Value: "192.0.2.1", TTL: &ttl})
	inParent := func() bool {
		for _, rr := range exchange(t, ask("moving.com.", dns.TypeDS), ours).Answer {
			if _, ok := rr.(*dns.DS); ok {
				return true
			}
		}
		return false
	}
	waitFor(t, inParent)
	resolver := startCachingResolver(t, ours, func() []string {
		d, err := c.Domain(context.WithoutCancel(t.Context()), "moving.com")
		if err != nil {
			return nil // it is asked again
		}
		return d.Nameservers
	})
	var seen timeline
	seen.last.Store("")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); seen.run("moving.com.", resolver.Addr.String(), done) }()
	is := func(want string) { t.Helper(); waitFor(t, func() bool { return seen.last.Load() == want }) }

	is("192.0.2.1+ad")
	out, err := c.SetNameservers(t.Context(), "moving.com", "ns1.other.example", "ns2.other.example")
	if err != nil || out.Move == nil || out.Move.Step != "withdrawing" || out.Nameservers[0] != "ns1.deed.example" || len(out.DNSSEC.DS) != 0 {
		t.Fatalf("out: got %+v, %v, want the DS withdrawn first", out, err)
	}
	is("192.0.2.99")
	if _, err := c.SetDS(t.Context(), "moving.com", api.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}); err != nil {
		t.Errorf("a DS of another server: %v", err)
	}
	if _, err := c.SetDS(t.Context(), "moving.com"); err != nil {
		t.Errorf("no DS: %v", err)
	}
	back, err := c.SetNameservers(t.Context(), "moving.com")
	if err != nil || back.Move == nil || back.Move.Step != "settling" || back.Nameservers[0] != "ns1.deed.example" {
		t.Fatalf("back: got %+v, %v, want it to settle", back, err)
	}
	is("192.0.2.1")
	waitFor(t, inParent)
	is("192.0.2.1+ad") // Unbound keeps for a minute that there was no DS
	close(done)
	<-ended
	log, err := os.ReadFile(resolver.Dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	if failures := strings.Count(string(log), "validation failure"); failures > 0 || seen.failed.Load() > 0 {
		t.Errorf("%d answers failed, %d validations", seen.failed.Load(), failures)
	}
	t.Logf("%d answers validated, %d insecure, %d failed", seen.secure.Load(), seen.insecure.Load(), seen.failed.Load())
	forced(t, c, resolver.Addr.String())
	n.stop(t)
}

// forced logs what the same resolver sees when the move does not wait.
func forced(t *testing.T, c *client.Client, resolver string) {
	t.Helper()
	var seen timeline
	seen.last.Store("")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); seen.run("moving.com.", resolver, done) }()
	waitFor(t, func() bool { return seen.last.Load() == "192.0.2.1+ad" })
	if d, err := c.ForceNameservers(t.Context(), "moving.com", "ns1.other.example", "ns2.other.example"); err != nil || d.Move != nil {
		t.Errorf("forced: got %+v, %v", d, err)
	}
	waitFor(t, func() bool { return seen.last.Load() == "192.0.2.99" })
	close(done)
	<-ended
	t.Logf("forced: %d answers validated, %d insecure, %d failed", seen.secure.Load(), seen.insecure.Load(), seen.failed.Load())
}
