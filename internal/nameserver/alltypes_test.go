package nameserver_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/peer"
)

// everyType has a record of every type that a zone can have.
func everyType() []dnszone.Record {
	digest := strings.Repeat("ab", 32)
	ten := 10
	return []dnszone.Record{
		{Type: "ALIAS", Host: "@", Value: "host.example.net"}, {Type: "FORWARD", Host: "go", Value: "https://example.net/"},
		{Type: "A", Host: "a", Value: "192.0.2.1"}, {Type: "AAAA", Host: "a", Value: "2001:db8::1"}, {Type: "CNAME", Host: "cname", Value: "a.types.com"},
		{Type: "MX", Host: "@", Value: "mail.example.net", Distance: &ten}, {Type: "TXT", Host: "@", Value: `"two" "strings"`}, {Type: "TXT", Host: "*.wild", Value: "any"},
		{Type: "NS", Host: "sub", Value: "ns.example.net"}, {Type: "DS", Host: "sub", Value: "1 13 2 " + digest}, {Type: "SRV", Host: "_sip._udp", Value: "10 20 5060 a.types.com"},
		{Type: "CAA", Host: "@", Value: `0 issue "ca.example.net"`}, {Type: "HTTPS", Host: "a", Value: "1 . alpn=h2,h3 port=8443"}, {Type: "SVCB", Host: "a", Value: "0 b.example.net"},
		{Type: "TLSA", Host: "_443._tcp", Value: "3 1 1 " + digest}, {Type: "SSHFP", Host: "a", Value: "4 2 " + digest}, {Type: "PTR", Host: "1", Value: "a.types.com"},
		{Type: "NAPTR", Host: "n", Value: `10 20 "u" "E2U+sip" "!^.*$!sip:a@example.net!" .`}, {Type: "LOC", Host: "a", Value: "52 31 12.3 N 13 24 36.1 E 34m"},
		{Type: "URI", Host: "_http._tcp", Value: `10 1 "https://example.net/"`}, {Type: "OPENPGPKEY", Host: "_openpgpkey", Value: "bWFya2Vy"}, {Type: "SMIMEA", Host: "_smime", Value: "3 0 1 " + digest},
		{Type: "DNAME", Host: "moved", Value: "example.net"}, {Type: "TYPE17", Host: "rp", Value: `\# 2 0000`}, {Type: "TYPE65280", Host: "private", Value: `\# 4 c0000201`},
	}
}

// A zone with every type, unsigned and signed, is served as Knot, NSD and BIND serve it:
// every owner is asked for every type, over UDP and TCP, with and without DNSSEC.
func TestEveryTypeIsServedLikeByOthers(t *testing.T) {
	z := dnszone.Zone{Name: "types.com", Serial: 1}
	missing := dnszone.TypeNames()
	for i, r := range everyType() {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == r.Type })
		r.ID, r.TTL = dnszone.RecordID(fmt.Sprint("r", i)), 300
		next, err := z.Add(r)
		if err != nil {
			t.Fatalf("%s: %v", r.Type, err)
		}
		z = next
	}
	if len(missing) > 0 {
		t.Errorf("no record of %v", missing)
	}
	file := dnszone.FormatZone(z, []string{"ns1.example.net"})
	if back, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: z.Name, Text: strings.NewReader(file)}); err != nil || len(back) != len(z.Records) {
		t.Errorf("%d of %d records come back from a zone file: %v", len(back), len(z.Records), err)
	}
	p := dnssec.Publishing{
		SOA: dnssec.NewSOA("ns1.example.net", "hostmaster.example.net"), Servers: []string{"ns1.example.net", "ns2.example.net"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Redirect: []netip.Addr{netip.MustParseAddr("192.0.2.80")},
	}
	how := dnssec.Serving{Now: time.Now(), Aliases: []dnszone.Alias{{Host: "@", Target: "host.example.net", TTL: 60, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.9")}}}}
	for _, keys := range [][]dnssec.KeyID{nil, {{Generation: 1}}, {{Generation: 2}, {Generation: 1}}} { // the last is during a key roll
		how.Keys = keys
		served, err := p.Serve(z, dnssec.ServedZone{}, how)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"knot", "nsd", "bind"} {
			n, skipped := compareTypes(t, name, served)
			t.Logf("%s, %d keys: %d questions, %d agree, %d differ as the standards permit", name, len(keys), n, n-skipped, skipped)
		}
	}
}

// compareTypes returns how many questions were compared, and how many answers differ in
// permitted ways.
func compareTypes(t *testing.T, name string, z dnssec.ServedZone) (asked, permitted int) {
	t.Helper()
	server := serve(t, config())
	if err := server.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
	other, err := peer.Start(name, t.TempDir(), []peer.Zone{file(t, z)})
	if errors.Is(err, peer.ErrMissing) {
		t.Log(err)
		return 0, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Stop(); err != nil {
			t.Error(err)
		}
	}()
	a, b := newClient(t, server.Addr().String()), newClient(t, other.Addr.String())
	owners, types := map[string]bool{"missing." + z.Origin: true, "x.wild." + z.Origin: true, "below.moved." + z.Origin: true, "x.sub." + z.Origin: true}, map[uint16]bool{17: true}
	for _, rr := range z.RRs {
		owners[rr.Owner] = true
	}
	for _, kind := range askedTypes {
		types[kind] = true
	}
	for owner := range owners {
		for kind := range types {
			for _, q := range []question{{typ: kind}, {typ: kind, edns: 1232, do: true}, {typ: kind, edns: 4096, do: true, tcp: true}} {
				q.name = dns.Fqdn(owner)
				asked++
				got, want := a.ask(t, q), b.ask(t, q)
				switch why := difference(q, got, want); {
				case why == "":
				case tolerated(name, q, got, want):
					permitted++
				default:
					t.Errorf("%s (do %v, tcp %v): %s\nours:\n%v\n%s:\n%v", q, q.do, q.tcp, why, got, name, want)
				}
			}
		}
	}
	return asked, permitted
}
