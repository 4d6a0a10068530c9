package primary

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

const (
	// Limits of the catalog's history: the number of changes, and of records in all
	// of them. A secondary that is further behind gets the whole catalog.
	maxSteps   = 256
	maxRecords = 50_000

	refresh = 1800
	retry   = 300
	expire  = 28 * 24 * 3600
	minimum = 300
)

// A Catalog is the zone that lists the hosted zones (RFC 9432, version 2). It holds
// nothing that the Store does not have, but caches its latest snapshots, so that a
// secondary that has one of them is sent only the changes. Set both exported
// fields. It is safe for concurrent use.
type Catalog struct {
	Origin string // "catalog.invalid", without the last dot; must not be a hosted zone
	Store  Store

	mu   sync.Mutex // held while a snapshot is read, so that it is read once
	last *snapshot  // guarded by mu; nil before the first query
}

// A snapshot is the catalog at one serial. It is immutable.
type snapshot struct {
	zone  dnssec.ServedZone
	steps []step // that led to it, oldest first
}

// A step leads from one serial to the one of the next step.
type step struct {
	from           uint32
	removed, added []dnszone.RR
}

// SOA returns the SOA of the catalog.
func (c *Catalog) SOA(ctx context.Context, _ string) (dnszone.RR, error) {
	serial, err := c.Store.CatalogSerial(ctx)
	if err != nil {
		return dnszone.RR{}, fmt.Errorf("read the serial of the catalog: %w", err)
	}
	return c.soa(serial), nil
}

// Zone returns the whole catalog.
func (c *Catalog) Zone(ctx context.Context, _ string) (dnssec.ServedZone, error) {
	e, err := c.snapshot(ctx)
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	return e.zone, nil
}

// Changes returns the changes of the catalog since the serial from. It fails with
// CodeNotFound when that snapshot is not cached.
func (c *Catalog) Changes(ctx context.Context, _ string, from uint32) (removed, added []dnszone.RR, serial uint32, err error) {
	e, err := c.snapshot(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	removed, added, err = e.since(from)
	return removed, added, e.zone.Serial, err
}

// snapshot returns the newest snapshot.
func (c *Catalog) snapshot(ctx context.Context) (*snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	serial, err := c.Store.CatalogSerial(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the serial of the catalog: %w", err)
	}
	if c.last != nil && c.last.zone.Serial == serial {
		return c.last, nil
	}
	members, serial, err := c.Store.Members(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the members of the catalog: %w", err)
	}
	c.last = c.last.next(c.build(members, serial))
	return c.last, nil
}

// build returns the catalog of these members (RFC 9432, 4).
func (c *Catalog) build(members []Member, serial uint32) dnssec.ServedZone {
	rrs := make([]dnszone.RR, 0, len(members)+3)
	rrs = append(rrs, c.soa(serial),
		dnszone.RR{Owner: c.Origin, Type: dns.TypeNS, Data: wireName("invalid")},
		dnszone.RR{Owner: "version." + c.Origin, Type: dns.TypeTXT, Data: "\x012"})
	for _, m := range members {
		rrs = append(rrs, dnszone.RR{Owner: m.Label + ".zones." + c.Origin, Type: dns.TypePTR, Data: wireName(m.Origin)})
	}
	return dnssec.ServedZone{Origin: c.Origin, Serial: serial, RRs: rrs}
}

func (c *Catalog) soa(serial uint32) dnszone.RR {
	data := []byte(wireName("invalid") + wireName("invalid"))
	for _, n := range []uint32{serial, refresh, retry, expire, minimum} {
		data = binary.BigEndian.AppendUint32(data, n)
	}
	return dnszone.RR{Owner: c.Origin, Type: dns.TypeSOA, Data: string(data)}
}

// next returns the snapshot of zone that follows e, which is nil for the first.
func (e *snapshot) next(zone dnssec.ServedZone) *snapshot {
	if e == nil || !newer(zone.Serial, e.zone.Serial) {
		return &snapshot{zone: zone}
	}
	s := step{from: e.zone.Serial, removed: without(e.zone.RRs, zone.RRs), added: without(zone.RRs, e.zone.RRs)}
	steps := append(e.steps[:len(e.steps):len(e.steps)], s)
	records := 0
	for i := len(steps) - 1; i >= 0; i-- {
		records += len(steps[i].removed) + len(steps[i].added)
		if records > maxRecords || len(steps)-i > maxSteps {
			steps = steps[i+1:]
			break
		}
	}
	return &snapshot{zone: zone, steps: steps}
}

// since returns the changes since the serial from, condensed.
func (e *snapshot) since(from uint32) (removed, added []dnszone.RR, err error) {
	net := map[dnszone.RR]int{}
	found := from == e.zone.Serial
	for _, s := range e.steps {
		found = found || s.from == from
		if !found {
			continue
		}
		for _, rr := range s.removed {
			net[rr]--
		}
		for _, rr := range s.added {
			net[rr]++
		}
	}
	if !found {
		return nil, nil, deed.Errorf(deed.CodeNotFound, "the catalog with serial %d is no longer cached", from)
	}
	for rr, n := range net {
		if n < 0 {
			removed = append(removed, rr)
		}
		if n > 0 {
			added = append(added, rr)
		}
	}
	return removed, added, nil
}

// without returns the records of rrs that are not in others.
func without(rrs, others []dnszone.RR) []dnszone.RR {
	among := make(map[dnszone.RR]struct{}, len(others))
	for _, rr := range others {
		among[rr] = struct{}{}
	}
	var left []dnszone.RR
	for _, rr := range rrs {
		if _, ok := among[rr]; !ok {
			left = append(left, rr)
		}
	}
	return left
}
