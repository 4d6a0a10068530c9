package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// manyZones is how many zones a node starts with, of ten records each.
const manyZones = 20_000

// zoneRows measures the start of a node with many zones, unsigned and signed as
// new ones are.
func zoneRows() (rows []row, err error) {
	for _, signed := range []bool{false, true} {
		more, err := startRows(signed)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// startRows compares loading the zones into the name server, from SQLite and from a
// snapshot, with only reading them from SQLite, and measures their memory.
func startRows(signed bool) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "deed-bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, path, kind := context.Background(), filepath.Join(dir, "deed.db"), "unsigned"
	if signed {
		kind = "signed"
	}
	began := time.Now()
	var files []peer.Zone // what other servers load
	wire, err := fillZones(ctx, path, signed, func(z dnssec.ServedZone) error {
		files = append(files, peer.NewZone(z))
		return nil
	})
	if err != nil {
		return nil, err
	}
	made := time.Since(began)
	db, err := sqldb.OpenSQLite(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began = time.Now()
	if err := (sqldb.Served{DB: db}).All(ctx, func(dnssec.ServedZone) error { return nil }); err != nil {
		return nil, err
	}
	read := time.Since(began)
	var last time.Duration
	for _, start := range []struct{ how, snapshot string }{
		{"loaded at the start", ""},
		{"loaded at the first start, which writes the snapshot", filepath.Join(dir, "snapshot")},
		{"loaded at the next start, from the snapshot", filepath.Join(dir, "snapshot")},
	} {
		loaded, used, err := loadZones(ctx, db, start.snapshot)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%d %s zones, %s: %.1f s (only reading takes %.1f s) and %d MB of the heap; %d MB on the wire, made in %.0f s\n",
			manyZones, kind, start.how, loaded.Seconds(), read.Seconds(), used>>20, wire>>20, made.Seconds())
		rows = append(rows, row{what: kind + " zones of ten records, " + start.how, against: "only reading them from SQLite",
			ours: manyZones / loaded.Seconds(), limit: manyZones / read.Seconds()})
		last = loaded
	}
	for _, name := range []string{"knot", "nsd"} {
		took, err := startPeer(name, kind, files)
		if errors.Is(err, peer.ErrMissing) {
			fmt.Fprintln(os.Stderr, "bench:", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{what: kind + " zones of ten records, loaded at the next start, from the snapshot", against: "the start of " + name + " with the same zones, and writing their files",
			ours: manyZones / last.Seconds(), limit: manyZones / took.Seconds()})
	}
	return rows, nil
}

// startPeer returns how long another name server takes to serve all zones, and prints
// its memory.
func startPeer(name, kind string, zones []peer.Zone) (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "deed-bench")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	began := time.Now()
	p, err := peer.Start(name, dir, zones)
	if err != nil {
		return 0, err
	}
	took = time.Since(began)
	fmt.Printf("%d %s zones, loaded by %s: %.1f s, with writing the files and a query for each, and %d MB of memory\n", manyZones, kind, name, took.Seconds(), p.Memory()>>20)
	return took, p.Stop()
}

// loadZones publishes all zones into a name server, and returns the duration and
// the memory that they use.
func loadZones(ctx context.Context, db *sqldb.DB, snapshot string) (took time.Duration, used int64, err error) {
	cfg := nameserver.Defaults()
	cfg.Listen = "127.0.0.1:0"
	s, err := nameserver.Open(cfg)
	if err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	before := heap()
	follower := &zone.Follower{Zones: sqldb.Served{DB: db}, Publishers: []dnssec.Publisher{s}, Now: time.Now}
	if snapshot != "" {
		follower.Snapshot = &nameserver.Snapshot{Server: s, Path: snapshot}
	}
	began := time.Now()
	loaded, err := follower.Load(ctx)
	took = time.Since(began)
	if err == nil && loaded.Zones != manyZones {
		err = fmt.Errorf("loaded %d zones of %d", loaded.Zones, manyZones)
	}
	used = heap() - before
	return took, used, errors.Join(err, s.Close(), <-done)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fillZones writes the zones to the database directly, without orders, and returns
// the size of their records in wire format.
func fillZones(ctx context.Context, path string, signed bool, each func(dnssec.ServedZone) error) (wire int64, err error) {
	db, err := sqldb.OpenSQLite(ctx, path) // creates the tables
	if err != nil {
		return 0, err
	}
	if err := db.Close(); err != nil {
		return 0, err
	}
	raw, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(0)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	tx, err := raw.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // does nothing after Commit
	zones, err := tx.PrepareContext(ctx, `
		INSERT INTO zones (id, domain, serial, member, generation, renew_at, changed_at) VALUES ($1, $2, 1, $1, 0, 0, 0)`)
	if err != nil {
		return 0, err
	}
	served, err := tx.PrepareContext(ctx, `INSERT INTO served (zone_id, owner, type, ttl, data, added_serial) VALUES ($1, $2, $3, $4, $5, 1)`)
	if err != nil {
		return 0, err
	}
	err = composed(signed, func(z dnssec.ServedZone) error {
		id := "zone_" + z.Origin
		if _, err := zones.ExecContext(ctx, id, z.Origin); err != nil {
			return err
		}
		for _, rr := range z.RRs {
			wire += int64(len(rr.Owner) + 2 + 10 + len(rr.Data))
			if _, err := served.ExecContext(ctx, id, rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data))); err != nil {
				return err
			}
		}
		return each(z)
	})
	if err != nil {
		return 0, err
	}
	return wire, tx.Commit()
}

// composed yields all zones in served form, composed in parallel on all
// processors.
func composed(signed bool, yield func(dnssec.ServedZone) error) error {
	type made struct {
		zone dnssec.ServedZone
		err  error
	}
	out, stop := make(chan made, 256), make(chan struct{})
	defer close(stop)
	var next atomic.Int64
	for range runtime.NumCPU() {
		go func() {
			for i := int(next.Add(1)) - 1; i < manyZones; i = int(next.Add(1)) - 1 {
				z, err := compose(i, signed)
				select {
				case out <- made{z, err}:
				case <-stop:
					return
				}
			}
		}()
	}
	for range manyZones {
		m := <-out
		if m.err != nil {
			return m.err
		}
		if err := yield(m.zone); err != nil {
			return err
		}
	}
	return nil
}

// compose returns one zone, composed like a customer's.
func compose(i int, signed bool) (dnssec.ServedZone, error) {
	z := benchZone(i)
	records, err := dnszone.ParseZoneFile(dnszone.ZoneFile{Zone: deed.Name(z.Origin), Text: strings.NewReader(z.File)})
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	how := dnssec.Serving{Now: time.Now()}
	if signed {
		how.Keys = []dnssec.KeyID{{Generation: 1}}
	}
	return jobZones(nil).Publishing.Serve(dnszone.Zone{Name: deed.Name(z.Origin), Serial: 1, Records: records}, dnssec.ServedZone{}, how)
}
