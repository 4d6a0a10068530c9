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

// patience is how long a secondary may take for anything; it is no figure that
// a test is about.
const patience = time.Minute

// A recipe starts one kind of name server as a secondary. Zones are for servers
// that read no catalog.
type recipe struct {
	name  string
	signs bool // it takes and gives what is signed with our key
	run   func(t *testing.T, h *house, dir string, zones []string) (*peer.Daemon, error)
}

// secondary is a name server that runs in a folder of its own.
type secondary struct {
	recipe
	addr string // where it answers
}

var (
	knot = recipe{name: "Knot", signs: true, run: func(t *testing.T, h *house, dir string, _ []string) (*peer.Daemon, error) {
		return peer.StartKnot(dir, page(t), h.server.Addr().Port(), secret)
	}}
	bind = recipe{name: "BIND", signs: true, run: func(t *testing.T, h *house, dir string, _ []string) (*peer.Daemon, error) {
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
func (r recipe) start(t *testing.T, h *house, zones ...string) *secondary {
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
	return &secondary{recipe: r, addr: d.Addr.String()}
}

// await asks until it is done.
func (s *secondary) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !until(t.Context(), done) {
		t.Fatalf("%s: waited in vain for: %s", s.name, what)
	}
}

// until asks again and again until it is done, and reports whether it is.
func until(ctx context.Context, done func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// serves reports whether the server answers with the serial of z.
func (s *secondary) serves(ctx context.Context, z dnssec.ServedZone) bool {
	drift := &primary.Drift{Servers: []primary.Secondary{{Name: s.name, Addr: s.addr}}}
	state := drift.Check(ctx, z.Origin, z.Serial)[0]
	return state.Err == nil && state.Serial == z.Serial
}

// awaitSerial waits until the server answers with the serial of z.
func (s *secondary) awaitSerial(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	s.await(t, fmt.Sprintf("%s with the serial %d", z.Origin, z.Serial), func() bool { return s.serves(t.Context(), z) })
}

// awaitGone waits until the server does not serve the zone any more.
func (s *secondary) awaitGone(t *testing.T, origin string) {
	t.Helper()
	s.await(t, "the end of "+origin, func() bool {
		r, err := dns.Exchange(question(origin+".", dns.TypeSOA), s.addr)
		return err == nil && r.Rcode == dns.RcodeRefused
	})
}

// sameZone compares the zone there, record by record.
func (s *secondary) sameZone(t *testing.T, z dnssec.ServedZone) {
	t.Helper()
	m := question(z.Origin+".", dns.TypeAXFR)
	if s.signs {
		signed(m)
	}
	rrs, _ := transfer(t, s.addr, m)
	sameRecords(t, s.name+" "+z.Origin, body(t, rrs), z.RRs)
}

// asSecondary returns the server as the notifier knows it.
func (s *secondary) asSecondary(t *testing.T) primary.Secondary {
	t.Helper()
	to := primary.Secondary{Name: s.name, Addr: s.addr}
	if s.signs {
		to.Key = key(t)
	}
	return to
}
