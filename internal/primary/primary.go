// Package primary is the hidden primary: it transfers the hosted zones to a fleet
// of secondaries, the name servers that resolvers query. Resolvers never query it.
//
// A change takes three steps. The Notifier announces the new serial to every
// secondary (RFC 1996). The secondary requests the changes since its serial from
// the Server (IXFR, RFC 1995), or the whole zone (AXFR, RFC 5936). Drift checks
// which serial each of them serves. The Catalog lists all hosted zones in a zone of
// its own (RFC 9432), so that a new name needs no configuration on any secondary.
//
// Invariants: nobody reads a zone without a signature by a configured key (TSIG,
// RFC 8945) or from an allowed address; all records of one transfer belong to one
// serial; and notifying a secondary never blocks a caller. The database is the
// single source of truth, and every node may serve it. Only notices are lost with
// the process, and they only save time: a secondary that missed one polls when its
// refresh interval has passed.
package primary

import (
	"context"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// A Member is a zone as the catalog lists it.
type Member = dnssec.Member

// A MemberChange is a member that was added or removed.
type MemberChange = dnssec.MemberChange

// A Store reads the zones. Every method sees one snapshot of the database, the
// latest that was committed before the call. A zone that is not served, or no
// longer, is a CodeNotFound. Every other error is temporary.
type Store interface {
	// CatalogSerial returns the serial of the catalog. It increases (RFC 1982)
	// whenever a zone is added, removed or gets a new label, and is the same on all
	// nodes. It is called often and must be cheap.
	CatalogSerial(ctx context.Context) (uint32, error)

	// Members returns all zones that are served, in any order, and the serial of
	// the catalog in the same snapshot.
	Members(ctx context.Context) ([]Member, uint32, error)

	// CatalogChanges returns the changes of the catalog since it had the serial from,
	// oldest first, and its current serial. It fails with CodeNotFound when there are
	// more than limit, or its history does not reach back to from.
	CatalogChanges(ctx context.Context, from uint32, limit int) ([]MemberChange, uint32, error)

	// SOA returns the SOA of the zone. It is called often and must be cheap.
	SOA(ctx context.Context, origin string) (dnszone.RR, error)

	// Zone returns the zone as it is served now.
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)

	// Changes returns the records removed and added since the zone had the serial
	// from, and its current serial. A record that was added and removed in between
	// is in neither. The SOA of from is among the removed records, and the current
	// SOA among the added ones. It fails with CodeNotFound when the zone never had
	// the serial from, or when its history no longer reaches back to it.
	Changes(ctx context.Context, origin string, from uint32) (removed, added []dnszone.RR, serial uint32, err error)
}

// A Secondary is a name server that transfers zones from this primary.
type Secondary struct {
	Name string // display name: "ns1.example.net"
	Addr string // host:port of its DNS service
	Key  Key    // signs its notices; the zero Key when they are not signed
}
