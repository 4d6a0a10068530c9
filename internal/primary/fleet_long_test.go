//go:build long && unix

package primary_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // PowerDNS keeps its zones in a file of SQLite

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver/peer"
)

// docSection returns the configuration in docs/secondaries.md under the heading.
func (h *testPrimary) docSection(t *testing.T, heading string) string {
	t.Helper()
	text, err := peer.ConfigFromDocs(page(t), heading, h.server.Addr().Port(), secret)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// NSD of Debian 12 does not support catalog zones: each zone is in its configuration.
var nsd = serverKind{name: "NSD", signs: true, run: func(t *testing.T, h *testPrimary, dir string, zones []string) (*peer.Daemon, error) {
	d, err := peer.NewDaemon("nsd", "nsd", dir)
	if err != nil {
		return nil, err
	}
	text := `
server:
	ip-address: 127.0.0.1@{port}
	username: ""
	chroot: ""
	zonesdir: "{dir}"
	database: ""
	pidfile: "{dir}/nsd.pid"
	xfrdfile: "{dir}/xfrd.state"
	xfrdir: "{dir}"
	zonelistfile: "{dir}/zone.list"
	server-count: 1
	verbosity: 1
remote-control:
	control-enable: no
`
	all, one, _ := strings.Cut(h.docSection(t, "NSD"), "zone:\n")
	text += all
	for _, zone := range zones {
		text += "zone:\n" + strings.ReplaceAll(one, "example.com", zone)
	}
	if err := d.Write("nsd.conf", text); err != nil {
		return nil, err
	}
	return d, d.Start("-d", "-c", "{dir}/nsd.conf")
}}

// PowerDNS transfers the zones of a catalog without a signature.
var powerDNS = serverKind{name: "PowerDNS", signs: false, run: func(t *testing.T, h *testPrimary, dir string, _ []string) (*peer.Daemon, error) {
	d, err := peer.NewDaemon("pdns_server", "pdns-server pdns-backend-sqlite3", dir)
	if err != nil {
		return nil, err
	}
	schema, err := os.ReadFile("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
	if err != nil {
		t.Skip("PowerDNS has no SQLite here: apt-get install --no-install-recommends pdns-backend-sqlite3")
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "pdns.sqlite"))
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(string(schema))
	err = errors.Join(err, db.Close(), d.Write("pdns.conf", h.docSection(t, "PowerDNS")+`
gsqlite3-database={dir}/pdns.sqlite
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port={port}
socket-dir={dir}
setuid=
setgid=
daemon=no
guardian=no
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
loglevel=4
`))
	if err != nil {
		return nil, err
	}
	for _, command := range [][]string{{"create-secondary-zone", catalog, h.addr}, {"set-kind", catalog, "consumer"}} {
		if out, err := exec.Command("pdnsutil", append([]string{"--config-dir", dir}, command...)...).CombinedOutput(); err != nil {
			t.Fatalf("pdnsutil %v: %v: %s", command, err, out)
		}
	}
	return d, d.Start("--config-dir={dir}")
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
