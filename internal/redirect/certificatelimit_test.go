package redirect

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/dnszone"
)

// newLimited returns what decides about orders. A host below a name of the map belongs to
// the wallet; all other hosts are not forwarded.
func newLimited(owners map[deed.Name]deed.Wallet, perHour int) (*Certificates, *time.Time) {
	now := time.Unix(1_800_000_000, 0)
	counter := &memory.Cache{Now: func() time.Time { return now }}
	return &Certificates{
		Forward: func(_ context.Context, host string) (f dnszone.Forward, err error) {
			for name, owner := range owners {
				if host == string(name) || strings.HasSuffix(host, "."+string(name)) {
					return dnszone.Forward{Name: name, Owner: owner}, nil
				}
			}
			return f, deed.Errorf(deed.CodeNotFound, "%s is not forwarded", host)
		},
		Orders: counter, PerHour: perHour, Clients: Clients{Counter: counter}, Now: func() time.Time { return now },
		Log: slog.New(slog.DiscardHandler), failed: map[string]time.Time{},
		stored: func(_ context.Context, host string) bool { return strings.HasPrefix(host, "stored.") },
	}, &now
}

func TestOnlyHostNamesAreCertified(t *testing.T) {
	for host, want := range map[string]bool{
		"example.com": true, "WWW.Example.com": true, "xn--bcher-kva.example": true, "a.b.c.d.e.f.example.com": true, "1.example.com": true,
		"": false, "com": false, ".": false, "example.com.": false, ".example.com": false, "a..b": false, "-a.com": false, "a-.com": false, "_a.com": false, "*.a.com": false,
		"a b.com": false, "a\x00b.com": false, "\xff.com": false, "bücher.example": false, "192.0.2.1": false, "[::1]": false, "a/b.com": false, "a.com:443": false,
		strings.Repeat("a", 63) + ".com": true, strings.Repeat("a", 64) + ".com": false, strings.Repeat("a.", 125) + "com": true, strings.Repeat("a.", 126) + "com": false,
		strings.Repeat("a", 100_000): false,
	} {
		if got := certifiable(host); got != want {
			t.Errorf("%.80q: got %t, want %t", host, got, want)
		}
	}
}

// Neither a host nor a name nor a wallet can use up what others may order.
func TestOrdersAreLimited(t *testing.T) {
	c, now := newLimited(map[deed.Name]deed.Wallet{"a.com": "0xa", "b.com": "0xa", "c.com": "0xa", "d.com": "0xa", "e.com": "0xe"}, ordersPerWallet+2)
	order := func(host string, times, want int) {
		t.Helper()
		got := 0
		for range times {
			err := c.spend(t.Context(), host)
			if err == nil {
				got++
			} else if code := deed.CodeOf(err); code != deed.CodeRateLimited && code != deed.CodeNotFound {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%s: got %d orders, want %d", host, got, want)
		}
	}
	order("missing.com", 3, 0)
	order("a.com", 100, ordersPerHost)
	for _, host := range []string{"1", "2", "3", "4", "5"} {
		order(host+".a.com", 1, 1)
	}
	order("6.a.com", 1, 1)
	order("7.a.com", 100, 0) // the name has no more
	for _, name := range []string{"b.com", "c.com"} {
		for _, host := range []string{"1.", "2.", "3."} {
			order(host+name, 3, 3)
		}
	}
	order("b.com", 1, 1)
	order("c.com", 1, 1)
	order("d.com", 1, 0) // the wallet has no more
	order("e.com", 2, 2) // another one has
	order("1.e.com", 1, 0)
	*now = now.Add(time.Hour)
	order("a.com", 1, 1)
}

// A host that is not forwarded, or whose order has just failed, is refused before
// anything is counted.
func TestOrdersAreRefusedFirst(t *testing.T) {
	c, now := newLimited(map[deed.Name]deed.Wallet{"a.com": "0xa"}, 1)
	allowed := func(host string, want bool) {
		t.Helper()
		if err := c.allow(t.Context(), host); (err == nil) != want {
			t.Errorf("%s: got %v", host, err)
		}
	}
	allowed("a.com", true)
	allowed("A.com", true)
	allowed("b.com", false)
	allowed("_x.a.com", false)
	c.rest("A.com")
	c.rest("stored.a.com")
	allowed("a.com", false)
	allowed("stored.a.com", true) // it can be read, and is not renewed
	allowed("www.a.com", true)
	*now = now.Add(retryDelay)
	allowed("a.com", true)
	if n, _, err := c.Orders.Peek(t.Context(), "certificates", time.Hour); n != 0 || err != nil {
		t.Errorf("%d orders were counted: %v", n, err)
	}
	for i := range 2 * maxFailed { // whatever strangers ask for, the memory is bounded
		c.rest(strings.Repeat("a", i%60) + string(rune('a'+i%26)) + time.Unix(int64(i), 0).UTC().Format("20060102150405") + ".a.com")
	}
	if len(c.failed) > maxFailed {
		t.Errorf("%d hosts are remembered", len(c.failed))
	}
}

func TestClientsAreLimited(t *testing.T) {
	c := Clients{Counter: &memory.Cache{Now: time.Now}, Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
	for from, want := range map[string]int{"198.51.100.1:1": 5, "[::ffff:198.51.100.2]:1": 5, "192.0.2.1:1": 9, "[2001:db8::1]:1": 5} {
		got := 0
		for range 9 {
			if err := c.admit(t.Context(), "calls of "+from, from, 5); err == nil {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: got %d, want %d", from, got, want)
		}
	}
	if err := c.admit(t.Context(), "calls of [2001:db8::1]:1", "[2001:db8::2:3]:9", 5); err == nil {
		t.Error("another address of the same network has a count of its own")
	}
	if err := (Clients{}).admit(t.Context(), "calls", "198.51.100.1:1", 0); err != nil {
		t.Error(err)
	}
}
