//go:build long && unix

package primary_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // PowerDNS keeps its zones in a file of SQLite

	"deed.example/deed"
)

// NSD of Debian 12 reads no catalog: each zone is in its configuration.
var nsd = recipe{name: "NSD", program: "nsd", debian: "nsd", signs: true,
	prepare: func(t *testing.T, s *secondary, zones []string) []string {
		var text strings.Builder
		text.WriteString(`
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
	xfrd-reload-timeout: 0
	verbosity: 1
remote-control:
	control-enable: no
key:
	name: "{key}"
	algorithm: hmac-sha256
	secret: "{secret}"
`)
		for _, zone := range zones {
			fmt.Fprintf(&text, `
zone:
	name: %q
	zonefile: "%s.zone"
	request-xfr: 127.0.0.1@{from} {key}
	allow-notify: 127.0.0.0/8 {key}
	provide-xfr: 127.0.0.0/8 NOKEY
`, zone, zone)
		}
		return []string{"-d", "-c", s.write(t, "nsd.conf", text.String())}
	}}

// PowerDNS asks for the zones of a catalog without a signature.
var powerDNS = recipe{name: "PowerDNS", program: "pdns_server", debian: "pdns-server pdns-backend-sqlite3", signs: false,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		const schema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"
		text, err := os.ReadFile(schema)
		if err != nil {
			t.Skipf("PowerDNS has no SQLite here: apt-get install --no-install-recommends pdns-backend-sqlite3")
		}
		db, err := sql.Open("sqlite", filepath.Join(s.dir, "pdns.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range []string{string(text), fmt.Sprintf("INSERT INTO domains (name, master, type) VALUES ('%s', '%s', 'CONSUMER')", catalog, s.primary)} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		s.write(t, "pdns.conf", `
launch=gsqlite3
gsqlite3-database={dir}/pdns.sqlite
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port={port}
socket-dir={dir}
daemon=no
guardian=no
secondary=yes
xfr-cycle-interval=1
allow-notify-from=127.0.0.0/8
allow-axfr-ips=127.0.0.0/8
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
loglevel=4
`)
		return []string{"--config-dir=" + s.dir}
	}}

// A fleet of all kinds serves what we have after a thousand edits. It logs how
// long a change takes until a server answers with it.
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
	dice := rand.New(rand.NewPCG(3, 4))
	took := map[string][]time.Duration{}
	for i := range 1000 {
		origin := origins[dice.IntN(len(origins))]
		z := h.edit(origin, randomEdit(t, dice, origin))
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

// measure waits until all servers answer with z, side by side, and says how long
// each took.
func measure(t *testing.T, servers []*secondary, z deed.ServedZone, began time.Time) map[string]time.Duration {
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
