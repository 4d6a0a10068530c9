//go:build unix

package primary_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

// notifier starts a notifier for these servers.
func (h *testPrimary) notifier(t *testing.T, servers ...*secondary) *primary.Notifier {
	t.Helper()
	n := &primary.Notifier{Catalog: h.catalog, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	for _, s := range servers {
		n.Secondaries = append(n.Secondaries, s.asSecondary(t))
	}
	n.Start()
	t.Cleanup(func() { closeNow(n) })
	return n
}

func publish(t *testing.T, n *primary.Notifier, z dnssec.ServedZone) {
	t.Helper()
	if err := n.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
}

// randomEdit adds or removes a few records. All records of one owner and type have
// one TTL (RFC 2181, 5.2).
func randomEdit(t *testing.T, rng *rand.Rand, origin string) func([]dnszone.RR) []dnszone.RR {
	return func(others []dnszone.RR) []dnszone.RR {
		for range 1 + rng.IntN(4) {
			if rng.IntN(3) == 0 && len(others) > 1 {
				others = slices.Delete(others, 1, 2) // the first is the NS
				continue
			}
			if one := randomRecord(t, rng, origin); !slices.Contains(others, one) {
				others = append(others, one)
			}
		}
		return others
	}
}

func randomRecord(t *testing.T, rng *rand.Rand, origin string) dnszone.RR {
	t.Helper()
	host, n := rng.IntN(20), rng.IntN(250)
	texts := []string{
		"h%d.%s. 60 IN A 192.0.2.%d", "h%d.%s. 60 IN AAAA 2001:db8::%d", "h%d.%s. 120 IN MX %d mail.example.net.",
		"h%d.%s. 120 IN TXT \"number %d\" \"; and \\\"more\\\"\"", "_s._tcp.h%d.%s. 60 IN SRV 1 2 %d host.example.net.",
		"h%d.%s. 300 IN CAA 0 issue \"ca%d.example.net\"", "sub%d.%s. 600 IN NS ns%d.example.net.",
		"h%d.%s. 60 IN HTTPS %d svc.example.net. alpn=h2,h3", "odd%d.%s. 60 IN TYPE65280 \\# 1 %02x",
		"*.w%d.%s. 60 IN A 192.0.2.%d",
	}
	return rr(t, fmt.Sprintf(texts[rng.IntN(len(texts))], host, origin, 1+n))
}

// Knot and BIND follow the catalog: after many edits and added and removed zones,
// they serve exactly the zones of the primary.
func TestCatalogFeedsSecondaries(t *testing.T) {
	for _, r := range []serverKind{knot, bind} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			h.add(t, "example.com", "a1", "www.example.com. 60 IN A 192.0.2.1")
			h.add(t, "example.org", "b2")
			sold := h.add(t, "sold.example", "c3")
			s := r.start(t, h)
			n := h.notifier(t, s)
			s.awaitSerial(t, sold)

			origins := []string{"example.com", "example.org", "third.example", "fourth.example"}
			for i, origin := range origins[2:] {
				publish(t, n, h.add(t, origin, fmt.Sprintf("d%d", i)))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 100 {
				origin := origins[rng.IntN(len(origins))]
				publish(t, n, h.edit(origin, randomEdit(t, rng, origin)))
			}
			h.remove(sold.Origin)
			withdraw(t, n, sold.Origin)
			s.awaitGone(t, sold.Origin)
			for _, origin := range origins {
				s.waitInSync(t, h, origin)
			}
			singleEdits(t, h, n, s)
			changeOwner(t, h, n, s)
		})
	}
}

// waitInSync waits until the server has the current serial, and compares the zones.
func (s *secondary) waitInSync(t *testing.T, h *testPrimary, origin string) {
	t.Helper()
	z, err := h.Zone(t.Context(), origin)
	if err != nil {
		t.Fatal(err)
	}
	s.awaitSerial(t, z)
	s.sameZone(t, z)
}

// singleEdits makes edits one at a time, each served before the next: none of them
// causes a full transfer.
func singleEdits(t *testing.T, h *testPrimary, n *primary.Notifier, s *secondary) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	full := h.count("axfr")
	for range 20 {
		z := h.edit("example.com", randomEdit(t, rng, "example.com"))
		publish(t, n, z)
		s.awaitSerial(t, z)
	}
	s.waitInSync(t, h, "example.com")
	if got := h.count("axfr"); got != full {
		t.Errorf("%s: %d of 20 single edits caused a full transfer", s.name, got-full)
	}
}

// changeOwner transfers a name to another owner. Its zone starts over, with an older
// serial and a new label, and no record of the old zone remains.
func changeOwner(t *testing.T, h *testPrimary, n *primary.Notifier, s *secondary) {
	t.Helper()
	h.remove("example.com")
	withdraw(t, n, "example.com")
	publish(t, n, h.add(t, "example.com", "e5", "new.example.com. 60 IN A 192.0.2.9"))
	s.waitInSync(t, h, "example.com")
}

func withdraw(t *testing.T, n *primary.Notifier, origin string) {
	t.Helper()
	if err := n.Withdraw(t.Context(), origin); err != nil {
		t.Fatal(err)
	}
}
