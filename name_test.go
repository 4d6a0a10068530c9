package deed_test

import (
	"strings"
	"testing"

	"deed.example/deed"
)

func TestParseName(t *testing.T) {
	for in, want := range map[string]deed.Name{
		"example.com":             "example.com",
		"A.COM":                   "a.com",
		"a.com.":                  "a.com",
		"a-1.io":                  "a-1.io",
		"example.co.uk":           "example.co.uk",
		"github.io":               "github.io", // a private suffix is a name like any other
		"bücher.de":               "xn--bcher-kva.de",
		"BÜCHER.de":               "xn--bcher-kva.de",
		"bu\u0308cher.de":         "xn--bcher-kva.de", // not in NFC
		"xn--bcher-kva.de":        "xn--bcher-kva.de",
		"日本語テスト.jp":               "xn--zckzah9945czlbtz6h.jp",
		"二〇二六.com":                "xn--w6jt23gba260a.com",
		"བོད་ཡིག.com":             "xn--nbd4itbt1dwfyc.com",
		"한국.com":                  "xn--3e0b707e.com",
		"\u1112\u1161\u11ab국.com": "xn--3e0b707e.com", // not in NFC
		"example.xn--p1acf":       "example.xn--p1acf",
		"example.рус":             "example.xn--p1acf",
		"a。com":                   "a.com", // an ideographic full stop is a dot (RFC 3490, 3.1)
		"123.com":                 "123.com",
		long(63) + ".com":         deed.Name(long(63) + ".com"),
		"straße.de":               "xn--strae-oqa.de",
		"xn--strae-oqa.de":        "xn--strae-oqa.de",
		"ｅｘａｍｐｌｅ.com":             "example.com",
	} {
		if got, err := deed.ParseName(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestParseNameRefuses(t *testing.T) {
	for _, in := range []string{
		"", ".", "com", "co.uk", "a..com", ".a.com", "a.com..", "-a.com", "a-.com", "*.com", "_a.com", "a_b.com", "ab--cd.com",
		"1.2.3.4", "[::1]", "a.com/evil", "a.com\x00", "a.com\n", "a.com\r\nb", " a.com", "a.com ", "a b.com", "a\u202eb.com",
		"www.example.com", "a.b.co.uk", "foo.github.io", long(64) + ".com", strings.Repeat("a.", 150) + "com", long(5000),
		"pаypal.com",        // a Cyrillic а among Latin letters
		"xn--pypal-4ve.com", // the same, in A-label form
		"xn--a.com",         // no such punycode
		"xn--.com",          //
		"i❤.com", "☃.com",   // symbols
		"xn--e28h.com",       // an emoji in A-label form
		"a\ufeff.com\xff",    // not UTF-8
		"١٢٣.com\u0661a.com", // mixed directions
		"س\u0640لام.com",     // the letters and marks that IDNA2008 disallows (RFC 5892, 2.6 and 2.9)
		"ㅋㅋㅋ.com", "\u1100.com", "xn--ypd.com", "〱.com",
	} {
		if got, err := deed.ParseName(in); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %q, %v, want %s", in, got, err, deed.CodeValidation)
		}
	}
}

func TestParseLabel(t *testing.T) {
	for in, want := range map[string]deed.Label{
		"example": "example", "Example": "example", "münchen": "xn--mnchen-3ya", "MÜNCHEN": "xn--mnchen-3ya", "mu\u0308nchen": "xn--mnchen-3ya", "xn--mnchen-3ya": "xn--mnchen-3ya",
	} {
		if got, err := deed.ParseLabel(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "a.b", "münchen.com", "a_b", "ä b", "-ä", "\xff", long(64), strings.Repeat("ä", 63)} {
		if got, err := deed.ParseLabel(in); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %q, %v, want %s", in, got, err, deed.CodeValidation)
		}
	}
}

func TestHostNameErrorHasRegisteredName(t *testing.T) {
	for in, want := range map[string]string{"www.example.com": " example.com", "a.b.example.co.uk": " example.co.uk", "x.github.io": " github.io"} {
		if _, err := deed.ParseName(in); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want it to end in %q", in, err, want)
		}
	}
}

func TestNameParts(t *testing.T) {
	n := deed.Name("xn--bcher-kva.co.uk")
	if n.Label() != "xn--bcher-kva" || n.TLD() != "co.uk" || !n.Label().IsIDN() || deed.Name("a.com").Label().IsIDN() {
		t.Errorf("got %q, %q, %v", n.Label(), n.TLD(), n.Label().IsIDN())
	}
}

func TestUnicode(t *testing.T) {
	for in, want := range map[deed.Name]string{
		"example.com": "example.com", "xn--bcher-kva.com": "bücher.com", "example.xn--p1acf": "example.рус", "xn--strae-oqa.de": "straße.de",
	} {
		if got := in.Unicode(); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
		if back, err := deed.ParseName(in.Unicode()); err != nil || back != in {
			t.Errorf("%s is written %q, and that is %q, %v", in, in.Unicode(), back, err)
		}
	}
}

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"ns1.example.com": "ns1.example.com", "NS1.EXAMPLE.COM.": "ns1.example.com", "ns1.bücher.com": "ns1.xn--bcher-kva.com", "example.com": "example.com",
	} {
		if got, err := deed.ParseHost(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "localhost", "192.0.2.1", "2001:db8::1", "a..com", "-a.com", "a_b.com", "*.com", "a.com/b", "a\x00.com", long(64) + ".com", strings.Repeat("a.", 150) + "com"} {
		if got, err := deed.ParseHost(in); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %q, %v, want %s", in, got, err, deed.CodeValidation)
		}
	}
}

func TestParseTLD(t *testing.T) {
	for in, want := range map[string]deed.TLD{"com": "com", "COM": "com", ".com": "com", "com.": "com", "co.uk": "co.uk", "рус": "xn--p1acf"} {
		if got, err := deed.ParseTLD(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "..com", "com..", "4", "c om", "com\n", "*", long(64), "-"} {
		if got, err := deed.ParseTLD(in); deed.CodeOf(err) != deed.CodeTLDNotSupported {
			t.Errorf("%q: got %q, %v, want %s", in, got, err, deed.CodeTLDNotSupported)
		}
	}
}

// A name that was parsed is its own canonical form, whatever it was parsed from.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{"example.com", "BÜCHER.de.", "a..b", "xn--a.com", "1.2.3.4", "日本.jp", "a.co.uk"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := deed.ParseName(s)
		if err != nil {
			return
		}
		if again, err := deed.ParseName(string(n)); err != nil || again != n {
			t.Errorf("%q is %q, and that is %q, %v", s, n, again, err)
		}
		if strings.ToLower(string(n)) != string(n) || len(n) > 253 || string(n.Label())+"."+string(n.TLD()) != string(n) {
			t.Errorf("%q is not canonical: %q", s, n)
		}
	})
}

func long(n int) string { return strings.Repeat("a", n) }
