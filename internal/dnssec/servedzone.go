package dnssec

import (
	"context"

	"deed.example/deed/internal/dnszone"
)

// A ServedZone is a zone as name servers give it out: its SOA first, then all
// its other records, the NS at the apex and the signatures among them.
type ServedZone struct {
	Origin string // "example.com", without the last dot
	Serial uint32 // of the SOA
	RRs    []dnszone.RR
}

// A Publisher makes zones visible in the public DNS.
//
// Implementations must be safe for concurrent use. They keep what they are
// handed unchanged, answer with the new zone once Publish has returned, and
// ignore a zone whose serial is not newer (RFC 1982) than the one they have;
// after Withdraw any serial is new. Every implementation passes the suite in
// publishtest.
type Publisher interface {
	// Publish puts the zone in the place of the one with its origin.
	Publish(ctx context.Context, z ServedZone) error

	// Withdraw takes the zone away. It is no error when there is none.
	Withdraw(ctx context.Context, origin string) error
}
