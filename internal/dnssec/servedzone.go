package dnssec

import (
	"context"
	"errors"

	"deed.example/deed/internal/dnszone"
)

// A ServedZone is a zone as name servers serve it: its SOA first, then all its
// other records, including the NS at the apex and the signatures.
type ServedZone struct {
	Origin string // "example.com", without the trailing dot
	Serial uint32 // of the SOA
	RRs    []dnszone.RR

	Version string // of the stored zone, different after every change; empty when it is not stored
}

// ErrUnservable is wrapped by errors about a zone that no server could serve, such as
// one without a SOA.
var ErrUnservable = errors.New("the zone cannot be served")

// NewerSerial reports whether serial a is after b (RFC 1982, 3.2).
func NewerSerial(a, b uint32) bool { return int32(a-b) > 0 }

// A Publisher makes zones visible in the public DNS.
//
// Implementations must be safe for concurrent use. They do not modify their
// arguments, serve the new zone once Publish has returned, and ignore a zone whose
// serial is not newer (RFC 1982) than the present one; after Withdraw any serial is
// new. Every implementation passes the suite in publishtest.
type Publisher interface {
	// Publish replaces the zone with the same origin.
	Publish(ctx context.Context, z ServedZone) error

	// Withdraw removes the zone. Removing an unknown zone is not an error.
	Withdraw(ctx context.Context, origin string) error
}
