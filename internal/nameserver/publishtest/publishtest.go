// Package publishtest is the conformance suite of dnssec.Publisher, for the
// embedded name server and for any backend that publishes zones to external
// servers.
package publishtest

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// An Env is a fresh publisher and a server that serves what is published.
type Env struct {
	Publisher dnssec.Publisher
	Server    netip.AddrPort // over UDP and TCP
}

// Run runs the suite. open returns a fresh environment for each case.
func Run(t *testing.T, open func(t *testing.T) Env) {
	for name, f := range map[string]func(*testing.T, Env){

		"serves all published records":            all,
		"a new zone replaces the old one":         replaces,
		"a serial that is not newer is ignored":   ignoresOld,
		"serials wrap around":                     wrapsAround,
		"any serial is new after withdrawal":      withdraws,
		"withdrawing an unknown zone is no error": withdrawsUnknown,
		"the input is not modified":               leavesInput,
		"concurrent publishing keeps the newest":  raced,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

const origin = "example.com"

func all(t *testing.T, b Env) {
	z := Zone(t, origin, 1,
		"@ 300 NS ns1.example.net.",
		"www 300 A 192.0.2.1",
		"www 300 A 192.0.2.2",
		"www 60 AAAA 2001:db8::1",
		"@ 300 MX 10 mail.example.com.",
		`@ 300 TXT "v=spf1 -all" "second string"`,
		"alias 300 CNAME www.example.com.",
		"_sip._tcp 300 SRV 1 2 5060 www.example.com.",
		`@ 300 CAA 0 issue "ca.example.net"`,
	)
	b.publish(t, z)
	for _, rr := range z.RRs {
		var want []string
		for _, other := range z.RRs {
			if other.Owner == rr.Owner && other.Type == rr.Type {
				want = append(want, text(t, other))
			}
		}
		slices.Sort(want)
		if got := b.ask(t, rr.Owner, rr.Type); !slices.Equal(got, want) {
			t.Errorf("%s %s: got %q, want %q", rr.Owner, dns.TypeToString[rr.Type], got, want)
		}
	}
}

func replaces(t *testing.T, b Env) {
	b.publish(t, numbered(t, 1))
	b.publish(t, Zone(t, origin, 2, "@ 300 NS ns1.example.net.", "other 300 A 192.0.2.9"))
	b.wantNumber(t, 0)
	if got := b.ask(t, "other."+origin, dns.TypeA); len(got) != 1 {
		t.Errorf("the new name: got %q, want its record", got)
	}
}

func ignoresOld(t *testing.T, b Env) {
	b.publish(t, numbered(t, 7))
	for _, old := range []uint32{7, 6, 1} {
		z := numbered(t, old)
		z.RRs = slices.DeleteFunc(z.RRs, func(rr dnszone.RR) bool { return rr.Type == dns.TypeTXT })
		b.publish(t, z)
		b.wantNumber(t, 7)
	}
}

func wrapsAround(t *testing.T, b Env) {
	for _, serial := range []uint32{1<<32 - 1, 5} {
		b.publish(t, numbered(t, serial))
		b.wantNumber(t, serial)
	}
	b.publish(t, numbered(t, 1<<32-1))
	b.wantNumber(t, 5)
}

func withdraws(t *testing.T, b Env) {
	b.publish(t, numbered(t, 7))
	if err := b.Publisher.Withdraw(t.Context(), origin); err != nil {
		t.Fatal(err)
	}
	if m := b.exchange(t, origin, dns.TypeSOA); m.Rcode == dns.RcodeSuccess || m.Authoritative {
		t.Errorf("after withdrawal: got %s, aa %v, want no authoritative answer", dns.RcodeToString[m.Rcode], m.Authoritative)
	}
	b.publish(t, numbered(t, 3))
	b.wantNumber(t, 3)
}

func withdrawsUnknown(t *testing.T, b Env) {
	for range 2 {
		if err := b.Publisher.Withdraw(t.Context(), origin); err != nil {
			t.Error(err)
		}
	}
}

func leavesInput(t *testing.T, b Env) {
	z := numbered(t, 1)
	before := slices.Clone(z.RRs)
	b.publish(t, z)
	if !slices.Equal(z.RRs, before) {
		t.Errorf("the records were changed")
	}
	clear(z.RRs) // the caller may reuse the slice
	b.wantNumber(t, 1)
}

func raced(t *testing.T, b Env) {
	const last = 64
	var wg sync.WaitGroup
	for serial := uint32(1); serial <= last; serial++ {
		z := numbered(t, serial)
		wg.Go(func() {
			if err := b.Publisher.Publish(t.Context(), z); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b.wantNumber(t, last)
}

// Zone parses a zone from zone file lines in which "@" is the origin and owners are
// relative to it. The SOA is added.
func Zone(t testing.TB, origin string, serial uint32, lines ...string) dnssec.ServedZone {
	t.Helper()
	soa := fmt.Sprintf("@ 3600 SOA ns1.example.net. hostmaster.example.net. %d 3600 600 1209600 300", serial)
	file := "$ORIGIN " + dns.Fqdn(origin) + "\n" + strings.Join(append([]string{soa}, lines...), "\n") + "\n"
	z := dnssec.ServedZone{Origin: origin, Serial: serial}
	parser := dns.NewZoneParser(strings.NewReader(file), dns.Fqdn(origin), "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		z.RRs = append(z.RRs, FromLibrary(t, rr))
	}
	if err := parser.Err(); err != nil {
		t.Fatal(err)
	}
	return z
}

// FromLibrary converts a record of the DNS library.
func FromLibrary(t testing.TB, rr dns.RR) dnszone.RR {
	t.Helper()
	buf := make([]byte, dns.Len(rr)+256)
	n, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	h := rr.Header()
	return dnszone.RR{
		Owner: strings.ToLower(strings.TrimSuffix(h.Name, ".")),
		Type:  h.Rrtype,
		TTL:   h.Ttl,
		Data:  string(buf[n-int(h.Rdlength) : n]),
	}
}

// numbered is a zone with its serial in a TXT record.
func numbered(t *testing.T, serial uint32) dnssec.ServedZone {
	return Zone(t, origin, serial, "@ 300 NS ns1.example.net.", fmt.Sprintf("number 300 TXT %d", serial))
}

func (b Env) publish(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	if err := b.Publisher.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
}

// wantNumber fails unless the server serves the zone of this serial; 0 is a zone
// without a number.
func (b Env) wantNumber(t *testing.T, serial uint32) {
	t.Helper()
	var want []string
	if serial != 0 {
		want = []string{fmt.Sprintf("number.%s.\t300\tIN\tTXT\t\"%d\"", origin, serial)}
	}
	if got := b.ask(t, "number."+origin, dns.TypeTXT); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// ask returns the records of a response as sorted text.
func (b Env) ask(t *testing.T, name string, typ uint16) []string {
	t.Helper()
	var records []string
	for _, rr := range b.exchange(t, name, typ).Answer {
		records = append(records, rr.String())
	}
	slices.Sort(records)
	return records
}

func (b Env) exchange(t *testing.T, name string, typ uint16) *dns.Msg {
	t.Helper()
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), typ).SetEdns0(1232, false)
	answer, err := dns.ExchangeContext(context.WithoutCancel(t.Context()), m, b.Server.String())
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// text returns the record in zone file format.
func text(t *testing.T, rr dnszone.RR) string {
	t.Helper()
	name := make([]byte, 256)
	n, err := dns.PackDomainName(dns.Fqdn(rr.Owner), name, 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	wire := append(name[:n], byte(rr.Type>>8), byte(rr.Type), 0, 1,
		byte(rr.TTL>>24), byte(rr.TTL>>16), byte(rr.TTL>>8), byte(rr.TTL), byte(len(rr.Data)>>8), byte(len(rr.Data)))
	parsed, _, err := dns.UnpackRR(append(wire, rr.Data...), 0)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.String()
}
