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

	"deed.example/deed"
)

// NSD of Debian 12 reads no catalog: each zone is in its configuration.
var nsd = recipe{name: "NSD", program: "nsd", debian: "nsd", signs: true,
	prepare: func(t *testing.T, s *secondary, zones []string) []string {
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
		all, one, _ := strings.Cut(s.fromPaper(t), "zone:\n")
		text += all
		for _, zone := range zones {
			text += "zone:\n" + strings.ReplaceAll(one, "example.com", zone)
		}
		return []string{"-d", "-c", s.write(t, "nsd.conf", text)}
	}}

// PowerDNS asks for the zones of a catalog without a signature.
var powerDNS = recipe{name: "PowerDNS", program: "pdns_server", debian: "pdns-server pdns-backend-sqlite3", signs: false,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		schema, err := os.ReadFile("/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql")
		if err != nil {
			t.Skip("PowerDNS has no SQLite here: apt-get install --no-install-recommends pdns-backend-sqlite3")
		}
		db, err := sql.Open("sqlite", filepath.Join(s.dir, "pdns.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(string(schema))
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		s.write(t, "pdns.conf", s.fromPaper(t)+`
gsqlite3-database={dir}/pdns.sqlite
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port={port}
socket-dir={dir}
daemon=no
guardian=no
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
loglevel=4
`)
		for _, command := range [][]string{{"create-secondary-zone", catalog, s.primary}, {"set-kind", catalog, "consumer"}} {
			if out, err := exec.Command("pdnsutil", append([]string{"--config-dir", s.dir}, command...)...).CombinedOutput(); err != nil {
				t.Fatalf("pdnsutil %v: %v: %s", command, err, out)
			}
		}
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
