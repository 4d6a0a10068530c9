package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver/peer"
	"deed.example/deed/internal/sqldb"
)

const (
	peerTime = 20 * time.Minute // for another name server to start
	nsdZone  = 17 << 10         // bytes that NSD needs for one of very many of these zones, about
)

// peerNames are the servers that load the same zones.
var peerNames = []string{"knot", "nsd"}

// A peerFigure is how long another name server takes to start, and its memory. It is
// zero for one that was not started.
type peerFigure struct {
	took   time.Duration
	memory int64
}

// peerFigures starts other name servers with the zones of the database.
func peerFigures(ctx context.Context, f filler) (figures map[string]peerFigure, err error) {
	dir := filepath.Join(f.dir, "peers")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	zones, err := f.writeZones(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("write the zones for other name servers: %w", err)
	}
	figures = map[string]peerFigure{}
	for _, name := range peerNames {
		if free := availableMemory(); name == "nsd" && free > 0 && free < nsdZone*int64(len(zones)) {
			progress("nsd is not started: it would need about %d GB of memory, and %d GB are free", nsdZone*int64(len(zones))>>30, free>>30)
			continue
		}
		began := time.Now()
		p, err := peer.StartOn(name, dir, zones, peerTime)
		if errors.Is(err, peer.ErrMissing) {
			progress("%v", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		figures[name] = peerFigure{time.Since(began), p.Memory()}
		progress("%s has started in %.1f s, with %d MB of memory", name, figures[name].took.Seconds(), figures[name].memory>>20)
		if err := p.Stop(); err != nil {
			return nil, err
		}
	}
	return figures, nil
}

// writeZones writes the zone files of all zones, and returns their origins.
func (f filler) writeZones(ctx context.Context, dir string) (zones []peer.Zone, err error) {
	db, err := sqldb.OpenPostgresReadOnly(ctx, sqldb.PostgresConfig{URL: f.url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = sqldb.Served{DB: db}.All(ctx, func(z dnssec.ServedZone) error {
		if len(zones)%100_000 == 0 && len(zones) > 0 {
			progress("%d zone files are written", len(zones))
		}
		zones = append(zones, peer.Zone{Origin: z.Origin})
		return peer.NewZone(z).Write(dir)
	})
	return zones, err
}

// availableMemory returns how many bytes can be used without swapping, or 0 where it is
// not known.
func availableMemory() int64 {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(info)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	return 0
}
