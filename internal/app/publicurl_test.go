package app

import (
	"net"
	"testing"
)

// A public URL is an origin as browsers write it. What cannot be the domain of a sign-in
// message, or is more than an origin, is refused.
func TestPublicURLIsAnOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://deed.example":             "https://deed.example",
		"https://deed.example/":            "https://deed.example",
		"HTTPS://Deed.Example:443":         "https://deed.example",
		"https://deed.example:":            "https://deed.example",
		"http://deed.example:80":           "http://deed.example",
		"http://deed.example:443":          "http://deed.example:443",
		"https://deed.example:8443":        "https://deed.example:8443",
		"https://münchen.example":          "https://xn--mnchen-3ya.example",
		"https://M%C3%BCNCHEN.example":     "https://xn--mnchen-3ya.example",
		"http://localhost:8080":            "http://localhost:8080",
		"http://deed_node-1:8080":          "http://deed_node-1:8080",
		"http://127.0.0.1:8080":            "http://127.0.0.1:8080",
		"https://[2001:DB8:0:0::1]":        "https://[2001:db8::1]",
		"https://[2001:db8::1]:8443":       "https://[2001:db8::1]:8443",
		"http://[fe80::1%25eth0]:8080":     "",
		"https://deed.example/api":         "",
		"https://deed.example?a=b":         "",
		"https://deed.example#a":           "",
		"https://user:secret@deed.example": "",
		"ftp://deed.example":               "",
		"deed.example":                     "",
		"https://":                         "",
		"https://:8443":                    "",
	} {
		u, err := ParsePublicURL(text)
		if err != nil && want != "" || err == nil && u.String() != want {
			t.Errorf("%s: got %v, %v, want %q", text, u, err, want)
		}
	}
}

// Without a public URL, the address that the service listens on is written as browsers do,
// too: a page at port 80 could not sign in otherwise.
func TestBaseWithoutPublicURL(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", "127.0.0.1:80": "http://127.0.0.1", "0.0.0.0:80": "http://localhost", "[::]:8080": "http://localhost:8080",
		"[::1]:80": "http://[::1]", "[::1]:8080": "http://[::1]:8080", "[fe80::1%eth0]:8080": "http://[fe80::1%25eth0]:8080",
	} {
		addr, err := net.ResolveTCPAddr("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		u, err := publicBase(&Config{}, addr)
		if err != nil || u.String() != want {
			t.Errorf("%s: got %v, %v, want %s", listen, u, err, want)
		}
	}
}
