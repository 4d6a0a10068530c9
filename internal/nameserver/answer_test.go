package nameserver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/nameserver/publishtest"
)

// ask sends a message over UDP or TCP and returns the response.
func ask(t testing.TB, s *nameserver.Server, network string, m *dns.Msg) *dns.Msg {
	t.Helper()
	c := dns.Client{Net: network, UDPSize: 65535}
	answer, _, err := c.ExchangeContext(context.WithoutCancel(t.Context()), m, s.Addr().String())
	if err != nil {
		t.Fatalf("%v: %v", m.Question, err)
	}
	return answer
}

func query(name string, typ uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(dns.Fqdn(name), typ)
}

// summary formats a response in one line: code, flags, and the sections' records
// without TTL, sorted.
func summary(m *dns.Msg) string {
	parts := []string{dns.RcodeToString[m.Rcode]}
	for flag, set := range map[string]bool{"aa": m.Authoritative, "tc": m.Truncated, "ra": m.RecursionAvailable} {
		if set {
			parts = append(parts, flag)
		}
	}
	slices.Sort(parts[1:])
	for i, section := range [][]dns.RR{m.Answer, m.Ns, m.Extra} {
		var records []string
		for _, rr := range section {
			if rr.Header().Rrtype != dns.TypeOPT {
				fields := strings.Fields(rr.String())
				data := strings.Join(fields[3:], " ") // after owner, TTL and class
				records = append(records, strings.TrimSuffix(fields[0], ".hotel.test.")+" "+data)
			}
		}
		if len(records) > 0 {
			slices.Sort(records)
			parts = append(parts, []string{"an", "ns", "ar"}[i]+"["+strings.Join(records, "; ")+"]")
		}
	}
	return strings.Join(parts, " ")
}

const soa = "ns[hotel.test. SOA ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300]"

func TestAnswers(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	for _, c := range []struct{ name, typ, want string }{
		{"www", "A", "NOERROR aa an[www A 192.0.2.80; www A 192.0.2.81]"},
		{"www", "MX", "NOERROR aa " + soa},
		{"missing", "A", "NXDOMAIN aa " + soa},
		{"deep.tree", "A", "NOERROR aa " + soa},
		{"x.deep.tree", "A", "NXDOMAIN aa " + soa},
		{"any.wild", "A", "NOERROR aa an[any.wild A 192.0.2.3]"},
		{"two.labels.wild", "A", "NOERROR aa an[two.labels.wild A 192.0.2.3]"},
		{"any.wild", "AAAA", "NOERROR aa " + soa},
		{"tame.wild", "TXT", "NOERROR aa " + soa},
		{"x.tame.wild", "A", "NXDOMAIN aa " + soa},
		{"known.wild", "A", "NOERROR aa " + soa},
		{"x.known.wild", "A", "NXDOMAIN aa " + soa},
		{"c1", "AAAA", "NOERROR aa an[c1 CNAME c2.hotel.test.; c2 CNAME c3.hotel.test.; c3 CNAME www.hotel.test.] " + soa},
		{"c1", "A", "NOERROR aa an[c1 CNAME c2.hotel.test.; c2 CNAME c3.hotel.test.; c3 CNAME www.hotel.test.; www A 192.0.2.80; www A 192.0.2.81]"},
		{"c1", "CNAME", "NOERROR aa an[c1 CNAME c2.hotel.test.]"},
		{"out", "A", "NOERROR aa an[out CNAME www.example.net.]"},
		{"lost", "A", "NXDOMAIN aa an[lost CNAME missing.tree.hotel.test.] " + soa},
		{"loop1", "A", "NOERROR aa an[loop1 CNAME loop2.hotel.test.; loop2 CNAME loop1.hotel.test.]"},
		{"apex", "A", "NOERROR aa an[apex CNAME hotel.test.; hotel.test. A 192.0.2.1]"},
		{"host.sub", "A", "NOERROR ns[sub NS ns.sub.hotel.test.; sub NS ns2.sub.hotel.test.] ar[ns.sub A 192.0.2.54; ns2.sub AAAA 2001:db8::54]"},
		{"sub", "NS", "NOERROR ns[sub NS ns.sub.hotel.test.; sub NS ns2.sub.hotel.test.] ar[ns.sub A 192.0.2.54; ns2.sub AAAA 2001:db8::54]"},
		{"ns.sub", "A", "NOERROR ns[sub NS ns.sub.hotel.test.; sub NS ns2.sub.hotel.test.] ar[ns.sub A 192.0.2.54; ns2.sub AAAA 2001:db8::54]"},
		{"sub", "DS", "NOERROR aa " + soa},
		{"x.far", "A", "NOERROR ns[far NS ns.example.net.]"},
		{"cut1", "A", "NOERROR aa an[cut1 CNAME www.sub.hotel.test.] ns[sub NS ns.sub.hotel.test.; sub NS ns2.sub.hotel.test.] ar[ns.sub A 192.0.2.54; ns2.sub AAAA 2001:db8::54]"},
		{"www", "TYPE65280", `NOERROR aa an[www TYPE65280 \# 4 01020304]`},
		{"www", "ANY", `NOERROR aa an[www TYPE65280 \# 4 01020304]`},
		{"c1", "ANY", "NOERROR aa an[c1 CNAME c2.hotel.test.]"},
		{"missing", "ANY", "NXDOMAIN aa " + soa},
		{"www", "AXFR", "REFUSED"},
		{"www", "IXFR", "REFUSED"},
		{"www.hotel.test.example.org.", "A", "REFUSED"},
		{"test.", "NS", "REFUSED"},
		{".", "NS", "REFUSED"},
	} {
		typ, known := dns.StringToType[c.typ]
		if !known {
			typ = 65280
		}
		name := c.name
		if !strings.HasSuffix(name, ".") {
			name += ".hotel.test."
		}
		for _, network := range []string{"udp", "tcp"} {
			if got := summary(ask(t, s, network, query(name, typ))); got != c.want {
				t.Errorf("%s %s over %s: got %s, want %s", name, c.typ, network, got, c.want)
			}
		}
	}
}

func TestNegativeTTL(t *testing.T) {
	s := serve(t, config())
	for _, c := range []struct{ ttl, minimum, want uint32 }{{3600, 300, 300}, {60, 300, 60}} {
		z := publishtest.Zone(t, fmt.Sprintf("ttl%d.test", c.ttl), 1, "@ 300 NS ns.example.net.")
		z.RRs[0].TTL = c.ttl
		if err := s.Publish(t.Context(), z); err != nil {
			t.Fatal(err)
		}
		m := ask(t, s, "udp", query("missing."+z.Origin, dns.TypeA))
		if got := m.Ns[0].Header().Ttl; got != c.want {
			t.Errorf("SOA TTL %d, minimum %d: got %d, want %d", c.ttl, c.minimum, got, c.want)
		}
		m = ask(t, s, "udp", query(z.Origin, dns.TypeSOA))
		if got := m.Answer[0].Header().Ttl; got != c.ttl {
			t.Errorf("the SOA itself: got TTL %d, want %d", got, c.ttl)
		}
	}
}

func TestFlagsAndCase(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	m := query("wWw.HoTeL.tEsT", dns.TypeA)
	for _, rd := range []bool{false, true} {
		m.RecursionDesired, m.CheckingDisabled, m.AuthenticatedData = rd, true, true
		got := ask(t, s, "udp", m)
		if got.RecursionDesired != rd || got.RecursionAvailable || got.CheckingDisabled || got.AuthenticatedData || got.Zero {
			t.Errorf("rd %v: got flags %+v", rd, got.MsgHdr)
		}
		if got.Question[0] != m.Question[0] || got.Answer[0].Header().Name != "wWw.HoTeL.tEsT." {
			t.Errorf("the case of the query was not preserved: got %v", got)
		}
	}
}

func TestEDNS(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	for _, c := range []struct {
		version uint8
		do      bool
		want    int
	}{{0, false, dns.RcodeSuccess}, {0, true, dns.RcodeSuccess}, {1, false, dns.RcodeBadVers}, {255, true, dns.RcodeBadVers}} {
		m := query("www.hotel.test", dns.TypeA).SetEdns0(4096, c.do)
		m.IsEdns0().SetVersion(c.version)
		got := ask(t, s, "udp", m)
		opt := got.IsEdns0()
		if opt == nil || opt.Version() != 0 || opt.Do() != c.do || opt.UDPSize() != 1232 || got.Rcode != c.want {
			t.Errorf("version %d, do %v: got %v", c.version, c.do, got)
		}
	}
	if got := ask(t, s, "udp", query("www.hotel.test", dns.TypeA)); got.IsEdns0() != nil {
		t.Errorf("a query without EDNS: got %v", got)
	}
}

func TestTruncation(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", big()...)
	for _, c := range []struct {
		name string
		size uint16 // 0 is without EDNS
		want bool
	}{
		{"forty", 0, true}, {"forty", 100, true}, {"forty", 512, true}, {"forty", 1232, false}, {"forty", 65535, false},
		{"many", 0, true}, {"many", 1232, true}, {"many", 65535, true}, {"bigalias", 4096, true}, {"x.bigwild", 4096, true},
		{"www", 0, false},
	} {
		m := query(c.name+".hotel.test", dns.TypeA)
		if c.size > 0 {
			m.SetEdns0(c.size, false)
		}
		got := ask(t, s, "udp", m)
		if got.Truncated != c.want {
			t.Errorf("%s at %d: truncated %v, want %v", c.name, c.size, got.Truncated, c.want)
		}
		if c.want && len(got.Answer)+len(got.Ns) > 0 {
			t.Errorf("%s at %d: got %d records with the truncation", c.name, c.size, len(got.Answer))
		}
		if got := ask(t, s, "tcp", m); got.Truncated || len(got.Answer) == 0 {
			t.Errorf("%s over TCP: got %v, want all", c.name, got)
		}
	}
}

// Without the addresses below a cut its servers are unreachable, so the response is
// truncated if they do not fit; others are added as far as they fit (RFC 9471, 3).
func TestGlueTruncation(t *testing.T) {
	cfg := config()
	s := serve(t, cfg)
	lines := []string{"@ 300 NS ns.example.net."}
	for i := range 16 {
		for _, at := range []string{"below", "beside"} {
			host := fmt.Sprintf("n%d.%s", i, map[string]string{"below": "below", "beside": "other"}[at])
			lines = append(lines, at+" 300 NS "+host, fmt.Sprintf("%s 300 AAAA 2001:db8::%d", host, i))
		}
	}
	publish(t, s, "hotel.test", lines...)
	if m := ask(t, s, "udp", query("x.below.hotel.test", dns.TypeA)); !m.Truncated {
		t.Errorf("glue below the cut: got %v, want it truncated", m)
	}
	m := ask(t, s, "udp", query("x.beside.hotel.test", dns.TypeA))
	if m.Truncated || len(m.Ns) != 16 || len(m.Extra) == 0 || len(m.Extra) == 16 {
		t.Errorf("glue beside the cut: got %v, want some of it", m)
	}
	if m := ask(t, s, "tcp", query("x.below.hotel.test", dns.TypeA)); len(m.Extra) != 16 {
		t.Errorf("over TCP: got %d addresses, want 16", len(m.Extra))
	}
}

// With a parent and its child on one server, the parent answers for the DS, the
// child for everything else.
func TestParentAndChild(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", "@ 300 NS ns.example.net.", "kid 300 NS ns.example.net.", "kid 300 DS 1 13 2 "+strings.Repeat("ab", 32))
	publish(t, s, "kid.hotel.test", "@ 300 NS ns.example.net.", "www 300 A 192.0.2.1")
	for _, c := range []struct{ name, typ, want string }{
		{"kid.hotel.test", "DS", "NOERROR aa an[kid DS 1 13 2 " + strings.Repeat("AB", 32) + "]"},
		{"www.kid.hotel.test", "A", "NOERROR aa an[www.kid A 192.0.2.1]"},
		{"hotel.test", "DS", "NOERROR aa " + soa},
		{"www.kid.hotel.test", "DS", "NOERROR aa ns[kid SOA ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300]"},
	} {
		if got := summary(ask(t, s, "udp", query(c.name, dns.StringToType[c.typ]))); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.name, c.typ, got, c.want)
		}
	}
}

// Of nested zones, the one with the longest origin answers; the root is a zone like
// any other, and a name of maximum length is valid.
func TestNestedZones(t *testing.T) {
	s := serve(t, config())
	longest := strings.Repeat("a.", 121) + "hotel.test" // 254 characters with the trailing dot
	for _, origin := range []string{"hotel.test", "", "test", "b.hotel.test"} {
		publish(t, s, origin, "@ 300 NS ns.example.net.", fmt.Sprintf("@ 300 TXT %q", "I am "+origin), "* 300 A 192.0.2.1")
	}
	for name, want := range map[string]string{"": "", "test": "test", "hotel.test": "hotel.test", "b.hotel.test": "b.hotel.test"} {
		m := ask(t, s, "udp", query(name, dns.TypeTXT))
		if len(m.Answer) != 1 || m.Answer[0].(*dns.TXT).Txt[0] != "I am "+want {
			t.Errorf("%q: got %v", name, m)
		}
	}
	for name, want := range map[string]string{"example.org": ".", "x.test": "test.", "x.hotel.test": "hotel.test.", "a.x.b.hotel.test": "b.hotel.test.", longest: "hotel.test."} {
		m := ask(t, s, "udp", query(name, dns.TypeMX))
		if len(m.Ns) != 1 || m.Ns[0].Header().Name != want {
			t.Errorf("%q: got %v, want the SOA of %q", name, m, want)
		}
	}
	if err := s.Withdraw(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if m := ask(t, s, "udp", query("example.org", dns.TypeA)); m.Rcode != dns.RcodeRefused {
		t.Errorf("without the root: got %v", m)
	}
}

func TestPublishRefuses(t *testing.T) {
	s := serve(t, config())
	good := publishtest.Zone(t, "hotel.test", 1, "@ 300 NS ns.example.net.")
	with := func(rrs ...dnszone.RR) dnssec.ServedZone {
		z := good
		z.RRs = append(slices.Clone(z.RRs), rrs...)
		return z
	}
	for name, z := range map[string]dnssec.ServedZone{
		"nothing":                     {Origin: "hotel.test", Serial: 1},
		"no SOA":                      {Origin: "hotel.test", Serial: 1, RRs: good.RRs[1:]},
		"another zone's SOA":          {Origin: "other.test", Serial: 1, RRs: good.RRs},
		"two SOAs":                    with(good.RRs[0]),
		"an empty label":              {Origin: "hotel..test", Serial: 1, RRs: good.RRs},
		"an owner outside":            with(dnszone.RR{Owner: "www.example.com", Type: dns.TypeA, Data: "\x01\x02\x03\x04"}),
		"an owner at a suffix":        with(dnszone.RR{Owner: "myhotel.test", Type: dns.TypeA, Data: "\x01\x02\x03\x04"}),
		"an unterminated name":        with(dnszone.RR{Owner: "hotel.test", Type: dns.TypeNS, Data: "\x03www"}),
		"a compressed name":           with(dnszone.RR{Owner: "hotel.test", Type: dns.TypeNS, Data: "\xc0\x0c"}),
		"an MX of one byte":           with(dnszone.RR{Owner: "hotel.test", Type: dns.TypeMX, Data: "\x00"}),
		"two CNAMEs":                  with(dnszone.RR{Owner: "a.hotel.test", Type: dns.TypeCNAME, Data: "\x00"}, dnszone.RR{Owner: "a.hotel.test", Type: dns.TypeCNAME, Data: "\x01a\x00"}),
		"two DNAMEs":                  with(dnszone.RR{Owner: "a.hotel.test", Type: dns.TypeDNAME, Data: "\x00"}, dnszone.RR{Owner: "a.hotel.test", Type: dns.TypeDNAME, Data: "\x01a\x00"}),
		"a set larger than a message": with(dnszone.RR{Owner: "a.hotel.test", Type: dns.TypeTXT, Data: strings.Repeat("\x01a", 32767)}),
	} {
		if err := s.Publish(t.Context(), z); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if _, ok := s.Serial("hotel.test"); ok {
		t.Error("something was published")
	}
}
