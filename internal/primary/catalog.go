package primary

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/miekg/dns"
	"golang.org/x/sync/singleflight"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

const (
	// maxChanges bounds the changes that are sent. A secondary that is further behind
	// gets the whole catalog.
	maxChanges = 50_000

	refresh = 1800
	retry   = 300
	expire  = 28 * 24 * 3600
	minimum = 300
)

// A Catalog is the zone that lists the hosted zones (RFC 9432, version 2). It holds
// nothing that the Store does not have. Set both exported fields. It is safe for
// concurrent use.
type Catalog struct {
	Origin string // "catalog.invalid", without the last dot; must not be a hosted zone
	Store  Store

	reading singleflight.Group // of the whole catalog, by the serial that it has at least
}

// SOA returns the SOA of the catalog.
func (c *Catalog) SOA(ctx context.Context, _ string) (dnszone.RR, error) {
	serial, err := c.Store.CatalogSerial(ctx)
	if err != nil {
		return dnszone.RR{}, fmt.Errorf("read the serial of the catalog: %w", err)
	}
	return c.soa(serial), nil
}

// Zone returns the whole catalog. Callers at the same time share one reading, which is
// large.
func (c *Catalog) Zone(ctx context.Context, _ string) (dnssec.ServedZone, error) {
	now, err := c.Store.CatalogSerial(ctx)
	if err != nil {
		return dnssec.ServedZone{}, fmt.Errorf("read the serial of the catalog: %w", err)
	}
	z, err, _ := c.reading.Do(strconv.FormatUint(uint64(now), 10), func() (any, error) {
		members, serial, err := c.Store.Members(context.WithoutCancel(ctx))
		if err != nil {
			return dnssec.ServedZone{}, fmt.Errorf("read the members of the catalog: %w", err)
		}
		return c.build(members, serial), nil
	})
	return z.(dnssec.ServedZone), err
}

// Changes returns the changes of the catalog since the serial from, condensed. It fails
// with CodeNotFound when they are too many or not stored.
func (c *Catalog) Changes(ctx context.Context, _ string, from uint32) (removed, added []dnszone.RR, serial uint32, err error) {
	changes, serial, err := c.Store.CatalogChanges(ctx, from, maxChanges)
	if err != nil || from == serial {
		return nil, nil, serial, err
	}
	net := map[dnszone.RR]int{}
	for _, m := range changes {
		if rr := c.member(m.Label, m.Origin); m.Added {
			net[rr]++
		} else {
			net[rr]--
		}
	}
	removed, added = []dnszone.RR{c.soa(from)}, []dnszone.RR{c.soa(serial)}
	for rr, n := range net {
		switch {
		case n < 0:
			removed = append(removed, rr)
		case n > 0:
			added = append(added, rr)
		}
	}
	return removed, added, serial, nil
}

// member returns the record that lists a zone.
func (c *Catalog) member(label, origin string) dnszone.RR {
	return dnszone.RR{Owner: label + ".zones." + c.Origin, Type: dns.TypePTR, Data: wireName(origin)}
}

// build returns the catalog of these members (RFC 9432, 4).
func (c *Catalog) build(members []Member, serial uint32) dnssec.ServedZone {
	rrs := make([]dnszone.RR, 0, len(members)+3)
	rrs = append(rrs, c.soa(serial),
		dnszone.RR{Owner: c.Origin, Type: dns.TypeNS, Data: wireName("invalid")},
		dnszone.RR{Owner: "version." + c.Origin, Type: dns.TypeTXT, Data: "\x012"})
	for _, m := range members {
		rrs = append(rrs, c.member(m.Label, m.Origin))
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
