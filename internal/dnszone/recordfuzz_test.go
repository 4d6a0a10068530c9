package dnszone_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed/internal/dnszone"
)

// The canonical form of every accepted record is stable, has no control characters,
// and survives the conversion to wire format and to a zone file.
func FuzzRecord(f *testing.F) {
	hex64 := strings.Repeat("ab", 32)
	for _, s := range []struct {
		kind, host, value string
		distance          int
	}{
		{"A", "@", "192.0.2.1", -1}, {"AAAA", "*.a", "2001:db8::1", -1}, {"CNAME", "bücher", "a.example.net.", -1}, {"MX", "@", ".", 0}, {"MX", "@", "mail.example.com", 10},
		{"TXT", "_dmarc", `v=DMARC1; p="\`, -1}, {"TXT", "a", `"a" "b\"\\\059"`, -1}, {"TXT", "a", "a\n@ IN A 192.0.2.1", -1}, {"NS", "sub", "ns1.example.net", -1},
		{"SRV", "_sip._tcp", "1 2 3 a.example.com", 2}, {"SRV", "_sip._tcp", "1 3 a.example.com", 2}, {"CAA", "@", `0 issue "a;\"b\\"`, -1},
		{"HTTPS", "@", `1 . alpn="h2,h3" port=1 ipv4hint=192.0.2.1 key667=x`, -1}, {"SVCB", "a", "0 b.example.com", -1}, {"TLSA", "_443._tcp", "3 1 1 " + hex64, -1},
		{"SSHFP", "a", "4 2 " + hex64, -1}, {"PTR", "1", "_a.example.com", -1}, {"DS", "sub", "1 13 2 " + hex64, -1}, {"NAPTR", "a", `1 2 "u" "E2U+sip" "!^(.*)$!\\1!" .`, -1},
	} {
		f.Add(s.kind, s.host, s.value, s.distance)
	}
	f.Fuzz(func(t *testing.T, kind, host, value string, distance int) {
		r := rec(kind, host, value)
		if distance >= 0 {
			r.Distance = &distance
		}
		c, err := r.Canonical(zoneName)
		if err != nil {
			refused(t, value, err)
			return
		}
		if again, err := c.Canonical(zoneName); err != nil || !cmp.Equal(again, c) {
			t.Errorf("%+v is %+v, and that is %+v, %v", r, c, again, err)
		}
		if strings.IndexFunc(c.Host+c.Value, unicode.IsControl) >= 0 || strings.ToLower(c.Host) != c.Host {
			t.Errorf("%+v is not canonical: %+v", r, c)
		}
		rr, err := c.RR(zoneName)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := dnszone.RecordOf(zoneName, rr); err != nil || !cmp.Equal(back, c) {
			t.Errorf("%+v came back from the wire as %+v, %v", c, back, err)
		}
		checkFile(t, []dnszone.Record{c})
	})
}

// checkFile checks that records survive the zone file, one line each.
func checkFile(t *testing.T, recs []dnszone.Record) {
	t.Helper()
	file := dnszone.FormatZone(dnszone.Zone{Name: zoneName, Records: recs}, nil)
	if n := strings.Count(file, "\n"); n != 3+len(recs) {
		t.Errorf("%d records have %d lines:\n%s", len(recs), n, file)
	}
	back, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
	if diff := cmp.Diff(lines(recs), lines(back)); err != nil || diff != "" {
		t.Errorf("%v\n%s\n%s", err, diff, file)
	}
}

// The records parsed from any file are canonical and unique, and survive being
// formatted and parsed again.
func FuzzZoneFile(f *testing.F) {
	f.Add(sampleFile)
	f.Add("a ( TXT \"x\"\n \"y\" ) ; z\n")
	f.Add("$ORIGIN .\nexample.com 300 IN A 192.0.2.1\n\tAAAA ::1")
	f.Add("$TTL 1w2d3h4m5s\n@ HTTPS 1 . alpn=\"h2\"")
	f.Add("a TXT a\\\"b\\065;c\n$INCLUDE x")
	f.Fuzz(func(t *testing.T, file string) {
		recs, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		if err != nil {
			refused(t, file, err)
			return
		}
		for _, r := range recs {
			if again, err := r.Canonical(zoneName); err != nil || !cmp.Equal(again, r) {
				t.Errorf("%+v is not canonical: %+v, %v", r, again, err)
			}
		}
		checkFile(t, recs)
	})
}
