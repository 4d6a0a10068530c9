package dnszone_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"deed.example/deed/internal/dnszone"
)

// show formats a record on one line.
func show(r dnszone.Record) string {
	distance := "-"
	if r.Distance != nil {
		distance = fmt.Sprint(*r.Distance)
	}
	return fmt.Sprintf("%s %s %d %s", r.Host, r.Value, r.TTL, distance)
}

// lines formats records without their IDs and times, sorted.
func lines(recs []dnszone.Record) []string {
	var out []string
	for _, r := range recs {
		out = append(out, r.Type+" "+show(r))
	}
	slices.Sort(out)
	return out
}

// sameRecord compares what a record means in the DNS.
var sameRecord = cmpopts.IgnoreFields(dnszone.Record{}, "ID", "Created", "Updated")

var (
	genLabel = rapid.StringMatching(`[a-zA-Z0-9_][a-zA-Z0-9_-]{0,8}`)
	genWord  = rapid.StringMatching(`[a-zA-Z][a-z0-9]{0,8}`)
	genTop   = rapid.SampledFrom([]string{"com", "net", "Example.COM", "xn--p1ai"})
	genText  = rapid.StringOfN(rapid.RuneFrom([]rune(`ab ;"\()@$.=üя😀,'`)), 1, 400, 1000)
)

// genName generates an absolute name, with or without the trailing dot.
func genName(t *rapid.T, label *rapid.Generator[string]) string {
	labels := rapid.SliceOfN(label, 1, 3).Draw(t, "labels")
	return strings.Join(labels, ".") + "." + genTop.Draw(t, "top") + rapid.SampledFrom([]string{"", "."}).Draw(t, "dot")
}

func genHost(t *rapid.T) string {
	host := strings.Join(rapid.SliceOfN(genLabel, 1, 3).Draw(t, "host"), ".")
	return rapid.SampledFrom([]string{"@", "*", "*." + host, host, host, host + ".example.com", host + ".example.com.", strings.ToUpper(host)}).Draw(t, "form")
}

func genHex(t *rapid.T, bytes int) string {
	b := rapid.SliceOfN(rapid.Byte(), bytes, bytes).Draw(t, "digest")
	return rapid.SampledFrom([]string{hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b))}).Draw(t, "case")
}

func genAddress(t *rapid.T, bytes int) string {
	a, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), bytes, bytes).Draw(t, "address"))
	return a.String()
}

// genQuoted generates a quoted string of printable ASCII.
func genQuoted(t *rapid.T) string {
	s := rapid.StringOfN(rapid.RuneFrom([]rune(`ab ;\"()!^$.*:@1`)), 0, 40, 40).Draw(t, "string")
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func genParams(t *rapid.T) string {
	all := []string{`alpn=h2,h3`, `port="8443"`, `ipv4hint=192.0.2.1,192.0.2.2`, `ipv6hint=2001:DB8::1`, `ech="aGVsbG8="`, `key667=x,y`, `dohpath=/q{?dns}`, `ohttp`}
	return strings.Join(rapid.Permutation(all).Draw(t, "params")[:rapid.IntRange(0, len(all)).Draw(t, "many")], " ")
}

// genRecord generates a record as a caller may write it. Not every one is valid: a
// CNAME may be at the apex.
func genRecord(t *rapid.T) dnszone.Record {
	r := dnszone.Record{
		Type: rapid.SampledFrom([]string{"A", "AAAA", "CNAME", "MX", "TXT", "NS", "SRV", "CAA", "HTTPS", "SVCB", "TLSA", "SSHFP", "PTR", "DS", "NAPTR", "LOC", "URI", "OPENPGPKEY", "SMIMEA", "DNAME", "TYPE65280", "TYPE13"}).Draw(t, "type"),
		Host: genHost(t),
		TTL:  rapid.SampledFrom([]int{0, 60, 300, 86400}).Draw(t, "ttl"),
	}
	number := func() int { return rapid.IntRange(0, 65535).Draw(t, "number") }
	switch r.Type {
	case "A":
		r.Value = genAddress(t, 4)
	case "AAAA":
		r.Value = genAddress(t, 16)
	case "LOC":
		r.Value = rapid.SampledFrom([]string{"52 31 12.3 N 13 24 36.1 E 34m", "0 S 0 w -100000.00", "1 2 3.004 s 179 59 59.999 E 42849672.95m 40000000.00m 1m 0m", "33 40 0 n 106 28 29 W 10m 20 2000m 0.05m"}).Draw(t, "loc")
	case "URI":
		r.Value = fmt.Sprintf(`%d %d "%s"`, number(), number(), rapid.SampledFrom([]string{"https://www.example.com/a;b?c=d#e", "mailto:a@b", "tel:+1"}).Draw(t, "uri"))
	case "OPENPGPKEY":
		r.Value = base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 1, 600).Draw(t, "key"))
	case "SMIMEA":
		r.Value = "3 0 0 " + genHex(t, rapid.IntRange(1, 400).Draw(t, "length"))
	case "TYPE65280":
		b := genHex(t, rapid.IntRange(1, 300).Draw(t, "length"))
		r.Value = fmt.Sprintf(`\# %d %s`, len(b)/2, b)
	case "TYPE13": // HINFO
		r.Value = `\# 6 0161 03626344`
	case "CNAME", "PTR", "DNAME":
		r.Value = genName(t, genLabel)
	case "NS":
		r.Value = genName(t, genWord)
	case "MX":
		r.Value, r.Distance = genName(t, genWord), num(number())
	case "TXT":
		r.Value = genText.Draw(t, "text")
		if rapid.Bool().Draw(t, "presentation") {
			r.Value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.Value) + `"`
			r.Value += rapid.SampledFrom([]string{"", ` "second; \"string\""`, ` ""`}).Draw(t, "second")
		}
	case "SRV":
		r.Value = fmt.Sprintf("%d %d %d %s", number(), number(), number(), genName(t, genWord))
	case "CAA":
		r.Value = fmt.Sprintf("%d %s %s", rapid.SampledFrom([]int{0, 128}).Draw(t, "flags"), rapid.SampledFrom([]string{"issue", "IODEF"}).Draw(t, "tag"), genQuoted(t))
	case "HTTPS", "SVCB":
		r.Value = fmt.Sprintf("%d %s %s", 1+number()/2, genName(t, genLabel), genParams(t))
	case "TLSA":
		r.Value = "3 1 1 " + genHex(t, 32)
	case "SSHFP":
		r.Value = "4 1 " + genHex(t, 20)
	case "DS":
		r.Value = fmt.Sprintf("%d 13 4 %s", number(), genHex(t, 48))
	case "NAPTR":
		substitution := rapid.SampledFrom([]string{`""`, `"!^(.*)$!sip:\\1@example.com!"`, `"/a\\/b; (c)/\"\\1\"/i"`}).Draw(t, "substitution")
		r.Value = fmt.Sprintf(`%d %d "u" %s %s .`, number(), number(), genQuoted(t), substitution)
	}
	return r
}

// genCanonical generates a valid record of the zone.
func genCanonical(t *rapid.T) dnszone.Record {
	return rapid.Custom(func(t *rapid.T) dnszone.Record {
		r, err := genRecord(t).Canonical(zoneName)
		if err != nil {
			t.Skip(err)
		}
		return r
	}).Draw(t, "record")
}

// genZone generates a zone with records of a few hosts, as far as they can coexist.
func genZone(t *rapid.T) dnszone.Zone {
	z := dnszone.Zone{Name: zoneName, Owner: "0xaa", Serial: 7}
	for i := range rapid.IntRange(0, 12).Draw(t, "records") {
		r := genCanonical(t)
		if rapid.Bool().Draw(t, "add many") {
			r.Host = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "crowded")
		}
		r.ID = dnszone.RecordID(fmt.Sprintf("r%d", i))
		if next, err := z.Add(r); err == nil {
			z = next
		}
	}
	return z
}

// Every generated record is valid, except where its host forbids its type: a check of
// the generator, and of the validation.
func TestGeneratedRecordsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecord(t)
		if _, err := r.Canonical(zoneName); err != nil && !strings.HasPrefix(err.Error(), "VALIDATION_ERROR: host: ") && r.Type != "CNAME" && r.Type != "DNAME" && r.Type != "TXT" {
			t.Errorf("%+v: %v", r, err)
		}
	})
}

func TestCanonicalIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genCanonical(t)
		again, err := r.Canonical(zoneName)
		if err != nil || !cmp.Equal(again, r) {
			t.Errorf("%+v became %+v, %v", r, again, err)
		}
	})
}

func TestRecordWireRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genCanonical(t)
		rr, err := r.RR(zoneName)
		if err != nil {
			t.Fatal(err)
		}
		back, err := dnszone.RecordOf(zoneName, rr)
		if err != nil || !cmp.Equal(back, r, sameRecord) {
			t.Errorf("%+v came back as %+v, %v", r, back, err)
		}
	})
}

func TestZoneFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := genZone(t)
		file := dnszone.FormatZone(z, []string{"ns1.example.net", "ns2.example.net."})
		got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: z.Name, Text: strings.NewReader(file)})
		if diff := cmp.Diff(lines(z.Records), lines(got)); err != nil || diff != "" {
			t.Errorf("%v\n%s\n%s", err, diff, file)
		}
	})
}

// Another zone file parser reads the served records from a formatted zone file.
func TestZoneFileMatchesServedZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := genZone(t)
		for i := range z.Records {
			z.Records[i].TTL = 300 // the file has individual TTLs, the served zone the smallest
		}
		want, err := z.RRs()
		if err != nil {
			t.Fatal(err)
		}
		file := dnszone.FormatZone(z, nil)
		parser := dns.NewZoneParser(strings.NewReader(file), "", "")
		var got []dnszone.RR
		for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
			buf := make([]byte, 65535)
			end, err := dns.PackRR(rr, buf, 0, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			h := rr.Header()
			got = append(got, dnszone.RR{Owner: strings.TrimSuffix(h.Name, "."), Type: h.Rrtype, TTL: h.Ttl, Data: string(buf[end-int(h.Rdlength) : end])})
		}
		byData := cmpopts.SortSlices(func(a, b dnszone.RR) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
		if diff := cmp.Diff(want, got, byData, cmpopts.EquateEmpty()); parser.Err() != nil || diff != "" {
			t.Errorf("%v\n%s\n%s", parser.Err(), diff, file)
		}
	})
}
