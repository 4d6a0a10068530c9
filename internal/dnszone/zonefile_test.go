package dnszone_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// The sample file has all syntax of RFC 1035, 5.1 that real files use.
const sampleFile = `; a comment
$TTL 1h
@	IN SOA ns1.example.net. admin.example.com. (
		2026030100 ; serial
		3600 600 1209600 300 )
	IN	NS	ns1.example.net.
@	300	IN	A	192.0.2.1
	IN	300	A	192.0.2.2		; class before TTL
		AAAA	2001:DB8::1
www	CNAME	@
Mail.Example.COM.	A	192.0.2.3
@	MX	10 mail
@	0600	MX	20 mx.example.net.
txt	TXT	"semi;colon" "and (more)" ; a comment
txt	TXT	bare\;word two
key	TXT	( "v=DKIM1; "
		  "p=\"x\"\\\195\188" )
_sip._tcp	SRV	1 2 3 sip
web	HTTPS	1 . alpn="h2,h3"
web	SVCB	1 svc port=8443
web	CAA	0 issue "ca.example.net; x=y"
num	NAPTR	1 2 "u" "E2U+sip" "!^.*$!sip:a@b!" .
$ORIGIN sub
@	NS	ns
ns	1d	A	192.0.2.4
$ORIGIN com.
example	TXT	apex
$ORIGIN .
a.example.com	A	192.0.2.5
www.sub.example.com.	RRSIG	A 13 3 300 20260101000000 20260101000000 1 example.com. AAAA
`

var sampleRecords = []string{
	"A @ 192.0.2.1 300 -",
	"A @ 192.0.2.2 300 -",
	"A a 192.0.2.5 3600 -",
	"A mail 192.0.2.3 3600 -",
	"A ns.sub 192.0.2.4 86400 -",
	"AAAA @ 2001:db8::1 3600 -",
	`CAA web 0 issue "ca.example.net; x=y" 3600 -`,
	"CNAME www example.com 3600 -",
	`HTTPS web 1 . alpn="h2,h3" 3600 -`,
	"MX @ mail.example.com 3600 10",
	"MX @ mx.example.net 600 20",
	`NAPTR num 1 2 "u" "E2U+sip" "!^.*$!sip:a@b!" . 3600 -`,
	"NS sub ns.sub.example.com 3600 -",
	"SRV _sip._tcp 1 2 3 sip.example.com 3600 2",
	`SVCB web 1 svc.example.com port="8443" 3600 -`,
	"TXT @ apex 3600 -",
	`TXT key "v=DKIM1; " "p=\"x\"\\ü" 3600 -`,
	`TXT txt "bare;word" "two" 3600 -`,
	`TXT txt "semi;colon" "and (more)" 3600 -`,
}

func TestParseZoneFile(t *testing.T) {
	for name, file := range map[string]string{
		"as it is":        sampleFile,
		"with a mark":     "\ufeff" + sampleFile,
		"lines of DOS":    strings.ReplaceAll(sampleFile, "\n", "\r\n"),
		"no last newline": strings.TrimSuffix(sampleFile, "\n"),
		"twice":           sampleFile + "$ORIGIN example.com.\n" + sampleFile,
		"with a TSIG":     sampleFile + "a-key.\t0\tANY\tTSIG\thmac-sha256. 1795098321 300 4 AAAAAA== 1 NOERROR 0\n",
	} {
		got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		if diff := cmp.Diff(sampleRecords, lines(got)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for _, file := range []string{"", "\n\n", " \n\t\n; x", "; only a comment"} {
		if got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)}); err != nil || len(got) > 0 {
			t.Errorf("%q: got %v, %v", file, got, err)
		}
	}
}

// An export of Cloudflare, which writes the host of the SOA without the trailing dot, and 1 for
// a TTL that it chooses.
func TestParseZoneFileOfCloudflare(t *testing.T) {
	const file = `;; Domain:     example.com.
;; SOA Record
example.com	3600	IN	SOA	a.ns.cloudflare.com. dns.cloudflare.com. 2049453583 10000 2400 604800 3600

;; NS Records
example.com.	86400	IN	NS	a.ns.cloudflare.com.

;; A Records
example.com.	1	IN	A	192.0.2.1 ; cf_tags=cf-proxied:true
www.example.com.	300	IN	CNAME	example.com.
`
	got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file), ClampTTL: true})
	if diff := cmp.Diff([]string{"A @ 192.0.2.1 60 -", "CNAME www example.com 300 -"}, lines(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestParseZoneFileTTL(t *testing.T) {
	for file, want := range map[string]int{
		"a A 192.0.2.1":                                      3600,
		"a 300 A 192.0.2.1\nb A 192.0.2.2":                   300, // that of the previous record
		"$TTL 600\na 300 A 192.0.2.1\nb A 192.0.2.2":         600, // $TTL takes precedence
		"$ttl 1H30M\na A 192.0.2.1":                          5400,
		"a 1d IN A 192.0.2.1":                                86400,
		"a IN 2m A 192.0.2.1":                                120,
		"$TTL 60\n$TTL 120\na A 192.0.2.1":                   120,
		"$TTL 604800\n@ SOA a b 1 2 3 4 5\na 1h A 192.0.2.1": 3600, // an unused default is not an error
	} {
		got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		if err != nil || got[len(got)-1].TTL != want {
			t.Errorf("%q: got %+v, %v, want %d", file, got, err, want)
		}
	}
}

func TestParseZoneFileRefuses(t *testing.T) {
	for file, line := range map[string]int{
		"$INCLUDE /etc/passwd":                   1,
		"\n$include x":                           2,
		"$GENERATE 1-9 h$ A 192.0.2.$":           1,
		"$OTHER x":                               1,
		"$TTL":                                   1,
		"$TTL x":                                 1,
		"$TTL 1h30":                              1,
		"$TTL 99999999999":                       1,
		"$TTL 0\n@ A 192.0.2.1":                  2, // 0 is a valid TTL, but not supported
		"@ 0 NS ns1.example.net.\n@ A 192.0.2.1": 2, // also when it is that of the previous record
		"$ORIGIN":                                1,
		"$ORIGIN a..b":                           1,
		"  A 192.0.2.1":                          1, // no previous host
		"a":                                      1,
		"a IN":                                   1,
		"a A":                                    1,
		"a A 256.1.1.1":                          1,
		"a A 192.0.2.1\nb A 192.0.2.1 192.0.2.2": 2,
		"a CH A 192.0.2.1":                       1,
		"a ANY A 192.0.2.1":                      1,
		"a 5 A 192.0.2.1":                        1,
		"a 0 A 192.0.2.1":                        1,
		"a 1x A 192.0.2.1":                       1,
		"a 300 300 A 192.0.2.1":                  1,
		"a IN IN A 192.0.2.1":                    1,
		"a.example.net. A 192.0.2.1":             1,
		"$ORIGIN net.\nexample A 192.0.2.1":      2,
		"www.example.com A 192.0.2.1":            1, // without the trailing dot
		"\n\na TXT \"open":                       3,
		"a TXT \"over\ntwo lines\"":              1,
		"a TXT \"a\"b":                           1,
		"a TXT a\"b\"":                           1,
		"a TXT a=\"b\"":                          1,
		"a TXT \"\"":                             1,
		"a TXT \"\\010\"":                        1,
		"a TXT \"\\300\"":                        1,
		"a TXT a\\":                              1,
		"a TXT a\x00b":                           1,
		"a TXT \xff":                             1,
		"a TXT a\rb":                             1,
		"a A ( 192.0.2.1":                        1,
		"a A 192.0.2.1 )":                        1,
		"a MX mail":                              1,
		"a MX x mail":                            1,
		"a MX 10 mail x":                         1,
		"a MX 10 192.0.2.1":                      1,
		"a CNAME .":                              1,
		"@ CNAME b":                              1,
		"a CNAME a":                              1,
		"a ANAME b":                              1,
		"a ALIAS 192.0.2.1":                      1,
		"a FORWARD \"ftp://example.net/\"":       1,
		"\n;deed\t* 60 IN ALIAS b":               2,
		"a SOA x y 1 2 3 4 5":                    1, // not at the apex
		"example.com A 192.0.2.1":                1,
		"a TYPE1 \\# 5 c0000201":                 1,
		"a TYPE1 \\# 5 c000020101":               1,
		"a A \\# x c0000201":                     1,
		"a A \\# 4 c00002":                       1,
		"a TYPE65536 \\# 1 00":                   1,
		"a TYPE41 \\# 1 00":                      1,
		"a TYPE255 \\# 1 00":                     1,
		"a TYPE17 \\# 2 0001":                    1, // an RP has two names
		"a TYPE999 c0":                           1,
		"a TYPE999 \\# 0":                        1,
		"a CLASS3 A 192.0.2.1":                   1,
		"xn--a A 192.0.2.1":                      1, // not punycode
		"a CNAME xn--zzzzzzzz99999999999.com.":   1,
		"\"a\" A 192.0.2.1":                      1,
		"a\\032b A 192.0.2.1":                    1,
		"a A " + strings.Repeat("1 ", 500_000):   1,
		"a TXT \"" + strings.Repeat("\\", 999_999):                   1,
		"a TXT \"a\\\nb\"":                                           1,
		"a TXT " + strings.Repeat("( ", 500_000):                     1,
		"a HTTPS 1":                                                  1,
		"a TXT x\n" + thousand(t) + "b A 192.0.2.1":                  1001,
		strings.Repeat("; 345678901234567890123456789012\n", 40_000): 0, // the file is too large
	} {
		got, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: strings.NewReader(file)})
		refused(t, file, err)
		if want := fmt.Sprintf("line %d, column ", line); err != nil && line > 0 && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want it on line %d", file, err, line)
		}
		if err == nil {
			t.Errorf("%.60q: got %v", file, got)
		}
	}
}

// thousand returns the lines of 1,000 records.
func thousand(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "h%d A 192.0.2.1\n", i)
	}
	return b.String()
}

func TestParseZoneFileReadError(t *testing.T) {
	cause := errors.New("the line is dead")
	_, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: zoneName, Text: io.MultiReader(strings.NewReader("a A 192.0.2.1\n"), iotest.ErrReader(cause))})
	if !errors.Is(err, cause) || deed.CodeOf(err) != deed.CodeUnavailable {
		t.Errorf("got %v, want %v", err, cause)
	}
}

func TestFormatZone(t *testing.T) {
	z := zoneOf(t, rec("TXT", "b", `"\"a\" ü"`), rec("HTTPS", "b", "0 host.example.net"), dist(rec("MX", "@", "mail.example.com"), 10), rec("TXT", "a", long(256)),
		rec("SRV", "a", "0 0 0 ."), rec("NAPTR", "a", `1 2 "" "" "" x.example.net`))
	want := "; example.com, revision 7\n$ORIGIN example.com.\n$TTL 3600\n" +
		"@\t3600\tIN\tSOA\tns1.example.net. hostmaster.example.net. 7 3600 600 1209600 300\n@\t3600\tIN\tNS\tns1.example.net.\n" +
		"@\t3600\tIN\tMX\t10 mail.example.com.\n" +
		"a\t3600\tIN\tNAPTR\t1 2 \"\" \"\" \"\" x.example.net.\n" +
		"a\t3600\tIN\tSRV\t0 0 0 .\n" +
		"a\t3600\tIN\tTXT\t\"" + long(255) + "\" \"a\"\n" +
		"b\t3600\tIN\tHTTPS\t0 host.example.net.\n" +
		"b\t3600\tIN\tTXT\t\"\\\"a\\\" \\195\\188\"\n"
	if diff := cmp.Diff(want, dnszone.FormatZone(z, []string{"ns1.example.net."})); diff != "" {
		t.Error(diff)
	}
	z.Signed = true
	if diff := cmp.Diff(strings.Replace(want, " 1209600 ", " 345600 ", 1), dnszone.FormatZone(z, []string{"ns1.example.net."})); diff != "" {
		t.Errorf("signed: %s", diff)
	}
}
