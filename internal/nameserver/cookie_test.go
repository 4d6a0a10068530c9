package nameserver

import (
	"encoding/hex"
	"net/netip"
	"testing"
)

// The cookies of RFC 9018, appendix A, which other servers make from the same
// secret, too.
func TestCookieVectors(t *testing.T) {
	for _, c := range []struct {
		name, secret, sent, from, want string
		now                            int64
		verified                       bool
	}{
		{"A.1, a new cookie", "e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957", "198.51.100.100",
			"2464c4abcf10c957010000005cf79f111f8130c3eee29480", 1559731985, false},
		{"A.2, the same, renewed", "e5e973e5a6b2a43f48e7dc849e37bfcf", "2464c4abcf10c957010000005cf79f111f8130c3eee29480", "198.51.100.100",
			"2464c4abcf10c957010000005cf7a871d4a564a1442aca77", 1559734385, true},
		{"A.3, expired", "e5e973e5a6b2a43f48e7dc849e37bfcf", "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", "203.0.113.203",
			"fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e", 1559734700, false},
		{"A.3, with reserved bits, at the time it was made", "e5e973e5a6b2a43f48e7dc849e37bfcf", "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", "203.0.113.203",
			"fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", 1559727985, true},
		{"A.4, IPv6", "445536bcd2513298075a5d379663c962", "22681ab97d52c298", "2001:db8:220:1:59de:d0f4:8769:82b8",
			"22681ab97d52c298010000005cf7c609a6bb79d16625507a", 1559741961, false},
	} {
		var secret [16]byte
		if _, err := hex.Decode(secret[:], []byte(c.secret)); err != nil {
			t.Fatal(err)
		}
		sent, err := hex.DecodeString(c.sent)
		if err != nil {
			t.Fatal(err)
		}
		got, verified := newCookies(secret).renew(nil, sent, netip.MustParseAddr(c.from), c.now)
		if hex.EncodeToString(got) != c.want || verified != c.verified {
			t.Errorf("%s: got %x, %v, want %s, %v", c.name, got, verified, c.want, c.verified)
		}
	}
}
