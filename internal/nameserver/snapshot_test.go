package nameserver_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver"
)

// stored returns a zone as a database has it.
func stored(z dnssec.ServedZone, version string) dnssec.ServedZone {
	z.Version = version
	return z
}

// response returns the response to a query over TCP, in wire format without its ID.
func response(t testing.TB, server netip.AddrPort, name string, typ uint16) []byte {
	t.Helper()
	q := new(dns.Msg).SetQuestion(name, typ).SetEdns0(4096, true)
	q.Id = 1
	r, _, err := (&dns.Client{Net: "tcp", Timeout: time.Minute}).Exchange(q, server.String())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// build writes a snapshot with the zones, and serves them.
func build(t testing.TB, path string, zones ...dnssec.ServedZone) *nameserver.Snapshot {
	t.Helper()
	s := &nameserver.Snapshot{Server: serve(t, config()), Path: path}
	err := s.Build(func(add func(dnssec.ServedZone) error) error {
		for _, z := range zones {
			if err := add(z); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Zones of a file are answered as those in memory are, byte for byte: by the process
// that wrote it and by the next.
func TestSnapshotAnswersAlike(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zones")
	signed := stored(newSigner(t, "example.com").sign(t, zoneOf(t, "example.com", big())), "7")
	plain := stored(zoneOf(t, "xn--bcher-kva.example", testZone), "1")
	memory := serve(t, config())
	for _, z := range []dnssec.ServedZone{signed, plain} {
		if err := memory.Publish(t.Context(), z); err != nil {
			t.Fatal(err)
		}
	}
	first := build(t, path, signed, plain)
	next := &nameserver.Snapshot{Server: serve(t, config()), Path: path}
	if _, err := next.Open(); err != nil {
		t.Fatal(err)
	}
	if next.Restore("example.com", "6") || next.Restore("example.com", "") || next.Restore("example.org", "7") {
		t.Error("restored a version that the file does not have")
	}
	if !next.Restore("example.com", "7") || !next.Restore("xn--bcher-kva.example", "1") {
		t.Fatal("a zone is missing")
	}
	next.Close()
	questions := 0
	for _, z := range []dnssec.ServedZone{signed, plain} {
		names := map[string]bool{"missing." + z.Origin: true, "a.b.wild." + z.Origin: true}
		for _, rr := range z.RRs {
			names[rr.Owner] = true
		}
		for name := range names {
			for _, typ := range []uint16{dns.TypeA, dns.TypeMX, dns.TypeNS, dns.TypeTXT, dns.TypeSOA, dns.TypeDNSKEY} {
				want := response(t, memory.Addr(), name+".", typ)
				for _, s := range []*nameserver.Server{first.Server, next.Server} {
					if got := response(t, s.Addr(), name+".", typ); !bytes.Equal(got, want) {
						t.Fatalf("%s %s: got %x, want %x", name, dns.TypeToString[typ], got, want)
					}
					questions++
				}
			}
		}
	}
	t.Log(questions, "questions")
}

// A damaged file is refused, whatever byte is wrong and wherever it ends.
func TestDamagedSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zones")
	build(t, path, stored(zoneOf(t, "example.com", testZone), "1"), stored(zoneOf(t, "example.org", testZone), "1"))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&nameserver.Snapshot{Path: path}).Open(); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	for i := range good {
		if i%7 == 0 || i > len(good)-200 {
			raw := bytes.Clone(good)
			raw[i] ^= 1 << rand.N(8)
			refused(fmt.Sprint("byte ", i), raw)
		}
	}
	for _, n := range []int{0, 1, 63, 64, 72, len(good) / 2, len(good) - 8, len(good) - 1} {
		refused(fmt.Sprint("the first ", n), good[:n])
	}
	refused("a byte more", append(bytes.Clone(good), 0))
	refused("twice", append(bytes.Clone(good), good...)[1:])
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&nameserver.Snapshot{Path: path}).Open(); err != nil {
		t.Errorf("the good file: %v", err)
	}
}

// A process that is killed while it writes leaves a file, which a later one removes.
func TestUnfinishedSnapshotsAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zones")
	for name, age := range map[string]time.Duration{path + ".123": 2 * time.Hour, path + ".124": 0, path + ".old": 2 * time.Hour, path + "x.125": 2 * time.Hour} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	build(t, path, stored(zoneOf(t, "example.com", testZone), "1"))
	left, err := filepath.Glob(path + "*")
	if want := []string{path, path + ".124", path + ".old", path + "x.125"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("got %q, %v, want %q", left, err, want)
	}
}

// An empty server has a file, too.
func TestEmptySnapshot(t *testing.T) {
	s := build(t, filepath.Join(t.TempDir(), "zones"))
	if _, err := s.Open(); err != nil || s.Restore("example.com", "1") {
		t.Errorf("got %v", err)
	}
}

// Zones are served without a gap while files are written, replaced and unmapped.
func TestSaveWhileServing(t *testing.T) {
	const zones = 2500
	path := filepath.Join(t.TempDir(), "zones")
	snapshot := &nameserver.Snapshot{Server: serve(t, config()), Path: path}
	origin := func(i int) string { return fmt.Sprintf("n%d.com", i) }
	publish := func(serial uint32) {
		for i := range zones {
			z := zoneOf(t, origin(i), []string{"@ 300 NS ns.example.net.", "@ 300 A 192.0.2.1"})
			z.Serial, z.Version = serial, fmt.Sprint(serial)
			if err := snapshot.Server.Publish(t.Context(), z); err != nil {
				t.Error(err)
			}
		}
	}
	publish(1)
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for ctx.Err() == nil {
				r := new(dns.Msg)
				if err := r.Unpack(response(t, snapshot.Server.Addr(), origin(rand.N(zones))+".", dns.TypeA)); err != nil || len(r.Answer) != 2 && len(r.Answer) != 1 {
					t.Errorf("got %v, %v", r, err)
					return
				}
			}
		})
	}
	for serial := uint32(2); serial < 6; serial++ {
		if saved, err := snapshot.Save(); !saved || err != nil {
			t.Fatalf("serial %d: saved %v, %v", serial, saved, err)
		}
		if saved, err := snapshot.Save(); saved || err != nil {
			t.Errorf("nothing has changed: saved %v, %v", saved, err)
		}
		runtime.GC()
		publish(serial)
		runtime.GC()
	}
	stop()
	asking.Wait()
	if n := snapshot.Server.Counts().Zones; n != zones {
		t.Errorf("%d zones are served", n)
	}
}

// A file that cannot be written changes nothing.
func TestSaveOnFullDisk(t *testing.T) {
	s := &nameserver.Snapshot{Server: serve(t, config()), Path: filepath.Join(t.TempDir(), "missing", "zones")}
	for i := range 1000 {
		if err := s.Server.Publish(t.Context(), stored(zoneOf(t, fmt.Sprintf("n%d.com", i), testZone), "1")); err != nil {
			t.Fatal(err)
		}
	}
	if saved, err := s.Save(); saved || err == nil {
		t.Errorf("saved %v, %v", saved, err)
	}
	r := new(dns.Msg)
	if err := r.Unpack(response(t, s.Server.Addr(), "n7.com.", dns.TypeA)); err != nil || len(r.Answer) == 0 {
		t.Errorf("got %v, %v", r, err)
	}
}
