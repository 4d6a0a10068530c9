package nameserver_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/publishtest"
)

// Zones in which everything is beside, above and below everything else: CNAMEs that lead
// through wildcards and DNAMEs, names without records below wildcards, signed and unsigned
// delegations, names as long as they may be and longer, and labels of any bytes in the
// questions.
func TestHardZonesAreServedLikeByKnot(t *testing.T) { compareHardZones(t, "knot", 10, 2500) }
func TestHardZonesAreServedLikeByNSD(t *testing.T)  { compareHardZones(t, "nsd", 10, 2500) }
func TestHardZonesAreServedLikeByBIND(t *testing.T) { compareHardZones(t, "bind", 10, 2500) }

func compareHardZones(t *testing.T, name string, zones, questions int) {
	r := rand.New(rand.NewPCG(3, uint64(questions)))
	served, files := generatedZones(t, zones, func(i int, signed bool) dnssec.ServedZone {
		return hardZone(t, r, deed.Name(fmt.Sprintf("hard%d.com", i)), signed)
	})
	g := newGenerator(r, served)
	g.exact = 5
	g.labels = append(g.labels, hardLabels...)
	g.labels = append(g.labels, `\000`, `\001`, `\255`, `\.`, `a\.b`, `\@`, "**", "a*", longLabel)
	g.long = []string{longLabel, "a", "long", strings.Repeat("m", 31)}
	g.types = []uint16{
		dns.TypeA, dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeCNAME, dns.TypeDNAME, dns.TypeNS, dns.TypeDS, dns.TypeSOA, dns.TypeNSEC, dns.TypeDNSKEY,
		dns.TypeANY, dns.TypeRRSIG, dns.TypeSRV, 1234, 65280,
	}
	codes := compareAnswers(t, peerTest{name: name, zones: served, files: files, generator: g, questions: questions})
	for _, kind := range []string{"positive", "empty", "no such name", "referral", "name too long"} {
		if codes[kind] == 0 {
			t.Errorf("no response was %s: the queries do not cover enough", kind)
		}
	}
}

var (
	hardLabels = []string{"a", "b", "c", "_u", "x1"}
	longLabel  = strings.Repeat("l", 63)
)

// hardZone returns a zone of random records, as far as they can coexist.
func hardZone(t *testing.T, r *rand.Rand, name deed.Name, signed bool) dnssec.ServedZone {
	t.Helper()
	z := dnszone.Zone{Name: name, Serial: 1}
	host := func() string {
		labels := make([]string, 1+r.IntN(4))
		for i := range labels {
			labels[i] = hardLabels[r.IntN(len(hardLabels))]
		}
		if r.IntN(20) == 0 {
			labels[0] = longLabel
		}
		if r.IntN(4) == 0 {
			labels[0] = "*"
		}
		return strings.Join(labels, ".")
	}
	target := func() string {
		switch r.IntN(8) {
		case 0:
			return "host.example.net"
		case 1:
			return strings.Repeat(longLabel+".", 2) + host0(host()) + "." + string(name)
		}
		return host0(host()) + "." + string(name)
	}
	for i := range 60 + r.IntN(100) {
		rec := dnszone.Record{Type: []string{"A", "AAAA", "TXT", "MX", "CNAME", "CNAME", "CNAME", "DNAME", "NS", "DS", "SRV", "TYPE1234"}[r.IntN(12)], Host: host(), TTL: 60 + r.IntN(9)}
		if (rec.Type == "NS" || rec.Type == "DNAME") && r.IntN(3) > 0 {
			continue // or all else would be below them
		}
		switch rec.Type {
		case "A":
			rec.Value = fmt.Sprintf("192.0.2.%d", i%256)
		case "AAAA":
			rec.Value = fmt.Sprintf("2001:db8::%x", i)
		case "TXT":
			rec.Value = strings.Repeat("t", 1+r.IntN(300))
		case "MX":
			rec.Value, rec.Distance = strings.ReplaceAll(target(), "_u", "u"), &i
		case "SRV":
			rec.Value = "1 2 3 " + strings.ReplaceAll(target(), "_u", "u")
		case "DS":
			rec.Value = "1 13 2 " + strings.Repeat("ab", 32)
		case "TYPE1234":
			rec.Value = fmt.Sprintf(`\# 2 %04x`, i)
		case "NS":
			rec.Value = strings.ReplaceAll(target(), "_u", "u")
		default:
			rec.Value = target()
		}
		rec.ID = dnszone.RecordID(fmt.Sprint("r", i))
		if next, err := z.Add(rec); err == nil {
			z = next
		}
		if ds := (dnszone.Record{ID: rec.ID + "d", Type: "DS", Host: rec.Host, Value: "1 13 2 " + strings.Repeat("cd", 32), TTL: 60}); rec.Type == "NS" && r.IntN(2) == 0 {
			if next, err := z.Add(ds); err == nil {
				z = next
			}
		}
	}
	p := dnssec.Publishing{
		SOA: dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"), Servers: []string{"ns1.example.net", "ns2.example.net"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}
	how := dnssec.Serving{Now: time.Now()}
	if signed {
		how.Keys = []dnssec.KeyID{{Generation: 1}}
	}
	served, err := p.Serve(z, dnssec.ServedZone{}, how)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// host0 returns a host that a wildcard matches, for a wildcard.
func host0(host string) string { return strings.Replace(host, "*", "y", 1) }

// DNAMEs that redirect a name twice are once in the answer (RFC 2181, 5), with their
// signatures.
func TestDNAMEIsOnceInAnAnswer(t *testing.T) {
	server := serve(t, config())
	z := publishtest.Zone(t, "twice.test", 1, "@ 300 NS ns.example.net.", "u.a 300 DNAME u.b", "u.b 300 DNAME a", "y.a 300 A 192.0.2.1")
	if err := server.Publish(t.Context(), newSigner(t, "twice.test").sign(t, z)); err != nil {
		t.Fatal(err)
	}
	r := newClient(t, server.Addr().String()).ask(t, question{name: "y.u.u.a.twice.test.", typ: dns.TypeA, edns: 4096, do: true, tcp: true})
	kinds := map[uint16]int{}
	for _, rr := range r.Answer {
		kinds[rr.Header().Rrtype]++
	}
	if r.Rcode != dns.RcodeSuccess || repeats(r.Answer) || kinds[dns.TypeDNAME] != 2 || kinds[dns.TypeCNAME] != 4 || kinds[dns.TypeA] != 1 || kinds[dns.TypeRRSIG] != 3 {
		t.Errorf("got %v", r)
	}
}
