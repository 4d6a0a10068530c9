package nameserver

import (
	"net/netip"
	"testing"
)

func TestNetworks(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.255", true},
		{"192.0.2.1", "192.0.3.1", false},
		{"2001:db8:0:ff00::1", "2001:db8:0:ffff::1", true},
		{"2001:db8:0:ff00::1", "2001:db8:0:fe00::1", false},
		{"::1", "0.0.0.1", false},
	} {
		if got := network(netip.MustParseAddr(c.a)) == network(netip.MustParseAddr(c.b)); got != c.same {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// The count restarts every second, and a full counter does not wrap around.
func TestRateLimitPerSecond(t *testing.T) {
	l := newRateLimit(Config{RatePerSecond: 2, Slip: 0})
	a := netip.MustParseAddr("192.0.2.1")
	for _, second := range []int64{100, 101, 100 + 1<<17} {
		for i, want := range []verdict{send, send, sendNothing, sendNothing} {
			if got := l.spend(a, second); got != want {
				t.Errorf("second %d, answer %d: got %d, want %d", second, i+1, got, want)
			}
		}
	}
	for range 1 << 24 {
		l.spend(a, 200)
	}
	if got := l.spend(a, 200); got != sendNothing {
		t.Errorf("after 2^24 answers: got %d", got)
	}
}
