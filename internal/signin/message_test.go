package signin

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
)

const (
	account = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
	head    = "service.org wants you to sign in with your Ethereum account:\n" + account + "\n\n"
	fields  = "URI: https://service.org/login\nVersion: 1\nChain ID: 1\nNonce: 32891757\nIssued At: 2021-09-30T16:25:24.000Z"
	usual   = head + "I accept the Terms: https://service.org/tos\n\n" + fields
)

func TestParseMessage(t *testing.T) {
	text := "https://service.org:8080 wants you to sign in with your Ethereum account:\n" + account +
		"\n\nI accept the ServiceOrg Terms of Service: https://service.org/tos\n\n" + fields +
		"\nExpiration Time: 2021-10-01T16:25:24Z\nNot Before: 2021-09-30T18:25:24.5+02:00\nRequest ID: some-id@1" +
		"\nResources:\n- ipfs://Qme7ss3ARVgxv6rXqVPiikMJ8u2NLgmgszg13pYrDKEoiu\n- https://example.com/my-web2-claim.json?a=b/c#d"
	m, err := ParseMessage(text)
	if err != nil {
		t.Fatal(err)
	}
	if m.Scheme != "https" || m.Domain != "service.org:8080" || string(m.Wallet) != strings.ToLower(account) || m.URI != "https://service.org/login" ||
		m.ChainID != 1 || m.Nonce != "32891757" || *m.RequestID != "some-id@1" || len(m.Resources) != 2 || !strings.HasPrefix(*m.Statement, "I accept") {
		t.Errorf("got %+v", m)
	}
	if !m.IssuedAt.Equal(time.Date(2021, 9, 30, 16, 25, 24, 0, time.UTC)) || !m.Expires.Equal(time.Date(2021, 10, 1, 16, 25, 24, 0, time.UTC)) || !m.NotBefore.Equal(time.Date(2021, 9, 30, 16, 25, 24, 5e8, time.UTC)) {
		t.Errorf("got %s, %s, %s", m.IssuedAt, m.Expires, m.NotBefore)
	}
}

func TestParseMessageAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"a statement":                 usual,
		"no statement":                head + "\n" + fields,
		"an empty statement":          head + "\n\n" + fields,
		"a statement like a field":    head + "Nonce: 12345678\n\n" + fields,
		"all signs of a statement":    head + "azAZ09-._~:/?#[]@!$&'()*+,;= \n\n" + fields,
		"lower case":                  strings.Replace(usual, account, strings.ToLower(account), 1),
		"upper case":                  strings.Replace(usual, account, "0x"+strings.ToUpper(account[2:]), 1),
		"bare resources":              usual + "\nResources:",
		"an empty request ID":         usual + "\nRequest ID: ",
		"an encoded request ID":       usual + "\nRequest ID: a%20b",
		"expiration alone":            usual + "\nExpiration Time: 2021-10-01T16:25:24Z",
		"not before alone":            usual + "\nNot Before: 2021-10-01T16:25:24Z",
		"a port":                      strings.Replace(usual, "service.org", "localhost:8080", 1),
		"an IPv4 address":             strings.Replace(usual, "service.org", "127.0.0.1:8080", 1),
		"an IPv6 address":             strings.Replace(usual, "service.org", "[::1]:8080", 1),
		"a scheme":                    "https://" + usual,
		"a URN":                       strings.Replace(usual, "URI: https://service.org/login", "URI: urn:example:a", 1),
		"a URI with an IPv6 address":  strings.Replace(usual, "URI: https://service.org/login", "URI: https://[2001:db8::1]:80/a?b#c", 1),
		"a URI with user information": strings.Replace(usual, "URI: https://service.org/login", "URI: ftp://u:p@service.org/", 1),
		"a DID as a resource":         usual + "\nResources:\n- did:key:z6Mk",
		"a large chain":               strings.Replace(usual, "Chain ID: 1", "Chain ID: 18446744073709551615", 1),
		"a whole second":              strings.Replace(usual, "24.000Z", "24Z", 1),
		"an offset":                   strings.Replace(usual, "24.000Z", "24-07:00", 1),
		"a lower-case t and z":        strings.Replace(usual, "T16:25:24.000Z", "t16:25:24.000z", 1),
	} {
		if _, err := ParseMessage(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingAndEmptyStatement(t *testing.T) {
	for text, want := range map[string]*string{usual: ptr("I accept the Terms: https://service.org/tos"), head + "\n" + fields: nil, head + "\n\n" + fields: ptr("")} {
		m, err := ParseMessage(text)
		if err != nil || (m.Statement == nil) != (want == nil) || want != nil && *m.Statement != *want {
			t.Errorf("got %v, %v", m.Statement, err)
		}
	}
}

func TestParseMessageRefuses(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(usual, old, new, 1) }
	for name, text := range map[string]string{
		"nothing":                     "",
		"only the first line":         strings.SplitAfter(usual, "\n")[0],
		"a line feed at the end":      usual + "\n",
		"an extra line":               usual + "\nHello: world",
		"carriage returns":            strings.ReplaceAll(usual, "\n", "\r\n"),
		"no domain":                   swap("service.org", ""),
		"user information in it":      swap("service.org", "me@service.org"),
		"a path in the domain":        swap("service.org", "service.org/login"),
		"a space in the domain":       swap("service.org", "service org"),
		"a bad port":                  swap("service.org", "service.org:x"),
		"a bad scheme":                "1https://" + usual,
		"an empty scheme":             "://" + usual,
		"a bad IPv6 address":          swap("service.org", "[::g]"),
		"another preamble":            swap("Ethereum account", "Bitcoin account"),
		"a wrong checksum":            swap(account, "0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045"),
		"a short address":             swap(account, account[:41]),
		"no prefix":                   swap(account, account[2:]),
		"one empty line too few":      head + fields,
		"one empty line too many":     head + "\n\n\n" + fields,
		"a statement of two lines":    head + "one\ntwo\n\n" + fields,
		"a fake field in two lines":   head + "hello\nNonce: 12345678\n\n" + fields,
		"a quote in the statement":    head + "say \"yes\"\n\n" + fields,
		"an umlaut in the statement":  head + "für dich\n\n" + fields,
		"a tab in the statement":      head + "a\tb\n\n" + fields,
		"fields in another order":     swap("Version: 1\nChain ID: 1", "Chain ID: 1\nVersion: 1"),
		"no URI":                      swap("URI: https://service.org/login\n", ""),
		"a relative URI":              swap("URI: https://service.org/login", "URI: /login"),
		"a URI with a space":          swap("URI: https://service.org/login", "URI: https://service.org/a b"),
		"a URI with a bad escape":     swap("URI: https://service.org/login", "URI: https://service.org/%zz"),
		"a URI with brackets":         swap("URI: https://service.org/login", "URI: https://service.org/[a]"),
		"a URI with two fragments":    swap("URI: https://service.org/login", "URI: https://service.org/#a#b"),
		"a URI with a quote":          swap("URI: https://service.org/login", "URI: https://service.org/\"a\""),
		"version 2":                   swap("Version: 1", "Version: 2"),
		"version 01":                  swap("Version: 1", "Version: 01"),
		"a chain in hex":              swap("Chain ID: 1", "Chain ID: 0x1"),
		"a negative chain":            swap("Chain ID: 1", "Chain ID: -1"),
		"a signed chain":              swap("Chain ID: 1", "Chain ID: +1"),
		"no chain":                    swap("Chain ID: 1", "Chain ID: "),
		"a chain beyond 64 bits":      swap("Chain ID: 1", "Chain ID: 18446744073709551616"),
		"a short nonce":               swap("32891757", "3289175"),
		"a nonce with a dash":         swap("32891757", "3289-1757"),
		"no issued at":                swap("\nIssued At: 2021-09-30T16:25:24.000Z", ""),
		"a local time":                swap("24.000Z", "24"),
		"a day that does not exist":   swap("2021-09-30", "2021-02-30"),
		"a comma in the time":         swap("24.000Z", "24,000Z"),
		"a space in the time":         swap("30T16", "30 16"),
		"a short hour":                swap("T16:", "T1:"),
		"not before, then expiration": usual + "\nNot Before: 2021-10-01T16:25:24Z\nExpiration Time: 2021-10-01T16:25:24Z",
		"expiration twice":            usual + "\nExpiration Time: 2021-10-01T16:25:24Z\nExpiration Time: 2021-10-01T16:25:24Z",
		"a bad request ID":            usual + "\nRequest ID: a b",
		"a resource that is not one":  usual + "\nResources:\n- hello world",
		"a resource without a dash":   usual + "\nResources:\nhttps://service.org",
		"an empty line after it":      usual + "\nResources:\n",
		"a request ID after it":       usual + "\nResources:\n- https://service.org\nRequest ID: 1",
		"too long":                    usual + "\nResources:" + strings.Repeat("\n- https://service.org/", 1000),
	} {
		m, err := ParseMessage(text)
		if err == nil {
			t.Errorf("%s: got %+v", name, m)
		} else if strings.Contains(err.Error(), string(deed.CodeValidation)) {
			t.Errorf("%s: the message of an error has another one in it: %v", name, err)
		}
	}
}

// The hash covers the received bytes, as in EIP-191.
func TestHash(t *testing.T) {
	m, err := ParseMessage(usual)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ParseMessage(usual + "\nRequest ID: ")
	if err != nil {
		t.Fatal(err)
	}
	if m.Hash() == other.Hash() {
		t.Error("different texts have the same hash")
	}
	hello := Message{text: "hello world"} // the known hash of "hello world" by EIP-191
	if got := hello.Hash(); hex.EncodeToString(got[:]) != "d9eba16ed0ecae432b71fe008c98cc872bb4cc214d3220a36f365326cf807d68" {
		t.Errorf("got %x", got)
	}
}

// Arbitrary input never causes a panic, and accepted messages are well-formed.
func FuzzParseMessage(f *testing.F) {
	for _, s := range []string{usual, head + "\n" + fields, head + "\n\n" + fields, usual + "\nResources:", usual + "\nRequest ID: ", usual + "\nResources:\n- did:a:b", "", "\n\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMessage(s)
		if err != nil {
			return
		}
		again, err := ParseMessage(m.text)
		if err != nil || again.Hash() != m.Hash() || m.text != s {
			t.Errorf("%q: %v", s, err)
		}
		if strings.ContainsAny(s, "\r\t\x00") || len(m.Wallet) != 42 || len(m.Nonce) < 8 || m.IssuedAt.IsZero() && !strings.Contains(s, "0001-01-01") {
			t.Errorf("accepted %q as %+v", s, m)
		}
	})
}

func ptr(s string) *string { return &s }
