//go:build unix

package primary_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/primary"
)

// testTimeout bounds every wait for a secondary; no test asserts on it.
const testTimeout = time.Minute

// A serverKind starts one kind of name server as a secondary. Zones are for servers
// without support for catalog zones.
type serverKind struct {
	name  string
	signs bool // it supports TSIG with the test key
	run   func(t *testing.T, h *testPrimary, dir string, zones []string) (*peer.Daemon, error)
}

// secondary is a running name server with its own directory.
type secondary struct {
	serverKind
	addr string // where it answers
}

var (
	knot = serverKind{name: "Knot", signs: true, run: func(t *testing.T, h *testPrimary, dir string, _ []string) (*peer.Daemon, error) {
		return peer.StartKnot(dir, page(t), h.server.Addr().Port(), secret)
	}}
	bind = serverKind{name: "BIND", signs: true, run: func(t *testing.T, h *testPrimary, dir string, _ []string) (*peer.Daemon, error) {
		return peer.StartBIND(dir, page(t), h.server.Addr().Port(), secret)
	}}
)

// page returns docs/secondaries.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/secondaries.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// start starts the server and waits until it answers. It skips the test when
// the server is not installed.
func (r serverKind) start(t *testing.T, h *testPrimary, zones ...string) *secondary {
	t.Helper()
	d, err := r.run(t, h, t.TempDir(), zones)
	if errors.Is(err, peer.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", r.name, d.Log())
		}
	})
	return &secondary{serverKind: r, addr: d.Addr.String()}
}

// await polls until done returns true.
func (s *secondary) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !until(t.Context(), done) {
		t.Fatalf("%s: timed out waiting for %s", s.name, what)
	}
}

// until polls until done returns true or ctx ends, and reports which.
func until(ctx context.Context, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// serves reports whether the server has the serial of z.
func (s *secondary) serves(ctx context.Context, z dnssec.ServedZone) bool {
	drift := &primary.Drift{Servers: []primary.Secondary{{Name: s.name, Addr: s.addr}}}
	state := drift.Check(ctx, z.Origin, z.Serial)[0]
	return state.Err == nil && state.Serial == z.Serial
}

// awaitSerial waits until the server has the serial of z.
func (s *secondary) awaitSerial(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	s.await(t, fmt.Sprintf("%s with the serial %d", z.Origin, z.Serial), func() bool { return s.serves(t.Context(), z) })
}

// awaitGone waits until the server no longer serves the zone.
func (s *secondary) awaitGone(t *testing.T, origin string) {
	t.Helper()
	s.await(t, "the removal of "+origin, func() bool {
		r, err := dns.Exchange(question(origin+".", dns.TypeSOA), s.addr)
		return err == nil && r.Rcode == dns.RcodeRefused
	})
}

// sameZone compares the server's copy of the zone, record by record.
func (s *secondary) sameZone(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	m := question(z.Origin+".", dns.TypeAXFR)
	if s.signs {
		signed(m)
	}
	rrs, _ := transfer(t, s.addr, m)
	sameRecords(t, s.name+" "+z.Origin, body(t, rrs), z.RRs)
}

// asSecondary returns the server as a primary.Secondary.
func (s *secondary) asSecondary(t *testing.T) primary.Secondary {
	t.Helper()
	to := primary.Secondary{Name: s.name, Addr: s.addr}
	if s.signs {
		to.Key = key(t)
	}
	return to
}
