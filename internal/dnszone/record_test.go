package dnszone_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// zoneName is the zone of these tests.
const zoneName deed.Name = "example.com"

func num(n int) *int { return &n }

// rec returns a record with only the required fields.
func rec(kind, host, value string) dnszone.Record {
	return dnszone.Record{Type: kind, Host: host, Value: value}
}

// dist returns the record with a distance.
func dist(r dnszone.Record, n int) dnszone.Record {
	r.Distance = num(n)
	return r
}

func TestCanonicalHost(t *testing.T) {
	for in, want := range map[string]string{
		"@":                       "@",
		"example.com":             "@",
		"example.com.":            "@",
		"EXAMPLE.com":             "@",
		"www":                     "www",
		"WWW":                     "www",
		"www.example.com":         "www",
		"www.Example.COM.":        "www",
		"a.b.c":                   "a.b.c",
		"other.net":               "other.net", // relative, like all without the trailing dot
		"_dmarc":                  "_dmarc",
		"_sip._tcp":               "_sip._tcp",
		"*":                       "*",
		"*.example.com":           "*",
		"*.dev":                   "*.dev",
		"bücher":                  "xn--bcher-kva",
		"BÜCHER.example.com":      "xn--bcher-kva",
		"a。b":                     "a.b",
		"xn--bcher-kva":           "xn--bcher-kva",
		"r3---sn":                 "r3---sn",
		long(63):                  long(63),
		"notexample.com":          "notexample.com",
		strings.Repeat("a.", 120): "", // refused below: ends in a dot and is not in the zone
	} {
		got, err := rec("A", in, "192.0.2.1").Canonical(zoneName)
		if want == "" {
			refused(t, in, err)
			continue
		}
		if err != nil || got.Host != want {
			t.Errorf("%q: got %q, %v, want %q", in, got.Host, err, want)
		}
	}
}

func TestCanonicalRefusesHost(t *testing.T) {
	for _, in := range []string{
		"", ".", "..", "a..b", ".a", "a.*", "*a", "a*", "**", "*.*", "a b", "a\tb", "a\nb", "a\x00", "a\x7f", "a@b", "a/b", `a\.b`, `"a"`,
		"www.other.net.", "com.", long(64), strings.Repeat("a.", 121) + "a", "a\xff", "\u00ad", "a;b", "$INCLUDE", "@.example.com",
		"www.example.com.example.com", "example.com.example.com.", strings.Repeat("ü", 600),
	} {
		_, err := rec("A", in, "192.0.2.1").Canonical(zoneName)
		refused(t, in, err)
	}
}

// refused checks that err is a validation error about a field, on one line.
func refused(t *testing.T, in string, err error) {
	t.Helper()
	e, ok := err.(*deed.Error)
	if !ok || e.Code != deed.CodeValidation || len(e.Details) == 0 || strings.ContainsAny(e.Message, "\n\r\x00") {
		t.Errorf("%.80q: got %v, want one line of %s about a field", in, err, deed.CodeValidation)
	}
}

func TestCanonicalValue(t *testing.T) {
	sha1, sha256 := strings.Repeat("aB", 20), strings.Repeat("cD", 32)
	for _, tt := range []struct{ kind, in, want string }{
		{"A", "192.0.2.1", "192.0.2.1"},
		{"a", "192.0.2.1", "192.0.2.1"},
		{"AAAA", "2001:DB8:0:0::1", "2001:db8::1"},
		{"AAAA", "::", "::"},
		{"AAAA", "::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"CNAME", "Host.Example.NET.", "host.example.net"},
		{"CNAME", "host.example.net", "host.example.net"},
		{"CNAME", "_x.acm-validations.aws", "_x.acm-validations.aws"},
		{"CNAME", "bücher.de", "xn--bcher-kva.de"},
		{"NS", "NS1.example.net.", "ns1.example.net"},
		{"PTR", "_printer._tcp.example.com", "_printer._tcp.example.com"},
		{"TXT", "v=spf1 -all", "v=spf1 -all"},
		{"TXT", "a; b", "a; b"},
		{"TXT", `lone \`, `lone \`},
		{"TXT", `say "hi"`, `say "hi"`},
		{"TXT", "  two  spaces  ", "  two  spaces  "},
		{"TXT", " ", " "},
		{"TXT", "naïve", "naïve"},
		{"TXT", `"plain"`, "plain"},
		{"TXT", `"one" "two"`, `"one" "two"`},
		{"TXT", `"path=/a b" "" "x\"y\\"`, `"path=/a b" "" "x\"y\\"`},
		{"TXT", `"` + long(255) + `" "b"`, long(255) + "b"},
		{"TXT", `"b" "` + long(255) + `"`, `"b" "` + long(255) + `"`},
		{"TXT", `"\195" "\188"`, `"\195" "\188"`},
		{"TXT", `"a\"b\\c\059d"`, `a"b\c;d`},
		{"TXT", `"\"hi\" there"`, `"\"hi\" there"`},
		{"TXT", `"\195\188"`, "ü"},
		{"TXT", long(4000), long(4000)},
		{"TXT", `"` + long(300) + `"`, long(300)},
		{"TXT", "$INCLUDE /etc/passwd", "$INCLUDE /etc/passwd"},
		{"TXT", "192.0.2.1 IN A (", "192.0.2.1 IN A ("},
		{"CAA", `0 issue letsencrypt.org`, `0 issue "letsencrypt.org"`},
		{"CAA", `128  ISSUE  "ca.example; policy=ev"`, `128 issue "ca.example; policy=ev"`},
		{"CAA", `0 issue ";"`, `0 issue ";"`},
		{"CAA", `0 issue ""`, `0 issue ""`},
		{"CAA", `0 iodef "mailto:a\"b\\c@example.com"`, `0 iodef "mailto:a\"b\\c@example.com"`},
		{"HTTPS", `1 . alpn=h2,h3`, `1 . alpn="h2,h3"`},
		{"HTTPS", `1 . ipv6hint=2001:DB8::1 alpn="h2" no-default-alpn ipv4hint=192.0.2.1,192.0.2.2 port=08443`, `1 . alpn="h2" no-default-alpn port="8443" ipv4hint="192.0.2.1,192.0.2.2" ipv6hint="2001:db8::1"`},
		{"HTTPS", `0 Host.example.net.`, `0 host.example.net`},
		{"HTTPS", `16 _x.example.net mandatory=port,alpn alpn=h2 port=1`, `16 _x.example.net mandatory="alpn,port" alpn="h2" port="1"`},
		{"SVCB", `1 dns.example.com. alpn=dot dohpath=/q{?dns} key667=hello`, `1 dns.example.com alpn="dot" dohpath="/q{?dns}" key667="hello"`},
		{"SVCB", `1 . ech=aGVsbG8=`, `1 . ech="aGVsbG8="`},
		{"SVCB", `1 . ohttp`, `1 . ohttp`},
		{"SVCB", `1 . alpn="h2" key7="/q{?dns}"`, `1 . alpn="h2" dohpath="/q{?dns}"`}, // as BIND 9.18 writes it
		{"HTTPS", `1 . mandatory=alpn,key2 alpn=h2 key2 KEY8`, `1 . mandatory="alpn,no-default-alpn" alpn="h2" no-default-alpn ohttp`},
		{"TLSA", "3 1 1 " + sha256, "3 1 1 " + strings.ToLower(sha256)},
		{"TLSA", "3 1 1 " + sha256[:10] + "  " + sha256[10:], "3 1 1 " + strings.ToLower(sha256)},
		{"TLSA", "0 0 0 AB", "0 0 0 ab"},
		{"TLSA", "2 0 2 " + sha256 + sha256, "2 0 2 " + strings.ToLower(sha256+sha256)},
		{"SSHFP", "4 2 " + sha256, "4 2 " + strings.ToLower(sha256)},
		{"SSHFP", "1 1 " + sha1, "1 1 " + strings.ToLower(sha1)},
		{"DS", "02371 13 2 " + sha256, "2371 13 2 " + strings.ToLower(sha256)},
		{"DS", "1 8 1 " + sha1, "1 8 1 " + strings.ToLower(sha1)},
		{"DS", "1 8 4 " + sha256 + sha256[:32], "1 8 4 " + strings.ToLower(sha256+sha256[:32])},
		{"NAPTR", `100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .`, `100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!" .`},
		{"NAPTR", `100 10 "" "" "!^(.*)$!sip:\\1@x;y!" .`, `100 10 "" "" "!^(.*)$!sip:\\1@x;y!" .`},
		{"NAPTR", `1 2 "U" "x" "/a\\/b(c)/\\1\\\\/i" .`, `1 2 "U" "x" "/a\\/b(c)/\\1\\\\/i" .`},
		{"NAPTR", `1 2 S SIP+D2U "" _sip._udp.Example.com.`, `1 2 "S" "SIP+D2U" "" _sip._udp.example.com`},
		{"SRV", "10 60 5060 Sip.Example.com.", "10 60 5060 sip.example.com"},
		{"SRV", "0 0 0 .", "0 0 0 ."},
		{"LOC", "0 S 0 W 42849672.95m", "00 00 0.000 S 00 00 0.000 W 42849672.95m 1m 10000m 10m"},
		{"LOC", "0 S 0 W -100000m", "00 00 0.000 S 00 00 0.000 W -100000m 1m 10000m 10m"},
		{"LOC", "52 31 12.3 n 13 24 36.1 E 34", "52 31 12.300 N 13 24 36.100 E 34m 1m 10000m 10m"},
		{"LOC", "52 31 N 13 24 36.1 E 34", "52 31 0.000 N 13 24 36.100 E 34m 1m 10000m 10m"},
		{"LOC", "1 2 1.001 N 1 2 59.999 E 0", "01 02 1.001 N 01 02 59.999 E 0m 1m 10000m 10m"},
		{"LOC", "52 N 13 24 E 34", "52 00 0.000 N 13 24 0.000 E 34m 1m 10000m 10m"},
		{"URI", `10 1 https://example.com/`, `10 1 "https://example.com/"`},
		{"OPENPGPKEY", "aGVs bG8=", "aGVsbG8="},
		{"SMIMEA", "3 1 1 " + sha256, "3 1 1 " + strings.ToLower(sha256)},
		{"DNAME", "Other.example.net.", "other.example.net"},
		{"TYPE65280", `\#  3 AB cd00`, `\# 3 abcd00`},
		{"TYPE263", `\# 4 01610162`, `\# 4 01610162`},
		{"type17", `\# 8 0141014200 016300`, `\# 8 0161016200016300`},
		{"TXT", `\# 2 0161`, `\# 2 0161`},
	} {
		got, err := rec(tt.kind, "h", tt.in).Canonical(zoneName)
		if err != nil || got.Value != tt.want || got.Type != strings.ToUpper(tt.kind) {
			t.Errorf("%s %.80s: got %q, %v, want %q", tt.kind, tt.in, got.Value, err, tt.want)
		}
		again, err := got.Canonical(zoneName)
		if err != nil || !cmp.Equal(again, got) {
			t.Errorf("%s %.80s: %q is not its own canonical form: %q, %v", tt.kind, tt.in, got.Value, again.Value, err)
		}
	}
}

func TestCanonicalRefusesValue(t *testing.T) {
	hex64 := strings.Repeat("ab", 32)
	for kind, values := range map[string][]string{
		"A": {
			"", " ", "256.1.1.1", "192.0.2", "192.0.2.01", "0300.0.2.1", "0xc0.0.2.1", "3221225985", "192.0.2.1 ; x", "192.0.2.1 192.0.2.2",
			"::1", "host.example.com", "192.0.2.1\n@ IN A 192.0.2.2", "192.0.2.1/24", `"192.0.2.1"`, `192.0.2".1"`, "١٩٢.0.2.1",
		},
		"AAAA":       {"", "fe80::1%eth0", "192.0.2.1", "::g", "2001:db8::1::", "[::1]", "2001:db8::1/64"},
		"CNAME":      {"", ".", "foo", "foo.", "192.0.2.1", "2001:db8::1", "1.2.3", "a..b", "a b.example.com", "*.example.net", "h.example.com", "H.Example.com.", `a\.b.c`, long(64) + ".com", "a.com\x00", "a.com;", "(a.com", "$x.com", strings.Repeat("aa.", 90) + "com"},
		"NS":         {"", ".", "ns", "192.0.2.1", "ns_1.example.net", "-a.example.net", "a-.example.net"},
		"PTR":        {"", ".", "localhost"},
		"TXT":        {"", `""`, `"" ""`, `"open`, `"\`, `"a\"`, `"a" b`, `"a"b`, `"\256"`, `"\0"`, `"\000"`, `"\010"`, `"\255"`, "a\nb", "a\n@ IN A 192.0.2.1", "a\x00", "a\rb", "a\x7f", "a\u0085b", "a\xffb", "tab\there", long(4097), long(4081), long(100_000)},
		"CAA":        {"", "0 issue", "1 issue \"x\"", "256 issue x", "-1 issue x", `0 is-sue "x"`, `0 issue ;`, `0 issue a b`, `0 issue "ü"`, `0 issue "x`, `0 issue a="b"`, `"0" issue x`, `0 "issue" x`, `0 issue "` + `\007"`, `0 ` + long(256) + ` x`},
		"SRV":        {"", "1 2", "1 2 3", "1 2 3 4 5", "1 2 65536 a.example.com", "-1 2 3 a.example.com", "1 2 3 192.0.2.1", "1 2 3 a_b.example.com", "1 2 3 host", "a 2 3 a.example.com"},
		"HTTPS":      {"", "1", "0 . alpn=h2", "0 host.example.net port=1", "1 . alpn=h2 alpn=h3", "1 . alpn=h2 ALPN=h3", "1 . key1=h2", "1 . key65535=x", "1 . key01=x", "1 . alpn=", "1 . alpn", "1 . alpn=h2,,h3", "1 . port=65536", "1 . port=", "1 . ipv4hint=::1", "1 . ipv4hint=256.1.1.1", "1 . ipv6hint=192.0.2.1", "1 . ipv6hint=::ffff:192.0.2.1", "1 . ipv6hint=fe80::1%eth0", "1 . ech=!", "1 . no-default-alpn", "1 . no-default-alpn=x alpn=h2", "1 . mandatory=port", "1 . mandatory=mandatory alpn=h2", "1 . mandatory=alpn,alpn alpn=h2", "1 . mandatory= alpn=h2", "1 . unknown=x", "1 . =x", "65536 .", "1 host", "1 192.0.2.1", `1 . "alpn=h2"`, `1 . alpn="h2"port=1`, `1 . alpn="h 2"`, `1 . alpn="h\\2"`, `1 . key667="\001"`, "1 . alpn=h2;port=1"},
		"SVCB":       {"0 . port=1", "1 . dohpath=x", "1 . dohpath=/x", "1 . key7=/x", "1 . dohpath=/q{?dns} key7=/q{?dns}", "1 . key3=a"},
		"TLSA":       {"", "3 1 1", "3 1 1 ab", "4 1 1 " + hex64, "3 2 1 " + hex64, "3 1 3 " + hex64, "3 1 1 " + hex64[:63] + "g", "3 1 2 " + hex64, "3 1 0 a", "3 1 1 \"" + hex64 + "\""},
		"SSHFP":      {"", "4 2 ab", "0 2 " + hex64, "5 2 " + hex64, "4 3 " + hex64, "4 1 " + hex64},
		"DS":         {"", "1 13 2 ab", "65536 13 2 " + hex64, "1 0 0 00", "1 13 3 " + hex64, "1 1 2 " + hex64, "1 13 1 " + hex64},
		"NAPTR":      {"", `1 2 "U" "x" "y"`, `1 2 "U" "x" "!y!" a.example.com`, `65536 2 "U" "x" "y" .`, `1 2 "` + long(256) + `" "x" "y" .`, `1 2 "U" "x" "y" host`, `1 2 "ü" "x" "" .`, `1 2 "U" "x" "y" .`, `1 2 "U" "x" "!a!b" .`, `1 2 "U" "x" "!a!b!x" .`, `1 2 "U" "x" "!(!b!" .`, `1 2 "U" "x" "!!b!" .`, `1 2 "U" "x" "iaibi" .`, `1 2 "U" "x" "!a!\\1!" .`, `1 2 "U" "x" "!(a)!\\0!" .`, `1 2 "U" "x" "!(a)!\\2!" .`, `1 2 "U" "x" "!a!b!i!" .`, `1 2 "U" "x" "!a\\!b!" .`},
		"LOC":        {"", "91 N 0 E 0m", "52 60 N 0 E 0m", "52 N 181 E 0m", "52 N 13 E", "N 13 E 0m", "52 31 12.3 N 13 24 36.1 E 34m 1 2 3 4", "52 31 12.3 N 13 24 36.1 E x", "0 S 0 W 42849672.96m", "0 S 0 W 99999999m", "0 S 0 W -100000.01m"},
		"URI":        {"", "1 2", "1 2 x", `1 2 ""`, `1 2 "no scheme"`, `65536 1 "https://a"`, `1 2 "https://a" x`, `1 2 "https://a b"`},
		"OPENPGPKEY": {"", "!", "aGVsbG8", `"aGVsbG8="`},
		"SMIMEA":     {"", "3 1 1", "3 1 1 ab", "4 0 0 ab"},
		"DNAME":      {"", ".", "foo", "192.0.2.1", "h.example.com", "x.h.example.com", "*.example.net"},
		"MX":         {"", "mail", "192.0.2.1", "10 mail.example.com", "mail_1.example.com", "mail.example.com."[:4] + ".", "."},
		"ALIAS":      {"192.0.2.1", "host", "a.example.net b.example.net", "*.example.net", `\# 4 c0000201`, "@"},
		"FORWARD":    {"example.net", "ftp://example.net/", "https://user@example.net/", "303 https://example.net/", "https://192.0.2.1/", "https://example.net/a b", "https:///x", "javascript:alert(1)", "//example.net", "https://example.net:0/", "https://example.net:65536/", "https://example.net/" + strings.Repeat("x", 2000)},
		"ANAME":      {"host.example.net"}, "SOA": {"a b 1 2 3 4 5"}, "": {"x"}, "ANY": {"x"}, "TYPE1": {"x"}, "TYPE65536": {`\# 1 00`}, "TYPE6": {`\# 1 00`}, "TYPE65280": {"x", `\#`, `\# 2 00`, `\# 1 0`, `\# 0`, `"\# 1 00"`}, "A\n": {"192.0.2.1"}, "RRSIG": {"x"}, "DNSKEY": {"x"}, "SPF": {"x"},
	} {
		for _, value := range values {
			r := rec(kind, "h", value)
			if kind == "MX" {
				r.Distance = num(10)
			}
			got, err := r.Canonical(zoneName)
			if err == nil {
				t.Errorf("%s %.80q: got %q, want it refused", kind, value, got.Value)
				continue
			}
			refused(t, kind+" "+value, err)
		}
	}
}

// The generic form is accepted for every type, and stands for the type that has the
// number (RFC 3597, 5).
func TestGenericFormOfKnownTypes(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"A", `\# 4 c0000201`, "A h 192.0.2.1 3600 -"},
		{"TYPE1", `\# 4 C000 0201`, "A h 192.0.2.1 3600 -"},
		{"TYPE28", "2001:db8::1", "AAAA h 2001:db8::1 3600 -"},
		{"TYPE15", `\# 9 000a0161036E657400`, "MX h a.net 3600 10"},
		{"TYPE16", `\# 4 03616263`, "TXT h abc 3600 -"},
		{"type16", `\# 4 035c2320`, `TXT h \#  3600 -`},
		{"TYPE16", "abc", "TXT h abc 3600 -"},
		{"TXT", `\# 4 03616263`, `TXT h \# 4 03616263 3600 -`},
		{"TYPE33", `\# 13 000100020003016103636f6d00`, "SRV h 1 2 3 a.com 3600 2"},
	} {
		got, err := rec(c.kind, "h", c.value).Canonical(zoneName)
		if err != nil || got.Type+" "+show(got) != c.want {
			t.Errorf("%s %s: got %s %s, %v, want %s", c.kind, c.value, got.Type, show(got), err, c.want)
		}
	}
	for distance, want := range map[int]bool{10: true, 11: false} {
		if _, err := dist(rec("MX", "h", `\# 9 000a0161036E657400`), distance).Canonical(zoneName); (err == nil) != want {
			t.Errorf("preference 10, distance %d: got %v", distance, err)
		}
	}
	_, err := rec("TYPE16", "h", `\# 5 03616263`).Canonical(zoneName)
	refused(t, "a wrong length", err)
}

func TestBrokenPunycodeIsRefused(t *testing.T) {
	for _, r := range []dnszone.Record{
		rec("A", "xn--a", "192.0.2.1"), rec("A", "xn--", "192.0.2.1"), rec("A", "a.xn--99999999999", "192.0.2.1"), rec("CNAME", "h", "xn--99999999999.com"),
		dist(rec("MX", "h", "xn--a.com"), 1), rec("HTTPS", "h", "1 xn--a.com"), rec("A", "xn--BCHER-kvA9z9z9z9", "192.0.2.1"),
	} {
		got, err := r.Canonical(zoneName)
		if err == nil {
			t.Errorf("%s %s: got %v, want it refused", r.Host, r.Value, got)
			continue
		}
		refused(t, r.Host+" "+r.Value, err)
	}
	for _, r := range []dnszone.Record{
		rec("A", "xn--bcher-kva", "192.0.2.1"), rec("CNAME", "h", "xn--ls8h.la"), rec("TXT", "h", "xn--a"), rec("CAA", "h", `0 issue "xn--a.com"`),
	} {
		if _, err := r.Canonical(zoneName); err != nil {
			t.Errorf("%s %s: %v", r.Host, r.Value, err)
		}
	}
}

func TestCanonicalPlace(t *testing.T) {
	ds := "1 13 2 " + strings.Repeat("ab", 32)
	for _, r := range []dnszone.Record{
		rec("CNAME", "@", "host.example.net"), rec("CNAME", "example.com.", "host.example.net"), rec("NS", "@", "ns1.example.net"),
		rec("NS", "*", "ns1.example.net"), rec("NS", "*.a", "ns1.example.net"), rec("DS", "@", ds), rec("DS", "*.a", ds), rec("SOA", "@", "x"),
		rec("CNAME", "*", "*.example.com"),
	} {
		_, err := r.Canonical(zoneName)
		refused(t, r.Type+" at "+r.Host, err)
	}
	for _, r := range []dnszone.Record{rec("NS", "sub", "ns1.example.net"), rec("DS", "sub", ds), rec("CNAME", "*", "example.com"), rec("HTTPS", "@", "0 host.example.net")} {
		if _, err := r.Canonical(zoneName); err != nil {
			t.Errorf("%s at %s: %v", r.Type, r.Host, err)
		}
	}
}

func TestCanonicalTTL(t *testing.T) {
	for ttl, want := range map[int]int{0: 3600, 60: 60, 3600: 3600, 86400: 86400, -1: -1, 1: -1, 59: -1, 86401: -1} {
		r := rec("A", "@", "192.0.2.1")
		r.TTL = ttl
		got, err := r.Canonical(zoneName)
		if want < 0 {
			refused(t, "ttl", err)
		} else if err != nil || got.TTL != want {
			t.Errorf("ttl %d: got %d, %v, want %d", ttl, got.TTL, err, want)
		}
	}
	for _, ttl := range []int{0, -1, 59, 86401} {
		_, err := dnszone.RecordInput{Type: "A", Host: "@", Value: "192.0.2.1", TTL: num(ttl)}.Record(zoneName)
		refused(t, "an explicit ttl", err)
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// Every type is in the API reference, on the page and in the docs.
func TestTypesAreListed(t *testing.T) {
	for path, form := range map[string]string{"../../api/openapi.yaml": `(?m)^ +pattern: .*[(|]%s[|]`, "../../web/src/lib/zone.svelte.ts": `export const types = .*'%s'`, "../../docs/dns.md": `(?m)^\|[A-Z, ]* %s[, ].*\|`} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range dnszone.TypeNames() {
			if !regexp.MustCompile(fmt.Sprintf(form, name)).Match(text) {
				t.Errorf("%s does not list %s", path, name)
			}
		}
	}
}
