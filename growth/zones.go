package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"sync"
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows := &servedRows{zones: make(chan composed, 256), left: f.names}
	f.compose(ctx, master, rows.zones)
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"served"}, []string{"zone_id", "owner", "type", "ttl", "data", "added_serial"}, rows)
	return err
}

// A composed is a zone as name servers answer it.
type composed struct {
	id   string
	zone dnssec.ServedZone
	err  error
}

// zoneID returns the ID that fill.sql gives to the zone of the name with this number.
func zoneID(i int) string { return fmt.Sprintf("zone_%x", md5.Sum(fmt.Appendf(nil, "deed%d", i))) }

// compose sends every zone, composed on all processors, then closes the channel.
func (f filler) compose(ctx context.Context, master deed.Secret, out chan<- composed) {
	servers := app.Default().Nameservers
	_, parent, _ := strings.Cut(servers[0], ".")
	publishing := dnssec.Publishing{SOA: dnssec.NewSOA(servers[0], "hostmaster."+parent), Servers: servers, Master: master}
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < f.names; i = int(next.Add(1)) - 1 {
				z, err := publishing.Serve(zoneOf(domain(i)), dnssec.ServedZone{}, dnssec.Serving{Keys: []dnssec.KeyID{{Generation: 1}}, Now: time.Now()})
				select {
				case out <- composed{zoneID(i), z, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		all.Wait()
		close(out)
	}()
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
	left  int // zones that have not come yet
	now   composed
	next  int // row of the present zone
}

// Next implements pgx.CopyFromSource.
func (r *servedRows) Next() bool {
	for r.next++; r.next >= len(r.now.zone.RRs); r.next = 0 {
		if r.left == 0 || r.now.err != nil {
			return false
		}
		if r.left--; r.left%100_000 == 0 && r.left > 0 {
			progress("%d zones are left to be signed", r.left)
		}
		var ok bool
		if r.now, ok = <-r.zones; !ok {
			r.now.err = context.Canceled
		}
	}
	return true
}

// Values implements pgx.CopyFromSource.
func (r *servedRows) Values() ([]any, error) {
	rr := r.now.zone.RRs[r.next]
	return []any{r.now.id, rr.Owner, int64(rr.Type), int64(rr.TTL), hex.EncodeToString([]byte(rr.Data)), int64(2)}, nil
}

// Err implements pgx.CopyFromSource.
func (r *servedRows) Err() error { return r.now.err }
