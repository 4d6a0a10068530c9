package primary

import (
	"context"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// Withdrawn reads what is left of zones that are no longer served.
type Withdrawn interface {
	// Empty returns a zone without records, except for its SOA and NS, with a newer
	// serial than any that was served. It fails with CodeNotFound when the zone is
	// served, never was, or ended long ago.
	Empty(ctx context.Context, origin string) (dnssec.ServedZone, error)
}

// An emptyZone is the source of one zone that is no longer served. A secondary that
// does not follow the catalog transfers it, and then answers nothing of the old zone.
type emptyZone struct{ dnssec.ServedZone }

var _ source = emptyZone{}

// SOA implements source.
func (z emptyZone) SOA(context.Context, string) (dnszone.RR, error) {
	soa, _, err := takeSOA(z.RRs, z.Serial)
	return soa, err
}

// Zone implements source.
func (z emptyZone) Zone(context.Context, string) (dnssec.ServedZone, error) {
	return z.ServedZone, nil
}

// Changes implements source: there are none, so the secondary transfers all of it.
func (z emptyZone) Changes(context.Context, string, uint32) (removed, added []dnszone.RR, serial uint32, err error) {
	return nil, nil, 0, deed.Errorf(deed.CodeNotFound, "%s is no longer served", z.Origin)
}

// source returns where the zone is read from.
func (s *Server) source(ctx context.Context, origin string) (source, error) {
	if s.Catalog != nil && origin == s.Catalog.Origin {
		return s.Catalog, nil
	}
	if s.Withdrawn == nil {
		return s.Store, nil
	}
	if _, err := s.Store.SOA(ctx, origin); deed.CodeOf(err) != deed.CodeNotFound {
		return s.Store, nil // an error of it is reported when it is read again
	}
	z, err := s.Withdrawn.Empty(ctx, origin)
	return emptyZone{z}, err
}

// notifyWithdrawn announces the empty zone. A secondary that follows the catalog may
// have removed the zone already; any response of it counts.
func (n *Notifier) notifyWithdrawn(ctx context.Context, origin string) {
	if n.Withdrawn == nil {
		return
	}
	z, err := n.Withdrawn.Empty(ctx, strings.TrimSuffix(origin, "."))
	if err != nil {
		if deed.CodeOf(err) != deed.CodeNotFound { // else it is served again, or nothing is left of it
			n.Log.Warn("cannot tell secondaries that a zone is no longer served: they keep it until they ask again", "zone", origin, "err", err.Error())
		}
		return
	}
	soa, err := emptyZone{z}.SOA(ctx, origin)
	if err != nil {
		return
	}
	for _, q := range n.queues {
		q.addFinal(soa)
	}
}
