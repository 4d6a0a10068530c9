package dnssec_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// fromText parses a record in zone file format.
func fromText(t rapid.TB, line string) dnszone.RR {
	t.Helper()
	rr, err := dns.NewRR(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	buf := make([]byte, dns.MaxMsgSize)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	_, start, err := dns.UnpackDomainName(buf, 0)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	h := rr.Header()
	return dnszone.RR{Owner: strings.TrimSuffix(h.Name, "."), Type: h.Rrtype, TTL: h.Ttl, Data: string(buf[start+10 : end])}
}

// toLibrary converts the record to the type of the DNS library.
func toLibrary(t rapid.TB, rr dnszone.RR) dns.RR {
	t.Helper()
	buf := make([]byte, dns.MaxMsgSize)
	n, err := dns.PackDomainName(dns.Fqdn(rr.Owner), buf, 0, nil, false)
	if err != nil {
		t.Fatalf("%s: %v", rr.Owner, err)
	}
	buf = binary.BigEndian.AppendUint16(buf[:n], rr.Type)
	buf = binary.BigEndian.AppendUint16(buf, dns.ClassINET)
	buf = binary.BigEndian.AppendUint32(buf, rr.TTL)
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(rr.Data)))
	out, end, err := dns.UnpackRR(append(buf, rr.Data...), 0)
	if err != nil || end != len(buf)+len(rr.Data) {
		t.Fatalf("%s type %d: read %d bytes, %v", rr.Owner, rr.Type, end, err)
	}
	return out
}

// zoneFile returns the zone in zone file format.
func zoneFile(t rapid.TB, z dnssec.ServedZone) string {
	t.Helper()
	var b strings.Builder
	for _, rr := range z.RRs {
		fmt.Fprintln(&b, toLibrary(t, rr))
	}
	return b.String()
}

// compose returns the unsigned zone of these records.
func compose(t rapid.TB, origin string, serial uint32, rrs []dnszone.RR) dnssec.ServedZone {
	t.Helper()
	z, err := dnssec.Compose(dnssec.Composition{
		Origin: origin, Serial: serial,
		SOA:     dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"),
		Servers: []string{"ns1.example.net", "ns2.example.net"},
		RRs:     rrs,
	})
	if err != nil {
		t.Fatalf("compose: %v", err)
	}
	return z
}

// zoneKey returns the first key of a zone.
func zoneKey(t rapid.TB, origin string) dnssec.Key {
	t.Helper()
	key, err := dnssec.DeriveKey(testMaster, origin, 0)
	if err != nil {
		t.Fatalf("derive: %v", err)
	}
	return key
}

// sign returns the signed zone.
func sign(t rapid.TB, prev, next dnssec.ServedZone, now time.Time) dnssec.ServedZone {
	t.Helper()
	z, err := dnssec.Sign(prev, next, dnssec.Signing{Keys: []dnssec.Key{zoneKey(t, next.Origin)}, Now: now})
	if err != nil {
		t.Fatalf("sign: %v", err)
	}
	return z
}

// randomLabels are similar, so that a wrong order is detected.
var randomLabels = []string{"a", "a-b", "ab", "_a", "b", "www", "xn--bcher-kva", "9"}

// randomHosts draws owners up to three labels below example.com.
func randomHosts(t *rapid.T) []string {
	host := rapid.Custom(func(t *rapid.T) string {
		labels := rapid.SliceOfN(rapid.SampledFrom(randomLabels), 1, 3).Draw(t, "labels")
		if rapid.IntRange(0, 5).Draw(t, "wildcard") == 0 {
			labels[0] = "*"
		}
		return strings.Join(labels, ".") + ".example.com"
	})
	return rapid.SliceOfNDistinct(host, 0, 12, rapid.ID).Draw(t, "hosts")
}

// randomRecords draws the records of a zone: plain hosts, wildcards, aliases,
// delegations with and without DS, and records below them; there are empty
// non-terminals in between.
func randomRecords(t *rapid.T) []dnszone.RR {
	rrs := zoneKey(t, "example.com").Announce()
	rrs = append(rrs, randomPlain(t, "example.com")...)
	for _, owner := range randomHosts(t) {
		kinds := []string{"plain", "plain", "alias", "delegation", "secure"}
		if strings.HasPrefix(owner, "*.") {
			kinds = kinds[:3] // a wildcard cannot be delegated
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "plain":
			rrs = append(rrs, randomPlain(t, owner)...)
		case "alias":
			rrs = append(rrs, fromText(t, owner+". 300 CNAME www.example.org."))
		case "secure":
			rrs = append(rrs, fromText(t, owner+". 600 DS 4711 13 2 "+strings.Repeat("0a", 32)))
			fallthrough
		case "delegation":
			rrs = append(rrs, fromText(t, owner+". 600 NS "+owner+"."), fromText(t, owner+". 900 NS ns.example.org."),
				fromText(t, owner+". 600 A 192.0.2.53"))
		}
	}
	return rrs
}

// randomPlain draws some records that can coexist.
func randomPlain(t *rapid.T, owner string) []dnszone.RR {
	lines := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"300 A 192.0.2.1", "60 A 192.0.2.2", "300 AAAA 2001:db8::1", "300 MX 10 mail.example.com.",
		`300 TXT "some text"`, `900 TXT "other text" "in two parts"`, `300 CAA 0 issue "ca.example"`,
		"300 SRV 1 2 443 www.example.com.", "300 HTTPS 1 . alpn=h2",
	}), 1, 4, rapid.ID).Draw(t, "plain")
	var rrs []dnszone.RR
	for _, line := range lines {
		rrs = append(rrs, fromText(t, owner+". "+line))
	}
	return rrs
}

// An rrset identifies a record set in these tests.
type rrset struct {
	owner string
	kind  uint16
}

// rrsets returns the records of a zone by owner and type.
func rrsets(rrs []dnszone.RR) map[rrset][]dnszone.RR {
	out := map[rrset][]dnszone.RR{}
	for _, rr := range rrs {
		id := rrset{rr.Owner, rr.Type}
		out[id] = append(out[id], rr)
	}
	return out
}

// standing says whether an owner's records are "authoritative", at a "cut", or
// "below" one, in a second, simple implementation.
func standing(z dnssec.ServedZone, owner string) string {
	found := "authoritative"
	for _, rr := range z.RRs {
		if rr.Type != dns.TypeNS || rr.Owner == z.Origin {
			continue
		}
		if strings.HasSuffix(owner, "."+rr.Owner) {
			return "below"
		}
		if owner == rr.Owner {
			found = "cut"
		}
	}
	return found
}

// reversed returns the labels of a name from the right; compared one by one,
// they give the canonical order.
func reversed(name string) []string {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	return labels
}

// Serials go on at zero after the largest.
func TestNewerSerial(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		want bool
	}{{2, 1, true}, {1, 1, false}, {1, 2, false}, {0, 1<<32 - 1, true}, {5, 1<<32 - 5, true}, {1<<32 - 5, 5, false}} {
		if got := dnssec.NewerSerial(c.a, c.b); got != c.want {
			t.Errorf("NewerSerial(%d, %d) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
