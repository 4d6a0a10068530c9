// Package primary is the hidden primary: it feeds our zones to a fleet of
// secondaries, the name servers that the world asks. The world never asks it.
//
// A change makes three steps. The Notifier tells every secondary that there is a
// new serial (RFC 1996). The secondary asks the Server for what changed since
// the serial it has (IXFR, RFC 1995), or for the whole zone (AXFR, RFC 5936).
// Drift looks which serial each of them answers with. The Catalog lists all our
// zones in a zone of its own (RFC 9432), so that a new name needs no work on any
// secondary.
//
// What must stay true: nobody reads a zone without a signature by one of our
// keys (TSIG, RFC 8945) or from an address that is let in without; all records
// of one transfer are of one serial; and telling a secondary never keeps a
// caller waiting. The database is the one truth, every node may serve it, and
// nothing here is lost with the process but notices, which are only a hurry: a
// secondary that missed one asks by itself when its refresh time has come.
package primary

import (
	"context"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// A Member is a zone as the catalog lists it.
type Member = dnssec.Member

// A Store keeps the zones. Every method sees one moment of the database, the
// latest that was committed before the call. A zone that is not served, or not
// any more, is a CodeNotFound. Every other error may pass when tried again.
type Store interface {
	// CatalogSerial returns the serial of the catalog. It grows (RFC 1982) with
	// every zone that comes, goes or gets a new label, and is the same on all
	// nodes. It is asked often and must be cheap.
	CatalogSerial(ctx context.Context) (uint32, error)

	// Members returns all zones that are served, in any order, and the serial
	// of the catalog at that moment.
	Members(ctx context.Context) ([]Member, uint32, error)

	// SOA returns the SOA of the zone. It is asked often and must be cheap.
	SOA(ctx context.Context, origin string) (dnszone.RR, error)

	// Zone returns the zone as it is served now.
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)

	// Changes returns which records are gone and which came since the zone had
	// the serial from, and the serial it has now. What came and went again in
	// between is in neither. The SOA of from is among those gone, and the SOA of
	// now among those that came. When from is a serial that the zone never had,
	// or that nobody remembers, it fails with CodeNotFound.
	Changes(ctx context.Context, origin string, from uint32) (gone, came []dnszone.RR, serial uint32, err error)
}

// A Secondary is a name server that is fed by us.
type Secondary struct {
	Name string // for people: "ns1.example.net"
	Addr string // host:port where it takes notices and questions
	Key  Key    // signs the notices it gets; the zero Key when they are not signed
}
