package nameserver_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/peer"
)

// Zones with random records of every type, every second one signed, are served as Knot,
// NSD and BIND serve them.
func TestRandomTypesAreServedLikeByKnot(t *testing.T) { compareRandomTypes(t, "knot", 4, 4000) }
func TestRandomTypesAreServedLikeByNSD(t *testing.T)  { compareRandomTypes(t, "nsd", 4, 4000) }
func TestRandomTypesAreServedLikeByBIND(t *testing.T) { compareRandomTypes(t, "bind", 4, 4000) }

func compareRandomTypes(t *testing.T, name string, zones, questions int) {
	r := &recordGenerator{Rand: rand.New(rand.NewPCG(2, uint64(questions)))}
	served, files := generatedZones(t, zones, func(i int, signed bool) dnssec.ServedZone {
		return r.zone(t, deed.Name(fmt.Sprintf("types%d.com", i)), signed)
	})
	types := map[uint16]bool{}
	for _, z := range served {
		for _, rr := range z.RRs {
			types[rr.Type] = true
		}
	}
	for _, want := range dnszone.TypeNames() {
		if code, ok := dns.StringToType[want]; ok && !types[code] {
			t.Errorf("no zone has a record of type %s", want)
		}
	}
	for _, typ := range askedTypes {
		types[typ] = true
	}
	delete(types, dns.TypeRRSIG) // each server chooses which ones it sends (RFC 8482, 7)
	g := newGenerator(r.Rand, served)
	g.exact = 3
	g.types = slices.Sorted(maps.Keys(types))
	compareAnswers(t, peerTest{name: name, zones: served, files: files, generator: g, questions: questions})
}

// generatedZones returns zones, every second one signed, and their files for other servers.
func generatedZones(t *testing.T, n int, generate func(i int, signed bool) dnssec.ServedZone) (served []dnssec.ServedZone, files []peer.Zone) {
	t.Helper()
	for i := range n {
		z := generate(i, i%2 == 1)
		served, files = append(served, z), append(files, genericFile(t, z))
	}
	return served, files
}

// genericFile is like file, with all data but that of the SOA in the form of RFC 3597:
// the servers do not agree on how to write every type, and the types in an NSEC.
func genericFile(t *testing.T, z dnssec.ServedZone) peer.Zone {
	t.Helper()
	var b strings.Builder
	for _, rr := range z.RRs {
		if rr.Type == dns.TypeSOA {
			fmt.Fprintln(&b, toLibrary(t, rr).String())
			continue
		}
		fmt.Fprintf(&b, "%s %d IN TYPE%d \\# %d %s\n", dns.Fqdn(rr.Owner), rr.TTL, rr.Type, len(rr.Data), hex.EncodeToString([]byte(rr.Data)))
	}
	return peer.Zone{Origin: z.Origin, File: b.String()}
}

// A recordGenerator generates records of all types.
type recordGenerator struct{ *rand.Rand }

// zone returns a zone with records of every type at a few hosts, as far as they can
// coexist.
func (r *recordGenerator) zone(t *testing.T, name deed.Name, signed bool) dnssec.ServedZone {
	t.Helper()
	z := dnszone.Zone{Name: name, Serial: 1}
	kinds := append(dnszone.TypeNames(), "TYPE", "TYPE", "TYPE")
	for i := range 8 * len(kinds) {
		rec := dnszone.Record{ID: dnszone.RecordID(fmt.Sprint("r", i)), Type: kinds[i%len(kinds)], TTL: 60 + r.IntN(1000)}
		rec.Host = r.host(rec.Type)
		if rec.Type == "TYPE" {
			rec.Type = fmt.Sprintf("TYPE%d", []int{r.IntN(300), 65280 + r.IntN(200)}[r.IntN(2)])
		}
		rec.Value = r.value(rec.Type, name)
		if rec.Type == "MX" {
			preference := r.IntN(100)
			rec.Distance = &preference
		}
		rec, err := rec.Canonical(name)
		if err != nil {
			continue // such as a malformed record of a known type
		}
		if next, err := z.Add(rec); err == nil {
			z = next
		}
	}
	p := dnssec.Publishing{
		SOA: dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"), Servers: []string{"ns1.example.net", "ns2.example.net"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Redirect: []netip.Addr{netip.MustParseAddr("192.0.2.80")},
	}
	how := dnssec.Serving{Now: time.Now()}
	for _, rec := range z.Records {
		if rec.Type == dnszone.TypeAlias {
			how.Aliases = append(how.Aliases, dnszone.Alias{Host: rec.Host, Target: rec.Value, TTL: 60, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("2001:db8::9")}})
		}
	}
	if signed {
		how.Keys = []dnssec.KeyID{{Generation: 1}}
	}
	served, err := p.Serve(z, dnssec.ServedZone{}, how)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// host returns a host made of few labels, so that many records share one. Few hosts are
// delegated or have a DNAME, so that not all others are below them.
func (r *recordGenerator) host(typ string) string {
	switch {
	case typ == "NS" || typ == "DS":
		return []string{"cut", "cut.a", "cut.b.a"}[r.IntN(3)]
	case typ == "DNAME":
		return []string{"dname", "dname.a", "cut.b"}[r.IntN(3)]
	case r.IntN(8) == 0:
		return "@"
	case r.IntN(30) == 0:
		return "below.cut"
	}
	labels := make([]string, 1+r.IntN(3))
	for i := range labels {
		labels[i] = []string{"a", "b", "c", "d", "_x", "x1"}[r.IntN(6)]
	}
	if r.IntN(6) == 0 {
		labels[0] = "*"
	}
	return strings.Join(labels, ".")
}

// target returns a name in the zone or elsewhere.
func (r *recordGenerator) target(zone deed.Name) string {
	host := strings.NewReplacer("*", "y", "_", "u").Replace(r.host([]string{"A", "A", "NS", "DNAME"}[r.IntN(4)]))
	switch {
	case r.IntN(3) == 0:
		return "host.example.net"
	case host == "@":
		return string(zone)
	}
	return host + "." + string(zone)
}

func (r *recordGenerator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.UintN(256) >> r.UintN(8)) // small numbers are more often valid lengths
	}
	return b
}

func (r *recordGenerator) hex(n int) string { return hex.EncodeToString(r.bytes(n)) }

// value returns a value of the type.
func (r *recordGenerator) value(typ string, zone deed.Name) string {
	n := func() int { return r.IntN(65536) }
	switch typ {
	case "A":
		return fmt.Sprintf("192.0.2.%d", r.IntN(256))
	case "AAAA":
		return fmt.Sprintf("2001:db8::%x", n())
	case "CNAME", "DNAME", "NS", "PTR", "MX", dnszone.TypeAlias:
		return r.target(zone)
	case "TXT":
		return strings.Repeat(string(rune('a'+r.IntN(26))), 1+r.IntN(600))
	case "SRV":
		return fmt.Sprintf("%d %d %d %s", n(), n(), n(), r.target(zone))
	case "CAA":
		return fmt.Sprintf(`0 issue "ca%d.example.net"`, n())
	case "HTTPS", "SVCB":
		return fmt.Sprintf("%d %s alpn=h2,h3 port=%d", 1+n()/2, r.target(zone), n())
	case "TLSA", "SMIMEA":
		return fmt.Sprintf("%d %d 1 %s", r.IntN(4), r.IntN(2), r.hex(32))
	case "SSHFP":
		return "4 2 " + r.hex(32)
	case "DS":
		return fmt.Sprintf("%d 13 2 %s", n(), r.hex(32))
	case "NAPTR":
		return fmt.Sprintf(`%d %d "u" "E2U+sip" "!^.*$!sip:a%d@example.net!" .`, n(), n(), n())
	case "LOC":
		return fmt.Sprintf("%d %d %d.%d N 13 24 36.1 E %dm", r.IntN(90), r.IntN(60), r.IntN(60), r.IntN(1000), r.IntN(9000))
	case "URI":
		return fmt.Sprintf(`%d %d "https://example.net/%d"`, n(), n(), n())
	case "OPENPGPKEY":
		return base64.StdEncoding.EncodeToString(r.bytes(1 + r.IntN(900)))
	case dnszone.TypeForward:
		return "https://example.net/"
	}
	b := r.bytes(1 + r.IntN(100))
	return fmt.Sprintf(`\# %d %x`, len(b), b)
}
