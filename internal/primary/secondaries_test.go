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
func (h *house) notifier(t *testing.T, servers ...*secondary) *primary.Notifier {
	t.Helper()
	n := &primary.Notifier{Catalog: h.catalog, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	for _, s := range servers {
		n.Secondaries = append(n.Secondaries, s.asSecondary(t))
	}
	n.Start()
	t.Cleanup(func() { giveUp(n) })
	return n
}

func publish(t *testing.T, n *primary.Notifier, z dnssec.ServedZone) {
	t.Helper()
	if err := n.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
}

// randomEdit adds a few records or takes a few away. All records of one owner
// and type have one TTL (RFC 2181, 5.2).
func randomEdit(t *testing.T, dice *rand.Rand, origin string) func([]dnszone.RR) []dnszone.RR {
	return func(others []dnszone.RR) []dnszone.RR {
		for range 1 + dice.IntN(4) {
			if dice.IntN(3) == 0 && len(others) > 1 {
				others = slices.Delete(others, 1, 2) // the first is the NS
				continue
			}
			if one := randomRecord(t, dice, origin); !slices.Contains(others, one) {
				others = append(others, one)
			}
		}
		return others
	}
}

func randomRecord(t *testing.T, dice *rand.Rand, origin string) dnszone.RR {
	t.Helper()
	host, n := dice.IntN(20), dice.IntN(250)
	texts := []string{
		"h%d.%s. 60 IN A 192.0.2.%d", "h%d.%s. 60 IN AAAA 2001:db8::%d", "h%d.%s. 120 IN MX %d mail.example.net.",
		"h%d.%s. 120 IN TXT \"number %d\" \"; and \\\"more\\\"\"", "_s._tcp.h%d.%s. 60 IN SRV 1 2 %d host.example.net.",
		"h%d.%s. 300 IN CAA 0 issue \"ca%d.example.net\"", "sub%d.%s. 600 IN NS ns%d.example.net.",
		"h%d.%s. 60 IN HTTPS %d svc.example.net. alpn=h2,h3", "odd%d.%s. 60 IN TYPE65280 \\# 1 %02x",
		"*.w%d.%s. 60 IN A 192.0.2.%d",
	}
	return rr(t, fmt.Sprintf(texts[dice.IntN(len(texts))], host, origin, 1+n))
}

// A catalog feeds Knot and BIND: after many edits, and zones that came and went,
// they serve exactly what we have.
func TestCatalogFeedsSecondaries(t *testing.T) {
	for _, r := range []recipe{knot, bind} {
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
			dice := rand.New(rand.NewPCG(1, 2))
			for range 100 {
				origin := origins[dice.IntN(len(origins))]
				publish(t, n, h.edit(origin, randomEdit(t, dice, origin)))
			}
			h.remove(sold.Origin)
			withdraw(t, n, sold.Origin)
			s.awaitGone(t, sold.Origin)
			for _, origin := range origins {
				s.hasCaughtUp(t, h, origin)
			}
			singleEdits(t, h, n, s)
			changeOfHands(t, h, n, s)
		})
	}
}

// hasCaughtUp waits until the server has the zone, and compares it with ours.
func (s *secondary) hasCaughtUp(t *testing.T, h *house, origin string) {
	t.Helper()
	z, err := h.Zone(t.Context(), origin)
	if err != nil {
		t.Fatal(err)
	}
	s.awaitSerial(t, z)
	s.sameZone(t, z)
}

// singleEdits makes edits one at a time, each answered before the next: none of
// them is a whole transfer.
func singleEdits(t *testing.T, h *house, n *primary.Notifier, s *secondary) {
	t.Helper()
	dice := rand.New(rand.NewPCG(5, 6))
	full := h.count("axfr")
	for range 20 {
		z := h.edit("example.com", randomEdit(t, dice, "example.com"))
		publish(t, n, z)
		s.awaitSerial(t, z)
	}
	s.hasCaughtUp(t, h, "example.com")
	if got := h.count("axfr"); got != full {
		t.Errorf("%s: %d of 20 single edits were transferred whole", s.name, got-full)
	}
}

// changeOfHands sells a name to somebody else. Its zone begins again, with an
// older serial and a new label, and nothing of the old one stays.
func changeOfHands(t *testing.T, h *house, n *primary.Notifier, s *secondary) {
	t.Helper()
	h.remove("example.com")
	withdraw(t, n, "example.com")
	publish(t, n, h.add(t, "example.com", "e5", "new.example.com. 60 IN A 192.0.2.9"))
	s.hasCaughtUp(t, h, "example.com")
}

func withdraw(t *testing.T, n *primary.Notifier, origin string) {
	t.Helper()
	if err := n.Withdraw(t.Context(), origin); err != nil {
		t.Fatal(err)
	}
}
