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
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// manyZones is how many zones a node starts with, of ten records each.
const manyZones = 100_000

// zoneRows measures the start of a node with many zones: reading them from
// SQLite and making them ready to answer, against only reading them; and how
// much memory they take.
func zoneRows() (rows []row, err error) {
	dir, err := os.MkdirTemp("", "deed-bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, path := context.Background(), filepath.Join(dir, "deed.db")
	wire, err := fillZones(ctx, path)
	if err != nil {
		return nil, err
	}
	db, err := sqldb.OpenSQLite(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	began := time.Now()
	if err := (sqldb.Served{DB: db}).All(ctx, func(deed.ServedZone) error { return nil }); err != nil {
		return nil, err
	}
	read := time.Since(began)
	loaded, used, err := loadZones(ctx, db)
	if err != nil {
		return nil, err
	}
	fmt.Printf("a node starts with %d zones in %.1f s, of which %.1f s are reading; they take %d MB of memory, and %d MB on the wire\n\n",
		manyZones, loaded.Seconds(), read.Seconds(), used>>20, wire>>20)
	return []row{{what: "zones loaded at the start, of ten records", against: "only reading them from SQLite",
		ours: manyZones / loaded.Seconds(), limit: manyZones / read.Seconds()}}, nil
}

// loadZones publishes all zones into a name server, and returns how long that
// took and how much memory they hold.
func loadZones(ctx context.Context, db *sqldb.DB) (took time.Duration, used int64, err error) {
	cfg := nameserver.Defaults()
	cfg.Listen = "127.0.0.1:0"
	s, err := nameserver.Open(cfg)
	if err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	before := heap()
	follower := &zone.Follower{Zones: sqldb.Served{DB: db}, Publishers: []deed.Publisher{s}, Now: time.Now}
	began := time.Now()
	n, err := follower.Load(ctx)
	took = time.Since(began)
	if err == nil && n != manyZones {
		err = fmt.Errorf("loaded %d zones of %d", n, manyZones)
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

// fillZones writes the zones past all that sells them, and returns how many
// bytes their records have on the wire.
func fillZones(ctx context.Context, path string) (wire int64, err error) {
	db, err := sqldb.OpenSQLite(ctx, path) // makes the tables
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
	served, err := tx.PrepareContext(ctx, `INSERT INTO served (zone_id, owner, type, ttl, data, born) VALUES ($1, $2, $3, $4, $5, 1)`)
	if err != nil {
		return 0, err
	}
	for i := range manyZones {
		id, z := fmt.Sprintf("zone_%06d", i), benchZone(i)
		if _, err := zones.ExecContext(ctx, id, z.Origin); err != nil {
			return 0, err
		}
		out, err := serve(z)
		if err != nil {
			return 0, err
		}
		for _, rr := range out.RRs {
			wire += int64(len(rr.Owner) + 2 + 10 + len(rr.Data))
			if _, err := served.ExecContext(ctx, id, rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data))); err != nil {
				return 0, err
			}
		}
	}
	return wire, tx.Commit()
}
