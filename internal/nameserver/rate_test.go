package nameserver

import (
	"net/netip"
	"testing"
)

func TestNetworks(t *testing.T) {
	l := newRateLimit(Defaults())
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
		if got := l.network(netip.MustParseAddr(c.a)) == l.network(netip.MustParseAddr(c.b)); got != c.same {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// A burst may have twice the limit. A client at the limit is answered for ever; a
// flood gets nothing, in later seconds neither, until it has ended.
func TestRateLimitPerSecond(t *testing.T) {
	l := newRateLimit(Config{RatePerSecond: 10, IPv4Prefix: 24, IPv6Prefix: 56})
	a := netip.MustParseAddr("192.0.2.1")
	answered := func(class uint64, second int64, n int) (sent int) {
		for range n {
			if l.spend(a, class, second) == send {
				sent++
			}
		}
		return sent
	}
	for second := range int64(1000) {
		if got := answered(1, second, 10); got != 10 {
			t.Fatalf("second %d at the limit: got %d responses, want 10", second, got)
		}
	}
	for second, want := range []int{20, 0, 0, 0} {
		if got := answered(2, int64(second), 100); got != want {
			t.Errorf("second %d of a flood: got %d responses, want %d", second, got, want)
		}
	}
	if got := answered(2, 12, 10); got != 10 {
		t.Errorf("after the flood: got %d responses, want 10", got)
	}
	if got := answered(3, 12, 1<<18+5); got != 20 {
		t.Errorf("a full counter: got %d responses, want 20", got)
	}
	if got := l.spend(a, 3, 12); got != sendNothing {
		t.Errorf("after the counter is full: got %d", got)
	}
}
