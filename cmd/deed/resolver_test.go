package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/api"
	"deed.example/deed/internal/nameserver/peer"
)

// A stranger stands between a resolver and our servers: it changes the addresses
// of what it passes on, and answers for elsewhere.com itself, unsigned.
func stranger(t *testing.T, ours string) (port int) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := func(w dns.ResponseWriter, q *dns.Msg) {
		if name := strings.ToLower(q.Question[0].Name); dns.IsSubDomain("elsewhere.com.", name) {
			r := new(dns.Msg).SetReply(q)
			r.Authoritative = true
			rr, err := dns.NewRR("www.elsewhere.com. 60 IN A 192.0.2.99")
			if err == nil && name == rr.Header().Name && q.Question[0].Qtype == dns.TypeA {
				r.Answer = append(r.Answer, rr)
			}
			w.WriteMsg(r) // who does not get it asks again
			return
		}
		r, err := dns.Exchange(q, ours)
		if err != nil {
			return // it is asked again
		}
		for _, rr := range r.Answer {
			if a, ok := rr.(*dns.A); ok {
				a.A = net.IPv4(192, 0, 2, 66)
			}
		}
		w.WriteMsg(r) // likewise
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(answer), NotifyStartedFunc: func() { close(started) }}
	go server.ActivateAndServe() // until the test ends
	<-started
	t.Cleanup(func() { server.Shutdown() }) // it ends with the test anyway
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// startResolver starts an Unbound that trusts the key of com as our server shows
// it, and knows where to ask.
func startResolver(t *testing.T, ours string) *peer.Daemon {
	t.Helper()
	key := ""
	for _, rr := range exchange(t, ask("com.", dns.TypeDNSKEY), ours).Answer {
		if k, ok := rr.(*dns.DNSKEY); ok {
			key = strings.ReplaceAll(k.String(), "\t", " ")
		}
	}
	if key == "" {
		t.Fatal("com has no key")
	}
	_, port, err := net.SplitHostPort(ours)
	if err != nil {
		t.Fatal(err)
	}
	other := stranger(t, ours)
	conf := fmt.Sprintf(`
server:
    directory: "{dir}"
    chroot: ""
    username: ""
    pidfile: "{dir}/pid"
    use-syslog: no
    verbosity: 2
    num-threads: 1
    interface: 127.0.0.1
    port: {port}
    do-ip6: no
    do-not-query-localhost: no
    module-config: "validator iterator"
    trust-anchor: "%s"
remote-control:
    control-enable: no
stub-zone:
    name: com
    stub-addr: 127.0.0.1@%s
stub-zone:
    name: tampered.com
    stub-addr: 127.0.0.1@%d
stub-zone:
    name: elsewhere.com
    stub-addr: 127.0.0.1@%d
`, key, port, other, other)
	return startUnbound(t, conf)
}

// startUnbound runs Unbound with the configuration.
func startUnbound(t *testing.T, conf string) *peer.Daemon {
	t.Helper()
	return alongside(t, func(dir string) (*peer.Daemon, error) {
		unbound, err := peer.NewDaemon("unbound", "unbound", dir)
		if err != nil {
			return nil, err
		}
		if err := unbound.Write("unbound.conf", conf); err != nil {
			return nil, err
		}
		return unbound, unbound.Start("-d", "-p", "-c", "{dir}/unbound.conf")
	})
}

// A validating resolver that trusts a sandbox's TLD finds our names secure, down
// to the proof that a name is not there; it refuses what was changed on the way,
// and a name that is delegated elsewhere is insecure, and not bogus.
func TestResolverValidatesSandboxNames(t *testing.T) {
	n := start(t, t.TempDir(), "DEED_LIMITS_REGISTER=1000")
	c, ours := n.owner(t), n.sandbox(t).DNS
	domains := []string{"secure.com", "tampered.com", "elsewhere.com"}
	for _, domain := range domains {
		sell(t, c, domain, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.1"}, api.RecordRequest{Type: "TXT", Host: "*.wild", Value: "any"})
	}
	inParent := func(domain string) bool {
		r := exchange(t, ask(domain+".", dns.TypeDS), ours)
		for _, rr := range r.Answer {
			if _, ok := rr.(*dns.DS); ok {
				return true
			}
		}
		return false
	}
	for _, domain := range domains { // the chain ties them to com by itself
		waitFor(t, func() bool { return inParent(domain) })
	}
	if _, err := c.SetNameservers(t.Context(), "elsewhere.com", "ns1.example.net", "ns2.example.net"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return !inParent("elsewhere.com") })
	resolver := startResolver(t, ours)
	for _, tt := range []struct {
		name   string
		qtype  uint16
		rcode  int
		secure bool
	}{
		{"www.secure.com.", dns.TypeA, dns.RcodeSuccess, true},
		{"www.secure.com.", dns.TypeAAAA, dns.RcodeSuccess, true}, // there is none, and that is proved
		{"x.wild.secure.com.", dns.TypeTXT, dns.RcodeSuccess, true},
		{"missing.secure.com.", dns.TypeA, dns.RcodeNameError, true},
		{"secure.com.", dns.TypeDS, dns.RcodeSuccess, true},
		{"unsold.com.", dns.TypeA, dns.RcodeNameError, true},
		{"x.wild.tampered.com.", dns.TypeTXT, dns.RcodeSuccess, true}, // nobody changed this one
		{"www.tampered.com.", dns.TypeA, dns.RcodeServerFailure, false},
		{"www.elsewhere.com.", dns.TypeA, dns.RcodeSuccess, false},
	} {
		m := ask(tt.name, tt.qtype)
		m.RecursionDesired = true
		r := exchange(t, m, resolver.Addr.String())
		if r.Rcode != tt.rcode || r.AuthenticatedData != tt.secure {
			t.Errorf("%s %s: got %s, secure %t, want %s, %t", tt.name, dns.TypeToString[tt.qtype],
				dns.RcodeToString[r.Rcode], r.AuthenticatedData, dns.RcodeToString[tt.rcode], tt.secure)
		}
	}
	if _, err := c.SetNameservers(t.Context(), "elsewhere.com"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return inParent("elsewhere.com") }) // back with us, and tied again
	n.stop(t)
}
