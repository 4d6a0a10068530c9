// Package publishtest is the suite that every dnssec.Publisher passes: the server
// in the process, and whatever brings zones to servers elsewhere.
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

// A Bench is a fresh publisher and a server that answers with what it was given.
type Bench struct {
	Publisher dnssec.Publisher
	Server    netip.AddrPort // over UDP and TCP
}

// Run runs the suite. open returns a fresh bench for each case.
func Run(t *testing.T, open func(t *testing.T) Bench) {
	for name, f := range map[string]func(*testing.T, Bench){
		"answers with all that was published":  all,
		"a new zone takes the old one's place": replaces,
		"a serial that is not newer is old":    ignoresOld,
		"serials go round":                     goesRound,
		"any serial is new after withdrawal":   withdraws,
		"withdrawing nothing is no error":      withdrawsNothing,
		"what is handed in stays as it is":     leavesInput,
		"the newest wins when raced":           raced,
	} {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
}

const origin = "example.com"

func all(t *testing.T, b Bench) {
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

func replaces(t *testing.T, b Bench) {
	b.publish(t, numbered(t, 1))
	b.publish(t, Zone(t, origin, 2, "@ 300 NS ns1.example.net.", "other 300 A 192.0.2.9"))
	b.wantNumber(t, 0)
	if got := b.ask(t, "other."+origin, dns.TypeA); len(got) != 1 {
		t.Errorf("the new name: got %q, want its record", got)
	}
}

func ignoresOld(t *testing.T, b Bench) {
	b.publish(t, numbered(t, 7))
	for _, old := range []uint32{7, 6, 1} {
		z := numbered(t, old)
		z.RRs = slices.DeleteFunc(z.RRs, func(rr dnszone.RR) bool { return rr.Type == dns.TypeTXT })
		b.publish(t, z)
		b.wantNumber(t, 7)
	}
}

func goesRound(t *testing.T, b Bench) {
	for _, serial := range []uint32{1<<32 - 1, 5} {
		b.publish(t, numbered(t, serial))
		b.wantNumber(t, serial)
	}
	b.publish(t, numbered(t, 1<<32-1))
	b.wantNumber(t, 5)
}

func withdraws(t *testing.T, b Bench) {
	b.publish(t, numbered(t, 7))
	if err := b.Publisher.Withdraw(t.Context(), origin); err != nil {
		t.Fatal(err)
	}
	if m := b.exchange(t, origin, dns.TypeSOA); m.Rcode == dns.RcodeSuccess || m.Authoritative {
		t.Errorf("after withdrawal: got %s, aa %v, want no answer of ours", dns.RcodeToString[m.Rcode], m.Authoritative)
	}
	b.publish(t, numbered(t, 3))
	b.wantNumber(t, 3)
}

func withdrawsNothing(t *testing.T, b Bench) {
	for range 2 {
		if err := b.Publisher.Withdraw(t.Context(), origin); err != nil {
			t.Error(err)
		}
	}
}

func leavesInput(t *testing.T, b Bench) {
	z := numbered(t, 1)
	before := slices.Clone(z.RRs)
	b.publish(t, z)
	if !slices.Equal(z.RRs, before) {
		t.Errorf("the records were changed")
	}
	clear(z.RRs) // the slice is ours again
	b.wantNumber(t, 1)
}

func raced(t *testing.T, b Bench) {
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

// Zone makes a zone from lines of a master file in which "@" is the origin and
// owners are relative to it. The SOA is added.
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

// FromLibrary translates a record of the DNS library into ours.
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

// numbered is a zone that shows its serial as text at one name.
func numbered(t *testing.T, serial uint32) dnssec.ServedZone {
	return Zone(t, origin, serial, "@ 300 NS ns1.example.net.", fmt.Sprintf("number 300 TXT %d", serial))
}

func (b Bench) publish(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	if err := b.Publisher.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
}

// wantNumber fails unless the server answers with the zone of this serial; 0 is
// a zone without a number.
func (b Bench) wantNumber(t *testing.T, serial uint32) {
	t.Helper()
	var want []string
	if serial != 0 {
		want = []string{fmt.Sprintf("number.%s.\t300\tIN\tTXT\t\"%d\"", origin, serial)}
	}
	if got := b.ask(t, "number."+origin, dns.TypeTXT); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// ask returns the records of an answer as sorted text.
func (b Bench) ask(t *testing.T, name string, typ uint16) []string {
	t.Helper()
	var records []string
	for _, rr := range b.exchange(t, name, typ).Answer {
		records = append(records, rr.String())
	}
	slices.Sort(records)
	return records
}

func (b Bench) exchange(t *testing.T, name string, typ uint16) *dns.Msg {
	t.Helper()
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), typ).SetEdns0(1232, false)
	answer, err := dns.ExchangeContext(context.WithoutCancel(t.Context()), m, b.Server.String())
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// text returns our record as the library writes it.
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
