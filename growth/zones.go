package main

import (
	"context"
	"encoding/hex"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// fillZones copies what name servers answer into the database: each zone signed
// with its own key, as the service signs it.
func (f filler) fillZones(ctx context.Context, conn *pgx.Conn, master deed.Secret) error {
	if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE zone_ids AS SELECT domain, id FROM zones"); err != nil {
		return err
	}
	rows := &servedRows{zones: make(chan composed, 256), ids: map[string]string{}}
	found, err := conn.Query(ctx, "SELECT domain, id FROM zone_ids")
	if err != nil {
		return err
	}
	var name, id string
	if _, err := pgx.ForEachRow(found, []any{&name, &id}, func() error { rows.ids[name] = id; return nil }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f.compose(ctx, master, rows.zones)
	rows.left = f.names
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"served"}, []string{"zone_id", "owner", "type", "ttl", "data", "added_serial"}, rows)
	return err
}

// A composed is a zone as name servers answer it.
type composed struct {
	zone dnssec.ServedZone
	err  error
}

// compose sends every zone, composed on all processors.
func (f filler) compose(ctx context.Context, master deed.Secret, out chan<- composed) {
	servers := app.Default().Nameservers
	_, parent, _ := strings.Cut(servers[0], ".")
	publishing := dnssec.Publishing{SOA: dnssec.NewSOA(servers[0], "hostmaster."+parent), Servers: servers, Master: master}
	var next atomic.Int64
	for range runtime.NumCPU() {
		go func() {
			for i := int(next.Add(1)) - 1; i < f.names; i = int(next.Add(1)) - 1 {
				z, err := publishing.Serve(zoneOf(domain(i)), dnssec.ServedZone{}, dnssec.Serving{Keys: []dnssec.KeyID{{Generation: 1}}, Now: time.Now()})
				select {
				case out <- composed{z, err}:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
}

// zoneOf returns the zone of a name, with the records of fill.sql.
func zoneOf(name string) dnszone.Zone {
	priority := 10
	return dnszone.Zone{Name: deed.Name(name), Serial: 2, Records: []dnszone.Record{
		{Type: "A", Host: "@", Value: "192.0.2.1", TTL: 3600},
		{Type: "AAAA", Host: "@", Value: "2001:db8::1", TTL: 3600},
		{Type: "MX", Host: "@", Value: "mail." + name, TTL: 3600, Distance: &priority},
		{Type: "TXT", Host: "@", Value: "v=spf1 mx -all", TTL: 3600},
		{Type: "CNAME", Host: "www", Value: name, TTL: 3600},
	}}
}

// servedRows are the rows of all zones, for COPY.
type servedRows struct {
	zones chan composed
	ids   map[string]string // by name
	left  int               // zones that have not come yet
	now   dnssec.ServedZone
	next  int // row of the present zone
	err   error
}

// Next implements pgx.CopyFromSource.
func (r *servedRows) Next() bool {
	for r.next++; r.next >= len(r.now.RRs); r.next = 0 {
		if r.left == 0 || r.err != nil {
			return false
		}
		if r.left--; r.left%100_000 == 0 && r.left > 0 {
			progress("%d zones are left to be signed", r.left)
		}
		z := <-r.zones
		r.now, r.err = z.zone, z.err
	}
	return true
}

// Values implements pgx.CopyFromSource.
func (r *servedRows) Values() ([]any, error) {
	rr := r.now.RRs[r.next]
	return []any{r.ids[r.now.Origin], rr.Owner, int64(rr.Type), int64(rr.TTL), hex.EncodeToString([]byte(rr.Data)), int64(2)}, nil
}

// Err implements pgx.CopyFromSource.
func (r *servedRows) Err() error { return r.err }
