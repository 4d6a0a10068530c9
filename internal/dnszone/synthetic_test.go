package dnszone_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// ALIAS and FORWARD records are stored in canonical form, survive a zone file, which name
// servers load without them, and become addresses.
func TestSyntheticRecords(t *testing.T) {
	z := dnszone.Zone{Name: "example.com"}
	for i, r := range []dnszone.Record{
		{Type: "alias", Host: "@", Value: "Host.Example.NET.", TTL: 600},
		{Type: "FORWARD", Host: "Go", Value: "HTTPS://Example.NET/a;b?c=1#d", TTL: 300},
		{Type: "FORWARD", Host: "old", Value: "301 https://example.net/", TTL: 60},
		{Type: "MX", Host: "@", Value: "mail.example.net", TTL: 600, Distance: new(int)},
	} {
		r.ID = dnszone.RecordID(string(rune('a' + i)))
		next, err := z.Add(r)
		if err != nil {
			t.Fatal(err)
		}
		z = next
	}
	want := []string{"ALIAS @ host.example.net 600 -", "FORWARD go https://example.net/a;b?c=1#d 300 -", "FORWARD old 301 https://example.net/ 60 -", "MX @ mail.example.net 600 0"}
	if got := lines(z.Records); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	file := dnszone.FormatZone(z, []string{"ns1.example.net"})
	_, records, _ := strings.Cut(file, "$TTL 3600\n")
	for _, file := range []string{file, strings.ReplaceAll(file, "\t", "    "), records[strings.Index(records, ";deed"):]} {
		back, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: z.Name, Text: strings.NewReader(file)})
		if err != nil || !slices.Equal(lines(back), want) {
			t.Errorf("got %q, %v from\n%s", lines(back), err, file)
		}
	}
	if rrs, err := z.RRs(); err != nil || len(rrs) != 1 {
		t.Errorf("got %v, %v", rrs, err)
	}
	addrs := []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}
	rrs := z.SyntheticRRs(addrs[:1], []dnszone.Alias{{Host: "@", Target: "host.example.net", Addresses: addrs, TTL: 5000}, {Host: "go", Target: "stale.example.net", Addresses: addrs}})
	if len(rrs) != 4 || rrs[0].Owner != "example.com" || rrs[0].TTL != 600 || rrs[0].Type != 1 || rrs[1].Type != 28 || rrs[2].Owner != "go.example.com" || rrs[2].TTL != 300 {
		t.Errorf("got %+v", rrs)
	}
	if location, status := z.Records[2].Redirect(); location != "https://example.net/" || status != 301 {
		t.Errorf("got %d %s", status, location)
	}
	if location, status := z.Records[1].Redirect(); location != "https://example.net/a;b?c=1#d" || status != 302 {
		t.Errorf("got %d %s", status, location)
	}
}

// They are refused beside what would contradict them, and in masses.
func TestSyntheticRecordsBesideOthers(t *testing.T) {
	alias := dnszone.Record{Type: "ALIAS", Host: "x", Value: "host.example.net", TTL: 60}
	forward := dnszone.Record{Type: "FORWARD", Host: "x", Value: "https://example.net/", TTL: 60}
	for _, first := range []dnszone.Record{alias, forward} {
		for _, second := range []dnszone.Record{
			{Type: "A", Host: "x", Value: "192.0.2.1"}, {Type: "AAAA", Host: "x", Value: "2001:db8::1"}, {Type: "CNAME", Host: "x", Value: "a.example.net"},
			{Type: "NS", Host: "x", Value: "ns.example.net"}, {Type: "ALIAS", Host: "x", Value: "b.example.net"}, {Type: "FORWARD", Host: "x", Value: "https://b.example.net/"},
		} {
			first.ID, second.ID = "a", "b"
			z, err := dnszone.Zone{Name: "example.com"}.Add(first)
			if err == nil {
				_, err = z.Add(second)
			}
			if deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("%s beside %s: got %v", second.Type, first.Type, err)
			}
		}
	}
	z := dnszone.Zone{Name: "example.com"}
	var err error
	for i := range dnszone.MaxAliases + 1 {
		r := alias
		r.Host, r.ID = "x"+string(rune('a'+i)), dnszone.RecordID(string(rune('a'+i)))
		if err != nil {
			t.Fatal(err)
		}
		var next dnszone.Zone
		if next, err = z.Add(r); err == nil {
			z = next
		}
	}
	if deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("one ALIAS too many: got %v", err)
	}
	if err := dnszone.CheckForwards([]dnszone.Record{forward}, false); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("without redirect servers: got %v", err)
	}
}

// The redirect servers compare a request with few names, so a FORWARD further down would be
// sold and never found.
func TestForwardAtADeepHost(t *testing.T) {
	for labels, ok := range map[int]bool{8: true, 9: false, 20: false} {
		_, err := rec("FORWARD", strings.Repeat("a.", labels-1)+"a", "https://example.net/").Canonical(zoneName)
		if (err == nil) != ok {
			t.Errorf("%d labels below the name: got %v", labels, err)
		}
	}
}

// The host of a FORWARD is a name like any other: Unicode becomes punycode, and what begins
// like it and is not is refused. The rest of the URL is ASCII.
func TestForwardToAnInternationalisedHost(t *testing.T) {
	for value, want := range map[string]string{
		"https://Bücher.example/": "https://xn--bcher-kva.example/", "301 http://bücher.example.:8080/a?b#c": "301 http://xn--bcher-kva.example:8080/a?b#c",
		"https://xn--BCHER-kva.example": "https://xn--bcher-kva.example", "https://xn--a.example/": "", "https://example.net/bücher": "", "https://a.example/?ü": "", "https://\u202e.example/": "",
	} {
		r, err := rec("FORWARD", "go", value).Canonical(zoneName)
		if r.Value != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", value, r.Value, err, want)
		}
		if again, err := r.Canonical(zoneName); want != "" && (err != nil || again.Value != want) {
			t.Errorf("%s became %q, %v", want, again.Value, err)
		}
	}
}
