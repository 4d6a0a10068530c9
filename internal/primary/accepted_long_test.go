//go:build long && unix

package primary_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// Whatever data is accepted in the generic form, of every type, each kind of secondary
// transfers, and serves as it is: one that knows a type better than we do would refuse the
// whole zone, or give the data another meaning.
func TestFleetTakesWhatIsAccepted(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	r := rand.New(rand.NewPCG(1, 2))
	var zones []dnssec.ServedZone
	var origins []string
	for code := range 65536 {
		if code > 300 && code < 32765 || code > 32775 && code < 65275 || slices.Contains([]int{2, 5, 39, 43, 257}, code) { // NS, CNAME, DNAME and DS change their zone, and the library cannot pack every CAA
			continue
		}
		if z := zoneOfType(t, r, code); len(z.RRs) > 2 { // besides SOA and NS
			h.add(t, z.Origin, fmt.Sprint("m", code))
			h.zones[z.Origin].snapshots = []dnssec.ServedZone{z}
			zones, origins = append(zones, z), append(origins, z.Origin)
		}
	}
	fleet := []*secondary{knot.start(t, h), bind.start(t, h), nsd.start(t, h, origins...), powerDNS.start(t, h)}
	n := h.notifier(t, fleet...)
	for _, z := range zones {
		publish(t, n, z)
	}
	for _, z := range zones {
		for _, s := range fleet {
			s.awaitSerial(t, z)
			s.sameZone(t, z)
		}
	}
	t.Logf("%d types", len(zones))
}

// All kinds of secondaries redirect the names below a DNAME, and answer for names of any
// bytes.
func TestFleetAnswersForAnyName(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	z := h.add(t, "example.com", "m1", "old.example.com. 60 IN DNAME new.example.com.", "www.new.example.com. 60 IN A 192.0.2.1")
	for _, s := range []*secondary{knot.start(t, h), bind.start(t, h), nsd.start(t, h, "example.com"), powerDNS.start(t, h)} {
		s.awaitSerial(t, z)
		r, err := dns.Exchange(question("www.old.example.com.", dns.TypeA), s.addr)
		if err != nil || len(r.Answer) != 3 {
			t.Errorf("%s: got %v, %v, want a DNAME, a CNAME and an A", s.name, r, err)
		}
		r, err = dns.Exchange(question(`\255\.\000.example.com.`, dns.TypeA), s.addr)
		if err != nil || r.Rcode != dns.RcodeNameError {
			t.Errorf("%s: got %v, %v, want no such name", s.name, r, err)
		}
	}
}

// zoneOfType returns a zone with records of one type whose data is random, as far as they are
// accepted.
func zoneOfType(t *testing.T, r *rand.Rand, code int) dnssec.ServedZone {
	t.Helper()
	z := dnszone.Zone{Name: deed.Name(fmt.Sprintf("type%d.com", code)), Serial: 100}
	for i := range 200 {
		data := make([]byte, []int{1, 2, 3, 4, 5, 6, 8, 10, 16, 20, 24, 33, 64, 100}[i%14])
		for j := range data {
			data[j] = byte(r.UintN(256) >> r.UintN(9)) // small numbers are more often valid lengths
		}
		record := dnszone.Record{ID: dnszone.RecordID(fmt.Sprint("r", i)), Type: fmt.Sprint("TYPE", code), Host: fmt.Sprint("h", i), Value: fmt.Sprintf(`\# %d %x`, len(data), data)}
		if next, err := z.Add(record); err == nil {
			z = next
		}
	}
	p := dnssec.Publishing{SOA: dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"), Servers: []string{"ns1.example.net"}}
	served, err := p.Serve(z, dnssec.ServedZone{}, dnssec.Serving{})
	if err != nil {
		t.Fatal(err)
	}
	return served
}
