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
	// How long the catalog can be fetched in parts: so many changes, of so many
	// records altogether. Who is further behind gets the whole.
	maxSteps   = 256
	maxRecords = 50_000

	refresh = 1800
	retry   = 300
	expire  = 28 * 24 * 3600
	minimum = 300
)

// A Catalog is the zone that lists our zones (RFC 9432, version 2). It holds
// nothing that the Store does not know, but remembers its last editions, so that
// a secondary that has one of them is sent only what changed. Fill both exported
// fields. It is safe for concurrent use.
type Catalog struct {
	Origin string // "catalog.invalid", without the last dot; no zone of ours
	Store  Store

	mu   sync.Mutex // held while an edition is read, so that it is read once
	last *edition   // guarded by mu; nil before the first question
}

// An edition is the catalog at one serial, and never changes.
type edition struct {
	zone  dnssec.ServedZone
	steps []step // that led to it, oldest first
}

// A step leads from one serial to the one of the next step.
type step struct {
	from       uint32
	gone, came []dnszone.RR
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
	e, err := c.edition(ctx)
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	return e.zone, nil
}

// Changes returns what changed in the catalog since the serial from. It fails
// with CodeNotFound when that edition is not remembered.
func (c *Catalog) Changes(ctx context.Context, _ string, from uint32) (gone, came []dnszone.RR, serial uint32, err error) {
	e, err := c.edition(ctx)
	if err != nil {
		return nil, nil, 0, err
	}
	gone, came, err = e.since(from)
	return gone, came, e.zone.Serial, err
}

// edition returns the newest edition.
func (c *Catalog) edition(ctx context.Context) (*edition, error) {
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

// next returns the edition of zone that follows e, which is nil for the first.
func (e *edition) next(zone dnssec.ServedZone) *edition {
	if e == nil || !newer(zone.Serial, e.zone.Serial) {
		return &edition{zone: zone}
	}
	s := step{from: e.zone.Serial, gone: without(e.zone.RRs, zone.RRs), came: without(zone.RRs, e.zone.RRs)}
	steps := append(e.steps[:len(e.steps):len(e.steps)], s)
	records := 0
	for i := len(steps) - 1; i >= 0; i-- {
		records += len(steps[i].gone) + len(steps[i].came)
		if records > maxRecords || len(steps)-i > maxSteps {
			steps = steps[i+1:]
			break
		}
	}
	return &edition{zone: zone, steps: steps}
}

// since returns what changed since the serial from, condensed.
func (e *edition) since(from uint32) (gone, came []dnszone.RR, err error) {
	net := map[dnszone.RR]int{}
	found := from == e.zone.Serial
	for _, s := range e.steps {
		found = found || s.from == from
		if !found {
			continue
		}
		for _, rr := range s.gone {
			net[rr]--
		}
		for _, rr := range s.came {
			net[rr]++
		}
	}
	if !found {
		return nil, nil, deed.Errorf(deed.CodeNotFound, "the catalog with the serial %d is not remembered", from)
	}
	for rr, n := range net {
		if n < 0 {
			gone = append(gone, rr)
		}
		if n > 0 {
			came = append(came, rr)
		}
	}
	return gone, came, nil
}

// without returns those of rrs that are not among others.
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
