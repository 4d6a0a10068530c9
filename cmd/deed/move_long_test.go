//go:build long

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// referral is what a parent says about moving.com.
type referral struct {
	servers []string
	ttl     uint32 // of the servers, in seconds
}

// refer returns the referral of com to moving.com. The embedded server serves both
// zones, and so never refers to the second one.
func refer(q *dns.Msg, pass func(q *dns.Msg) *dns.Msg, to referral) *dns.Msg {
	ds := pass(ask("moving.com.", dns.TypeDS))
	if ds == nil {
		return nil
	}
	r := new(dns.Msg).SetReply(q).SetEdns0(4096, true)
	for _, server := range to.servers {
		r.Ns = append(r.Ns, &dns.NS{Hdr: dns.RR_Header{Name: "moving.com.", Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: to.ttl}, Ns: server + "."})
	}
	for _, rr := range append(ds.Answer, ds.Ns...) { // the DS, or the proof that there is none
		sig, signed := rr.(*dns.RRSIG)
		if kind := rr.Header().Rrtype; kind == dns.TypeDS || kind == dns.TypeNSEC || signed && sig.TypeCovered != dns.TypeSOA {
			r.Ns = append(r.Ns, rr)
		}
	}
	return r
}

// startParents serves com and the servers that moving.com is delegated to, on port 53.
func startParents(t *testing.T, ours string, to func() referral) {
	t.Helper()
	pass := func(q *dns.Msg) *dns.Msg {
		r, _, err := (&dns.Client{Net: "tcp"}).Exchange(q, ours)
		if err != nil {
			return nil
		}
		for _, rr := range r.Ns { // that there is no DS is forgotten sooner than the servers, as in most TLDs
			rr.Header().Ttl = min(rr.Header().Ttl, 1)
		}
		return r
	}
	onPort53(t, ownServer, func(q *dns.Msg) *dns.Msg { return pass(q) })
	onPort53(t, tldServer, func(q *dns.Msg) *dns.Msg {
		if name := q.Question[0].Name; dns.IsSubDomain("moving.com.", strings.ToLower(name)) && q.Question[0].Qtype != dns.TypeDS {
			return refer(q, pass, to())
		}
		return pass(q)
	})
	onPort53(t, otherServer, unsigned("moving.com.", "*.moving.com. 60 IN A 192.0.2.99", "moving.com. 60 IN NS ns1.other.example.", "moving.com. 60 IN NS ns2.other.example."))
	onPort53(t, hostsServer, unsigned("example.",
		"ns1.deed.example. 60 IN A "+ownServer, "ns2.deed.example. 60 IN A "+ownServer, "ns1.other.example. 60 IN A "+otherServer, "ns2.other.example. 60 IN A "+otherServer))
}

// A stubZone is a zone that a resolver asks one server for.
type stubZone struct {
	name, server string
	unsigned     bool
}

// startCachingResolver starts an Unbound that follows delegations and keeps what it
// learns for up to maxTTL seconds. It trusts the key that our server has for com. It asks
// for each host: with aggressive-nsec it would answer for the wildcard itself, and not
// notice a change of servers.
func startCachingResolver(t *testing.T, ours string, maxTTL int, stubs ...stubZone) *peer.Daemon {
	t.Helper()
	key := ""
	for _, rr := range exchange(t, ask("com.", dns.TypeDNSKEY), ours).Answer {
		if k, ok := rr.(*dns.DNSKEY); ok {
			key = strings.ReplaceAll(k.String(), "\t", " ")
		}
	}
	insecure, zones := "", ""
	for _, z := range stubs {
		if z.unsigned {
			insecure += fmt.Sprintf("    domain-insecure: %q\n", z.name)
		}
		zones += fmt.Sprintf("stub-zone:\n    name: %s\n    stub-addr: %s\n", z.name, z.server)
	}
	return startUnbound(t, fmt.Sprintf(`
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
    aggressive-nsec: no
    cache-max-ttl: %d
    cache-max-negative-ttl: 1
    trust-anchor: "%s"
%sremote-control:
    control-enable: no
%s`, maxTTL, key, insecure, zones))
}

// startMoveResolver starts a resolver that asks the servers of a move.
func startMoveResolver(t *testing.T, ours string, maxTTL int) *peer.Daemon {
	t.Helper()
	return startCachingResolver(t, ours, maxTTL, stubZone{name: "com", server: tldServer}, stubZone{name: "example", server: hostsServer, unsigned: true})
}

// A timeline is what a resolver answered for the hosts of a zone, asked all the time.
type timeline struct {
	secure, insecure, bogus, failed atomic.Int64 // bogus: SERVFAIL; failed: without an answer

	last      atomic.Value // of string: the last address, with "+ad" if it was validated
	unchecked atomic.Bool  // asks without validation (CD), as for clients that validate themselves
}

func (l *timeline) run(zone, resolver string, done <-chan struct{}) {
	client := dns.Client{Timeout: 30 * time.Second}
	for asked := 0; ; asked++ {
		select {
		case <-done:
			return
		default:
		}
		m := new(dns.Msg).SetQuestion(fmt.Sprintf("h%d.%s", asked, zone), dns.TypeA) // another host each time: none is in the cache
		m.AuthenticatedData, m.CheckingDisabled = true, l.unchecked.Load()
		r, _, err := client.Exchange(m, resolver)
		switch {
		case err != nil:
			l.failed.Add(1)
		case r.Rcode == dns.RcodeServerFailure:
			l.bogus.Add(1)
		case len(r.Answer) > 0 && r.AuthenticatedData:
			l.secure.Add(1)
			l.last.Store(r.Answer[0].(*dns.A).A.String() + "+ad")
		case len(r.Answer) > 0:
			l.insecure.Add(1)
			l.last.Store(r.Answer[0].(*dns.A).A.String())
		}
	}
}

// watch asks until stop is called.
func watch(t *testing.T, resolver *peer.Daemon, zone string, unchecked bool) (seen *timeline, stop func()) {
	t.Helper()
	seen = &timeline{}
	seen.last.Store("")
	seen.unchecked.Store(unchecked)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); seen.run(zone, resolver.Addr.String(), done) }()
	return seen, func() { close(done); <-ended }
}

func (l *timeline) is(t *testing.T, want string) {
	t.Helper()
	waitFor(t, func() bool { return l.last.Load() == want })
}

// more waits for more answers.
func (l *timeline) more(t *testing.T, n int64) {
	t.Helper()
	count := func() int64 { return l.secure.Load() + l.insecure.Load() + l.bogus.Load() }
	before := count()
	waitFor(t, func() bool { return count() >= before+n })
}

// A moving is a signed name that moves to servers of others and back.
type moving struct {
	*node
	c    *client.Client
	ours string
	ttl  atomic.Uint32 // of the name servers in the parent
}

// openMoving sells moving.com, whose moves wait for that long.
func openMoving(t *testing.T, wait string) *moving {
	t.Helper()
	m := &moving{node: start(t, t.TempDir(), "DEED_LIMITS_REGISTER=1000", "DEED_LIMITS_DNS=100000", "DEED_DNS_PARENT_DS_TTL="+wait, "DEED_DNS_PARENT_NS_TTL="+wait)}
	m.c, m.ours = m.owner(t), m.sandbox(t).DNS
	ttl := 60
	sell(t, m.c, "moving.com", api.RecordRequest{Type: "A", Host: "*", Value: "192.0.2.1", TTL: &ttl})
	waitFor(t, func() bool { return m.inParent(t) })
	startParents(t, m.ours, func() referral {
		d, err := m.c.Domain(context.WithoutCancel(t.Context()), "moving.com")
		if err != nil {
			return referral{} // it is asked again
		}
		return referral{d.Nameservers, m.ttl.Load()}
	})
	return m
}

func (m *moving) inParent(t *testing.T) bool {
	for _, rr := range exchange(t, ask("moving.com.", dns.TypeDS), m.ours).Answer {
		if _, ok := rr.(*dns.DS); ok {
			return true
		}
	}
	return false
}

// out moves the name to others. Resolvers ask for its servers every second, but have the
// DS in their caches.
func (m *moving) out(t *testing.T) {
	t.Helper()
	m.ttl.Store(1)
	d, err := m.c.SetNameservers(t.Context(), "moving.com", "ns1.other.example", "ns2.other.example")
	if err != nil || len(d.DNSSEC.DS) != 0 || d.Delegation != nil && (d.Delegation.State != "withdrawing" || d.Nameservers[0] != "ns1.deed.example") {
		t.Fatalf("out: got %+v, %v, want the DS withdrawn first", d, err)
	}
}

// back moves it to the service again. Resolvers have the other servers in their caches.
func (m *moving) back(t *testing.T) {
	t.Helper()
	d, err := m.c.SetNameservers(t.Context(), "moving.com")
	if err != nil || d.Nameservers[0] != "ns1.deed.example" {
		t.Fatalf("back: got %+v, %v", d, err)
	}
}

// A signed name moves to servers of others and back. At no moment does a validating
// resolver with a cache treat it as bogus. Two resolvers ask: after the move, Unbound
// keeps for a minute that a name was insecure, so the way back is seen by one that has
// not validated it before.
func TestMoveNeverMakesANameBogus(t *testing.T) {
	m := openMoving(t, "8s")
	m.ttl.Store(1)
	first, second := startMoveResolver(t, m.ours, 3), startMoveResolver(t, m.ours, 3)
	seen, stop := watch(t, first, "moving.com.", false)
	seen.is(t, "192.0.2.1+ad")
	m.out(t)
	seen.is(t, "192.0.2.99")
	seen.more(t, 100)
	m.ttl.Store(3600) // up to the limit of the resolver's cache
	backSeen, backStop := watch(t, second, "moving.com.", true)
	backSeen.is(t, "192.0.2.99")
	if _, err := m.c.ForceDS(t.Context(), "moving.com", api.DS{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}); err != nil {
		t.Errorf("a DS of another server: %v", err)
	}
	if _, err := m.c.SetDS(t.Context(), "moving.com"); err != nil {
		t.Errorf("no DS: %v", err)
	}
	if d, err := m.c.SetNameservers(t.Context(), "moving.com"); err != nil || d.Delegation == nil || d.Delegation.State != "withdrawing" {
		t.Fatalf("back: got %+v, %v, want it to wait for the DS that was just removed", d, err)
	}
	waitFor(t, func() bool {
		d, err := m.c.Domain(t.Context(), "moving.com")
		return err == nil && d.Delegation != nil && d.Delegation.State == "settling"
	})
	waitFor(t, func() bool { return m.inParent(t) })
	backSeen.unchecked.Store(false)
	backSeen.is(t, "192.0.2.1+ad")
	seen.is(t, "192.0.2.1+ad") // after the minute
	stop()
	backStop()
	for what, l := range map[string]*timeline{"out and back": seen, "back": backSeen} {
		if l.bogus.Load()+l.failed.Load() > 0 {
			t.Errorf("%s: %d answers are bogus, %d failed", what, l.bogus.Load(), l.failed.Load())
		}
		t.Logf("%s: %d answers validated, %d insecure, %d bogus", what, l.secure.Load(), l.insecure.Load(), l.bogus.Load())
	}
	m.node.stop(t)
}

// Without the waits the same resolvers treat the name as bogus, out and back: the test
// above would notice.
func TestMoveWithoutWaitsIsBogus(t *testing.T) {
	m := openMoving(t, "0s")
	m.ttl.Store(1)
	first, second := startMoveResolver(t, m.ours, 120), startMoveResolver(t, m.ours, 120)
	seen, stop := watch(t, first, "moving.com.", false)
	seen.is(t, "192.0.2.1+ad")
	m.out(t)
	waitFor(t, func() bool { return seen.bogus.Load() > 0 })
	stop()
	waitFor(t, func() bool {
		d, err := m.c.Domain(t.Context(), "moving.com")
		return err == nil && d.Delegation == nil && d.Nameservers[0] == "ns1.other.example"
	})
	m.ttl.Store(3600)
	backSeen, backStop := watch(t, second, "moving.com.", true)
	backSeen.is(t, "192.0.2.99")
	m.back(t)
	waitFor(t, func() bool { return m.inParent(t) })
	backSeen.unchecked.Store(false)
	waitFor(t, func() bool { return backSeen.bogus.Load() > 0 })
	backStop()
	t.Logf("%d answers were bogus on the way out, %d on the way back", seen.bogus.Load(), backSeen.bogus.Load())
	m.node.stop(t)
}
