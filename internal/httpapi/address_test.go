package httpapi

import (
	"net/http"
	"net/netip"
	"testing"

	"deed.example/deed/internal/ratelimit"
)

func TestClientAddr(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ffff::/48")}
	tests := []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"header of an untrusted peer", "192.0.2.1:5000", []string{"198.51.100.1"}, "192.0.2.1"},
		{"one proxy", "10.0.0.1:5000", []string{"198.51.100.1"}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:5000", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"a forged hop on the left", "10.0.0.1:5000", []string{"203.0.113.9, 198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		{"several lines", "10.0.0.1:5000", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"proxies only", "10.0.0.1:5000", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"no header", "10.0.0.1:5000", nil, "10.0.0.1"},
		{"nonsense", "10.0.0.1:5000", []string{"unknown"}, "10.0.0.1"},
		{"nonsense on the left", "10.0.0.1:5000", []string{"' or 1=1, 198.51.100.1"}, "198.51.100.1"},
		{"nonsense behind a proxy", "10.0.0.1:5000", []string{"198.51.100.1, what, 10.0.0.2"}, "10.0.0.2"},
		{"with a port", "10.0.0.1:5000", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"IPv6 with a port", "10.0.0.1:5000", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"IPv6 in brackets", "10.0.0.1:5000", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		{"a trusted proxy as an IPv4-mapped address", "[::ffff:10.0.0.1]:5000", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a zone", "[fe80::1%eth0]:5000", nil, "fe80::1"},
	}
	for _, tt := range tests {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := clientAddr(r, trusted).String(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestClientKey(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1":           "192.0.2.1",
		"2001:db8:1:2:3::4":   "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::": "2001:db8:1:2::/64",
	} {
		if got := ratelimit.AddressKey(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
