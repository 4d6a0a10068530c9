package dnszone_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

var dsValue = "1 13 2 " + strings.Repeat("ab", 32)

// zoneOf returns a zone with these records, all of which must be valid.
func zoneOf(t testing.TB, recs ...dnszone.Record) dnszone.Zone {
	t.Helper()
	z := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7, Revision: 7}
	for i, r := range recs {
		r.ID = dnszone.RecordID(fmt.Sprintf("r%d", i))
		next, err := z.Add(r)
		if err != nil {
			t.Fatalf("%s %s %s: %v", r.Host, r.Type, r.Value, err)
		}
		z = next
	}
	return z
}

func TestZoneAdd(t *testing.T) {
	z := zoneOf(t,
		rec("A", "@", "192.0.2.1"),
		rec("CNAME", "www", "example.com"),
		dist(rec("MX", "@", "mail.example.net"), 10),
		dist(rec("MX", "quiet", "."), 0),
		rec("TXT", "@", "one two"),
		rec("NS", "sub", "ns1.example.net"),
		rec("AAAA", "six", "2001:db8::1"),
		rec("SRV", "_sip._tcp", "1 2 3 sip.example.net"),
		rec("CAA", "@", `0 issue "ca.example.net"`),
	)
	tests := []struct {
		name string
		rec  dnszone.Record
		ok   bool
	}{
		{"a second address", rec("A", "@", "192.0.2.2"), true},
		{"the same address", rec("A", "@", "192.0.2.1"), false},
		{"the same with another ttl", dnszone.Record{Type: "A", Host: "@", Value: "192.0.2.1", TTL: 60}, false},
		{"the same in other letters", rec("AAAA", "SIX.example.com.", "2001:DB8:0::1"), false},
		{"the same text in quotes", rec("TXT", "@", `"one two"`), false},
		{"the same text in two strings", rec("TXT", "@", `"one" " two"`), true},
		{"another text", rec("TXT", "@", "one  two"), true},
		{"the same mail host", dist(rec("MX", "@", "Mail.example.net."), 10), false},
		{"the same mail host, less preferred", dist(rec("MX", "@", "mail.example.net"), 20), true},
		{"the same service in three fields", dist(rec("SRV", "_sip._tcp", "1 3 sip.example.net"), 2), false},
		{"the same service with another weight", dist(rec("SRV", "_sip._tcp", "1 3 sip.example.net"), 4), true},
		{"the same CAA without quotes", rec("CAA", "@", "0 ISSUE ca.example.net"), false},
		{"with a CNAME", rec("TXT", "www", "x"), false},
		{"a second CNAME", rec("CNAME", "www", "other.example.net"), false},
		{"the same CNAME", rec("CNAME", "www", "example.com."), false},
		{"a CNAME with an address", rec("CNAME", "six", "example.net"), false},
		{"a CNAME at a new host", rec("CNAME", "new", "example.net"), true},
		{"a CNAME to itself", rec("CNAME", "new", "new.example.com"), false},
		{"a CNAME at the apex", rec("CNAME", "@", "example.net"), false},
		{"an MX with a null MX", dist(rec("MX", "quiet", "mail.example.net"), 10), false},
		{"a null MX with an MX", dist(rec("MX", "@", "."), 0), false},
		{"an address with a null MX", rec("A", "quiet", "192.0.2.1"), true},
		{"a DS with an NS", rec("DS", "sub", dsValue), true},
		{"a DS without an NS", rec("DS", "six", dsValue), false},
		{"an NS at the apex", rec("NS", "@", "ns1.example.net"), false},
		{"a wildcard NS", rec("NS", "*", "ns1.example.net"), false},
		{"below a delegation", rec("A", "ns1.sub", "192.0.2.1"), true},
	}
	for _, tt := range tests {
		tt.rec.ID = "new"
		next, err := z.Add(tt.rec)
		if !tt.ok {
			refused(t, tt.name, err)
			continue
		}
		if err != nil || len(next.Records) != len(z.Records)+1 || next.Records[len(z.Records)].ID != "new" {
			t.Errorf("%s: got %d records, %v", tt.name, len(next.Records), err)
		}
	}
	if len(z.Records) != 9 || z.Serial != 7 {
		t.Errorf("the receiver was modified: %d records, serial %d", len(z.Records), z.Serial)
	}
}

func TestZoneUpdateAndDelete(t *testing.T) {
	z := zoneOf(t, rec("A", "a", "192.0.2.1"), rec("A", "a", "192.0.2.2"), rec("NS", "sub", "ns1.example.net"), rec("DS", "sub", dsValue), rec("CNAME", "c", "example.net"))
	same, other, host := "192.0.2.1", "192.0.2.3", "c"
	for _, tt := range []struct {
		name string
		err  error
		want deed.Code
	}{
		{"to the other's value", second(z.Update("r1", dnszone.RecordPatch{Value: &same})), deed.CodeValidation},
		{"to its own value", second(z.Update("r0", dnszone.RecordPatch{Value: &same})), ""},
		{"to a new value", second(z.Update("r1", dnszone.RecordPatch{Value: &other})), ""},
		{"to a host with a CNAME", second(z.Update("r1", dnszone.RecordPatch{Host: &host})), deed.CodeValidation},
		{"what is not there", second(z.Update("nope", dnszone.RecordPatch{Value: &same})), deed.CodeNotFound},
		{"nothing", second(z.Update("r1", dnszone.RecordPatch{})), deed.CodeValidation},
		{"delete", second(z.Delete("r0")), ""},
		{"delete what is not there", second(z.Delete("nope")), deed.CodeNotFound},
		{"delete what has no name", second(z.Delete("")), deed.CodeNotFound},
		{"delete the NS of a DS", second(z.Delete("r2")), deed.CodeValidation},
		{"delete the DS", second(z.Delete("r3")), ""},
		{"read", second2(z.Record("r0")), ""},
		{"read what is not there", second2(z.Record("nope")), deed.CodeNotFound},
		{"own", z.OwnedBy("0xaa"), ""},
		{"own another's", z.OwnedBy("0xbb"), deed.CodeOwnershipDenied},
	} {
		if deed.CodeOf(tt.err) != tt.want {
			t.Errorf("%s: got %v, want %q", tt.name, tt.err, tt.want)
		}
	}
	next, err := z.Update("r1", dnszone.RecordPatch{Value: &other})
	if err != nil || next.Records[1].Value != other || z.Records[1].Value != "192.0.2.2" {
		t.Errorf("got %+v and %+v, %v", next.Records[1], z.Records[1], err)
	}
	if next, err = z.Delete("r0"); err != nil || len(next.Records) != 4 || next.Records[0].ID != "r1" || len(z.Records) != 5 {
		t.Errorf("got %+v, %v", next.Records, err)
	}
}

func second(_ dnszone.Zone, err error) error    { return err }
func second2(_ dnszone.Record, err error) error { return err }

func TestZoneSizes(t *testing.T) {
	// 16 strings of 255 bytes and their lengths are 4,096 bytes.
	full := strings.Repeat("a", 16*255)
	z := zoneOf(t, rec("TXT", "@", full))
	if _, err := rec("TXT", "@", full+"a").Canonical(zoneName); deed.CodeOf(err) != deed.CodeValidation {
		t.Errorf("4,098 bytes in one record: got %v", err)
	}
	z, err := z.Add(rec("TXT", "@", strings.Repeat("b", 16*255)))
	if err != nil {
		t.Errorf("8,192 bytes at one host: %v", err)
	}
	_, err = z.Add(rec("TXT", "@", "c"))
	refused(t, "8,194 bytes at one host", err)
	if _, err = z.Add(rec("TXT", "other", "c")); err != nil {
		t.Errorf("at another host: %v", err)
	}
	if _, err = z.Add(rec("A", "@", "192.0.2.1")); err != nil {
		t.Errorf("of another type: %v", err)
	}
}

// A TLSA record takes three bytes and its data, so its size can be set to the byte.
func TestZoneSizesExact(t *testing.T) {
	tlsa := func(bytes int, digit string) dnszone.Record {
		return rec("TLSA", "a", "3 1 0 "+strings.Repeat(digit, 2*(bytes-3)))
	}
	_, err := tlsa(4097, "a").Canonical(zoneName)
	refused(t, "4,097 bytes", err)
	z := zoneOf(t, tlsa(4096, "a"), tlsa(4092, "b"))
	if _, err := z.Add(tlsa(4, "c")); err != nil {
		t.Errorf("8,192 bytes: %v", err)
	}
	_, err = z.Add(tlsa(5, "c"))
	refused(t, "8,193 bytes", err)
}

func TestNameLengths(t *testing.T) {
	name := func(n int) string { return strings.Repeat("aa.", 83)[:n-2] + "aa" } // 253 is the maximum
	for n, ok := range map[int]bool{241: true, 242: false} {
		if _, err := rec("A", name(n), "192.0.2.1").Canonical(zoneName); (err == nil) != ok {
			t.Errorf("a host of %d characters before .example.com: %v", n, err)
		}
	}
	for n, ok := range map[int]bool{253: true, 254: false} {
		if _, err := rec("CNAME", "a", name(n-4)+".com").Canonical(zoneName); (err == nil) != ok {
			t.Errorf("a target of %d characters: %v", n, err)
		}
	}
}

func TestMaxRecords(t *testing.T) {
	z := fullZone(t, 1000)
	_, err := z.Add(rec("A", "one-more", "192.0.2.1"))
	refused(t, "record 1,001", err)
	value := "192.0.2.1"
	if _, err := z.Update("r0", dnszone.RecordPatch{Value: &value}); err != nil {
		t.Errorf("a full zone can be changed: %v", err)
	}
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: zoneName, By: "0xaa"}
	for i := range 10_000 {
		c.Ops = append(c.Ops, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprint(i)), Record: rec("A", "@", "192.0.2.1")})
	}
	_, err = c.Apply(dnszone.Zone{Name: zoneName, Owner: "0xaa"}, start)
	refused(t, "10,000 records", err)
}

// fullZone returns a zone with many addresses, several at each host.
func fullZone(t testing.TB, n int) dnszone.Zone {
	t.Helper()
	c := dnszone.Change{Kind: dnszone.ChangeBatch, Zone: zoneName, By: "0xaa"}
	for i := range n {
		r := rec("A", fmt.Sprintf("h%d", i/4), fmt.Sprintf("10.0.%d.%d", i/256, i%256))
		c.Ops = append(c.Ops, dnszone.RecordOp{Op: dnszone.OpAdd, ID: dnszone.RecordID(fmt.Sprintf("r%d", i)), Record: r})
	}
	z, err := c.Apply(dnszone.Zone{Name: zoneName, Owner: "0xaa"}, start)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// All records of one host and type are served with the smallest TTL among them.
func TestServedTTLIsSmallest(t *testing.T) {
	a, b, c := rec("A", "www", "192.0.2.1"), rec("A", "www", "192.0.2.2"), rec("TXT", "www", "x")
	a.TTL, b.TTL, c.TTL = 600, 300, 60
	rrs, err := zoneOf(t, a, b, c).RRs()
	if err != nil || len(rrs) != 3 || rrs[0].TTL != 300 || rrs[1].TTL != 300 || rrs[2].TTL != 60 {
		t.Errorf("got %+v, %v", rrs, err)
	}
	if rrs[0] != (dnszone.RR{Owner: "www.example.com", Type: 1, TTL: 300, Data: "\xc0\x00\x02\x01"}) {
		t.Errorf("got %+v", rrs[0])
	}
}

// The data is in the canonical wire format of RFC 4034, 6.2: names are uncompressed
// and in lowercase, texts are strings of up to 255 bytes.
func TestServedData(t *testing.T) {
	for _, tt := range []struct {
		r    dnszone.Record
		want string
	}{
		{dist(rec("MX", "@", "MAIL.Example.com."), 258), "\x01\x02\x04mail\x07example\x03com\x00"},
		{dist(rec("MX", "@", "."), 0), "\x00\x00\x00"},
		{rec("SRV", "a", "1 2 3 B.example.com"), "\x00\x01\x00\x02\x00\x03\x01b\x07example\x03com\x00"},
		{rec("TXT", "a", `a\"; b`), "\x06" + `a\"; b`},
		{rec("TXT", "a", long(256)), "\xff" + long(255) + "\x01a"},
		{rec("CAA", "a", `128 Issue "a\\b\";"`), "\x80\x05issue" + `a\b";`},
		{rec("NAPTR", "a", `1 2 "u" "" "!(a)!\\1\"!" .`), "\x00\x01\x00\x02\x01u\x00\x09!(a)!\\1\"!\x00"},
		{rec("HTTPS", "a", `1 . port=1 alpn=h2`), "\x00\x01\x00\x00\x01\x00\x03\x02h2\x00\x03\x00\x02\x00\x01"},
		{rec("SSHFP", "a", "1 1 "+strings.Repeat("0A", 20)), "\x01\x01" + strings.Repeat("\x0a", 20)},
		{rec("AAAA", "a", "::ffff:192.0.2.1"), strings.Repeat("\x00", 10) + "\xff\xff\xc0\x00\x02\x01"},
	} {
		rr, err := tt.r.RR(zoneName)
		if err != nil || rr.Data != tt.want {
			t.Errorf("%s %s: got %q, %v, want %q", tt.r.Type, tt.r.Value, rr.Data, err, tt.want)
		}
	}
}

func TestRecordOfRefuses(t *testing.T) {
	good := dnszone.RR{Owner: "www.example.com", Type: 1, TTL: 300, Data: "\xc0\x00\x02\x01"}
	for name, spoil := range map[string]func(*dnszone.RR){
		"another zone":            func(rr *dnszone.RR) { rr.Owner = "www.example.net" },
		"a longer name":           func(rr *dnszone.RR) { rr.Owner = "wwwexample.com" },
		"SOA":                     func(rr *dnszone.RR) { rr.Type = 6 },
		"a type for queries":      func(rr *dnszone.RR) { rr.Type = 255 },
		"no data":                 func(rr *dnszone.RR) { rr.Data = "" },
		"short data":              func(rr *dnszone.RR) { rr.Data = "\xc0" },
		"long data":               func(rr *dnszone.RR) { rr.Data += "\x00" },
		"far too long data":       func(rr *dnszone.RR) { rr.Data = strings.Repeat("\xc0\x00\x02\x01", 1<<14) + good.Data },
		"a ttl of nought":         func(rr *dnszone.RR) { rr.TTL = 0 },
		"a ttl beyond a day":      func(rr *dnszone.RR) { rr.TTL = 1 << 31 },
		"a cut text":              func(rr *dnszone.RR) { rr.Type, rr.Data = 16, "\x05abc" },
		"an empty text":           func(rr *dnszone.RR) { rr.Type, rr.Data = 16, "\x00" },
		"a text with a newline":   func(rr *dnszone.RR) { rr.Type, rr.Data = 16, "\x03a\nb" },
		"a label with a dot":      func(rr *dnszone.RR) { rr.Type, rr.Data = 5, "\x03a.b\x03com\x00" },
		"a name in a loop":        func(rr *dnszone.RR) { rr.Type, rr.Data = 5, "\xc0\x00" },
		"an alias with params":    func(rr *dnszone.RR) { rr.Type, rr.Data = 65, "\x00\x00\x00\x00\x03\x00\x02\x00\x01" },
		"a CAA with odd flags":    func(rr *dnszone.RR) { rr.Type, rr.Data = 257, "\x01\x05issuex" },
		"a service of raw bytes":  func(rr *dnszone.RR) { rr.Type, rr.Data = 65, "\x00\x01\x00\x02\x9b\x00\x01\x00" },
		"the NS of the zone":      func(rr *dnszone.RR) { rr.Owner, rr.Type, rr.Data = "example.com", 2, "\x01a\x03com\x00" },
		"a text that is not UTF8": func(rr *dnszone.RR) { rr.Type, rr.Data = 16, "\x01\xff" },
	} {
		rr := good
		spoil(&rr)
		_, err := dnszone.RecordOf(zoneName, rr)
		refused(t, name, err)
	}
	if _, err := dnszone.RecordOf(zoneName, good); err != nil {
		t.Error(err)
	}
}

func TestZoneMatching(t *testing.T) {
	z := dnszone.Zone{Name: "example.com", Records: []dnszone.Record{{ID: "1", Type: "A", Host: "www"}, {ID: "2", Type: "TXT", Host: "www"}, {ID: "3", Type: "A", Host: "@"}}}
	for _, c := range []struct{ kind, host, want string }{
		{"", "", "1 2 3"}, {"A", "", "1 3"}, {"a", "www", "1"}, {"", "WWW.Example.com.", "1 2"}, {"", "@", "3"}, {"MX", "", ""}, {"TXT", "@", ""},
	} {
		found, err := z.Matching(c.kind, c.host)
		var ids []string
		for _, r := range found {
			ids = append(ids, string(r.ID))
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want {
			t.Errorf("%q at %q: got %q, %v, want %q", c.kind, c.host, got, err, c.want)
		}
	}
	for _, c := range []struct{ kind, host string }{{"SOA", ""}, {"NONE", ""}, {"", "a..b"}, {"", "www.example.net."}} {
		if _, err := z.Matching(c.kind, c.host); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q at %q: got %v", c.kind, c.host, err)
		}
	}
}
