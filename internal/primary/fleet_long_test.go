//go:build long && unix

package primary_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // PowerDNS keeps its zones in a file of SQLite

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver/peer"
)

// NSD of Debian 12 does not support catalog zones: each zone is added by a command.
var nsd = serverKind{name: "NSD", signs: true, run: func(t *testing.T, h *testPrimary, dir string, zones []string) (*peer.Daemon, error) {
	d, err := peer.StartNSD(dir, page(t), h.server.Addr().Port(), secret)
	for _, zone := range zones {
		if err == nil {
			err = d.NSDControl("addzone", zone, "member")
		}
	}
	return d, err
}}

// PowerDNS transfers the zones of a catalog without a signature.
var powerDNS = serverKind{name: "PowerDNS", signs: false, run: func(t *testing.T, h *testPrimary, dir string, _ []string) (*peer.Daemon, error) {
	return peer.StartPowerDNS(dir, page(t), h.server.Addr().Port(), func(file, statements string) error {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			return err
		}
		_, err = db.Exec(statements)
		return errors.Join(err, db.Close())
	})
}}

// Every kind of secondary has the same zones as the primary after a thousand edits.
// The test logs how long it takes until a server serves a change.
func TestFleet(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	var origins []string
	for i := range 10 {
		origins = append(origins, fmt.Sprintf("z%d.example", i))
		h.add(t, origins[i], fmt.Sprintf("m%d", i))
	}
	quick := []*secondary{knot.start(t, h), bind.start(t, h), nsd.start(t, h, origins...)}
	slow := powerDNS.start(t, h)
	all := append(slices.Clone(quick), slow)
	n := h.notifier(t, all...)
	for _, origin := range origins {
		z, err := h.Zone(t.Context(), origin)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			s.awaitSerial(t, z)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	took := map[string][]time.Duration{}
	for i := range 1000 {
		origin := origins[rng.IntN(len(origins))]
		z := h.edit(origin, randomEdit(t, rng, origin))
		began := time.Now()
		publish(t, n, z)
		ask := quick
		if i%50 == 0 {
			ask = all
		}
		for name, d := range measure(t, ask, z, began) {
			took[name] = append(took[name], d)
		}
	}
	for _, s := range all {
		times := took[s.name]
		slices.Sort(times)
		t.Logf("%s: change → answer: p50 %s, p99 %s of %d", s.name, times[len(times)/2], times[len(times)*99/100], len(times))
	}
	for _, origin := range origins {
		z, err := h.Zone(t.Context(), origin)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			s.awaitSerial(t, z)
			s.sameZone(t, z)
		}
	}
	t.Logf("answers of the primary: %v", h.answers)
}

// NSD serves all changes at once, when many zones change together.
func TestNSDFollowsManyZones(t *testing.T) {
	h := open(t)
	var origins []string
	for i := range 300 {
		origins = append(origins, fmt.Sprintf("z%d.example", i))
		h.add(t, origins[i], fmt.Sprintf("m%d", i))
	}
	s := nsd.start(t, h, origins...)
	n := h.notifier(t, s)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4 {
		for _, origin := range origins {
			z, err := h.Zone(t.Context(), origin)
			if err != nil {
				t.Fatal(err)
			}
			s.awaitSerial(t, z)
		}
		for _, origin := range origins {
			publish(t, n, h.edit(origin, randomEdit(t, rng, origin)))
		}
	}
}

// measure waits concurrently until all servers serve z, and returns how long each
// took.
func measure(t *testing.T, servers []*secondary, z dnssec.ServedZone, began time.Time) map[string]time.Duration {
	t.Helper()
	times := make([]time.Duration, len(servers)) // 0: it never did
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			if until(t.Context(), func() bool { return s.serves(t.Context(), z) }) {
				times[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	took := map[string]time.Duration{}
	for i, s := range servers {
		if times[i] == 0 {
			t.Fatalf("%s never answered with %s %d", s.name, z.Origin, z.Serial)
		}
		took[s.name] = times[i]
	}
	return took
}
