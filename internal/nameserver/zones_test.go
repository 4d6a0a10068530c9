package nameserver_test

import (
	"crypto"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/nameserver/publishtest"
)

// testZone is a zone with one example of everything that affects responses.
var testZone = []string{
	"@ 300 NS ns1",
	"@ 300 NS ns.example.net.",
	"@ 300 MX 10 mail",
	"@ 300 MX 20 mail.example.net.",
	`@ 300 TXT "v=spf1 -all"`,
	"@ 300 A 192.0.2.1",
	"ns1 300 A 192.0.2.53",
	"ns1 300 AAAA 2001:db8::53",
	"mail 300 A 192.0.2.25",
	"www 60 A 192.0.2.80",
	"www 60 A 192.0.2.81",
	"www 60 TYPE65280 \\# 4 01020304",
	// Empty non-terminals: leaf exists, and so do all between it and the apex.
	"leaf.of.a.deep.tree 300 A 192.0.2.2",
	"_443._tcp.www 300 TLSA 3 1 1 " + strings.Repeat("ab", 32),
	// Wildcards: with a sibling, a name below, and a deeper wildcard.
	"*.wild 300 A 192.0.2.3",
	`*.wild 300 TXT "wild"`,
	`*.wild 300 MX 10 mail`,
	"tame.wild 300 A 192.0.2.4",
	"below.known.wild 300 A 192.0.2.5",
	"*.deeper.wild 300 CNAME www",
	"*.away 300 CNAME www.example.net.",
	"*.nowhere 300 CNAME missing",
	// Delegations: glue below the cut, elsewhere in the zone, and outside of it.
	"sub 300 NS ns.sub",
	"sub 300 NS ns2.sub",
	"ns.sub 300 A 192.0.2.54",
	"ns2.sub 300 AAAA 2001:db8::54",
	"sub2 300 NS ns.sub",
	"sub2 300 NS ns1",
	"sub2 300 NS ns.example.net.",
	"far 300 NS ns.example.net.",
	"deep.er.cut 300 NS ns.deep.er.cut",
	"ns.deep.er.cut 300 A 192.0.2.55",
	// CNAME chains: simple, through a wildcard, out of the zone, to a missing name,
	// to a cut, and a loop.
	"c1 300 CNAME c2", "c2 300 CNAME c3", "c3 300 CNAME www",
	"cw 300 CNAME any.wild",
	"cd 300 CNAME any.deeper.wild",
	"out 300 CNAME www.example.net.",
	"lost 300 CNAME missing.tree",
	"empty 300 CNAME deep.tree",
	"cut1 300 CNAME www.sub",
	"apex 300 CNAME @",
	"loop1 300 CNAME loop2", "loop2 300 CNAME loop1",
	// Other types.
	"_sip._tcp 300 SRV 1 2 5060 www",
	"@ 300 CAA 0 issue \"ca.example.net\"",
	"svc 300 HTTPS 1 . alpn=h2",
	"under_score 300 SSHFP 1 1 " + strings.Repeat("cd", 20),
	"ptr 300 PTR www",
}

// big adds sets that are too large for a datagram of 512 bytes, or for any datagram.
func big() []string {
	lines := slices.Clone(testZone)
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("forty 300 A 198.51.100.%d", i))
	}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("many 300 A 198.51.100.%d", i))
	}
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("text 300 TXT %q", strings.Repeat(string(rune('a'+i)), 200)))
	}
	return append(lines, "bigalias 300 CNAME many", "*.bigwild 300 CNAME many",
		"types 300 LOC 52 31 12.3 N 13 24 36.1 E 34m", `types 300 URI 10 1 "https://www.example.com/"`, "types 300 OPENPGPKEY aGVsbG8=", "types 300 SMIMEA 3 0 0 abcdef",
		"types 300 SSHFP 4 2 "+strings.Repeat("ab", 32), "types 300 TLSA 3 1 1 "+strings.Repeat("ab", 32), `types 300 CAA 0 issue "ca.example.net"`,
		`types 300 NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:a@b!" .`, "types 300 SRV 1 2 3 www", "types 300 PTR www", `types 300 HTTPS 1 . alpn="h2,h3"`, `types 300 SVCB 1 www port="8443"`,
		"types 300 AAAA 2001:db8::1", "types 300 A 192.0.2.1", "types 300 MX 10 www", `types 300 TXT "one" "two"`, `types 300 TYPE65280 \# 3 abcdef`, "types 300 HINFO a b",
		"old 300 DNAME new", "old 300 TXT beside", "www.new 300 A 192.0.2.80", "*.w.new 300 A 192.0.2.81", "c.new 300 CNAME x.old", "sub.new 300 NS ns.example.net.",
		"outd 300 DNAME example.net.", "todname 300 CNAME www.old", "*.wdname 300 CNAME www.old",
		"longd 300 DNAME "+strings.Repeat("abcdefghijklmnopqrstuvwxyz012345678901234567890123456789012.", 4)+"example.net.")
}

// random returns a zone of random records at names made of few labels, so that most
// names are ancestors or descendants of others.
func random(r *rand.Rand) []string {
	labels := []string{"a", "b", "c", "*", "x1"}
	name := func() string {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, labels[r.IntN(len(labels))])
		}
		for i := 1; i < len(parts); i++ {
			if parts[i] == "*" {
				parts[i] = "b" // a wildcard is the left-most label
			}
		}
		return strings.Join(parts, ".")
	}
	lines, cnames := []string{"@ 300 NS ns.example.net."}, map[string]bool{}
	kinds := map[string]string{}
	for i := range 4 + r.IntN(20) {
		host := name()
		kind := []string{"A", "A", "AAAA", "TXT", "MX", "CNAME", "NS"}[r.IntN(7)]
		wildcard := strings.HasPrefix(host, "*")
		if cnames[host] || kind == "CNAME" && kinds[host] != "" || kind == "NS" && wildcard {
			continue
		}
		cnames[host], kinds[host] = kind == "CNAME", kind
		lines = append(lines, fmt.Sprintf("%s 300 %s %s", host, kind, map[string]string{
			"A":     fmt.Sprintf("192.0.2.%d", i),
			"AAAA":  fmt.Sprintf("2001:db8::%d", i),
			"TXT":   fmt.Sprintf("text%d", i),
			"MX":    fmt.Sprintf("%d %s", i, strings.TrimPrefix(name(), "*.")),
			"CNAME": strings.ReplaceAll(name(), "*", "y"),
			"NS":    strings.ReplaceAll(name(), "*", "y"),
		}[kind]))
	}
	return lines
}

// file returns the zone in zone file format.
func file(t testing.TB, z dnssec.ServedZone) peer.Zone {
	t.Helper()
	var b strings.Builder
	for _, rr := range z.RRs {
		// Knot does not parse numeric classes, which the library writes for unknown types.
		fmt.Fprintln(&b, strings.Replace(toLibrary(t, rr).String(), "\tCLASS1\t", "\tIN\t", 1))
	}
	return peer.Zone{Origin: z.Origin, File: b.String()}
}

func zoneOf(t testing.TB, origin string, lines []string) dnssec.ServedZone {
	t.Helper()
	return publishtest.Zone(t, origin, 1, lines...)
}

func toLibrary(t testing.TB, rr dnszone.RR) dns.RR {
	t.Helper()
	out, _, err := dns.UnpackRR(packed(t, rr), 0)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func packed(t testing.TB, rr dnszone.RR) []byte {
	t.Helper()
	buf := make([]byte, 256, 512)
	n, err := dns.PackDomainName(dns.Fqdn(rr.Owner), buf, 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	buf = append(buf[:n], byte(rr.Type>>8), byte(rr.Type), 0, 1, byte(rr.TTL>>24), byte(rr.TTL>>16), byte(rr.TTL>>8), byte(rr.TTL))
	return append(append(buf, byte(len(rr.Data)>>8), byte(len(rr.Data))), rr.Data...)
}

// A signer is a simple, slow implementation of zone signing (RFC 4035, 2).
type signer struct {
	key     *dns.DNSKEY
	private crypto.Signer
}

func newSigner(t testing.TB, origin string) *signer {
	t.Helper()
	key := &dns.DNSKEY{Hdr: dns.RR_Header{Name: dns.Fqdn(origin), Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 300}, Flags: 257, Protocol: 3, Algorithm: dns.ECDSAP256SHA256}
	private, err := key.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{key, private.(crypto.Signer)}
}

// sign returns the zone with its key, NSEC records and signatures.
func (s *signer) sign(t testing.TB, z dnssec.ServedZone) dnssec.ServedZone {
	t.Helper()
	type node struct {
		name string
		sets map[uint16][]dns.RR
	}
	var nodes []*node
	add := func(rr dns.RR) {
		i := slices.IndexFunc(nodes, func(n *node) bool { return n.name == rr.Header().Name })
		if i < 0 {
			i = len(nodes)
			nodes = append(nodes, &node{rr.Header().Name, map[uint16][]dns.RR{}})
		}
		nodes[i].sets[rr.Header().Rrtype] = append(nodes[i].sets[rr.Header().Rrtype], rr)
	}
	for _, rr := range z.RRs {
		add(toLibrary(t, rr))
	}
	add(s.key)
	apex := dns.Fqdn(z.Origin)
	slices.SortFunc(nodes, func(a, b *node) int { return canonical(a.name, b.name) })
	cut := func(n *node) bool { return n.name != apex && n.sets[dns.TypeNS] != nil }
	nodes = slices.DeleteFunc(nodes, func(n *node) bool { // names below a cut are not signed
		return slices.ContainsFunc(nodes, func(c *node) bool { return cut(c) && c.name != n.name && dns.IsSubDomain(c.name, n.name) })
	})
	for i, n := range nodes {
		nsec := &dns.NSEC{Hdr: dns.RR_Header{Name: n.name, Rrtype: dns.TypeNSEC, Class: dns.ClassINET, Ttl: 300}, NextDomain: nodes[(i+1)%len(nodes)].name, TypeBitMap: []uint16{dns.TypeNSEC, dns.TypeRRSIG}}
		for typ := range n.sets {
			if !cut(n) || typ == dns.TypeNS || typ == dns.TypeDS {
				nsec.TypeBitMap = append(nsec.TypeBitMap, typ)
			}
		}
		slices.Sort(nsec.TypeBitMap)
		n.sets[dns.TypeNSEC] = []dns.RR{nsec}
		z.RRs = append(z.RRs, publishtest.FromLibrary(t, nsec))
		for typ, set := range n.sets {
			if !cut(n) || typ == dns.TypeDS || typ == dns.TypeNSEC {
				z.RRs = append(z.RRs, publishtest.FromLibrary(t, s.signature(t, apex, set)))
			}
		}
	}
	z.RRs = append(z.RRs, publishtest.FromLibrary(t, s.key))
	return z
}

func (s *signer) signature(t testing.TB, apex string, set []dns.RR) *dns.RRSIG {
	t.Helper()
	sig := &dns.RRSIG{Algorithm: s.key.Algorithm, SignerName: apex, KeyTag: s.key.KeyTag(), Inception: 1_700_000_000, Expiration: 2_100_000_000}
	sig.Hdr.Ttl = set[0].Header().Ttl
	if err := sig.Sign(s.private, set); err != nil {
		t.Fatal(err)
	}
	return sig
}

// canonical compares names in canonical order (RFC 4034, 6.1).
func canonical(a, b string) int {
	x, y := dns.SplitDomainName(a), dns.SplitDomainName(b)
	slices.Reverse(x)
	slices.Reverse(y)
	return slices.Compare(x, y)
}
