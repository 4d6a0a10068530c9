package dnssec

import (
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Publishing has the settings with which the zones of customers are served. Set
// every field.
type Publishing struct {
	SOA     SOA
	Servers []string    // host names of the service's name servers
	Master  deed.Secret // from which the keys of all zones are derived
}

// Serve returns the zone as name servers serve it, signed with the key of the
// generation; generation 0 leaves it unsigned. Signatures of prev are reused where
// possible.
func (p Publishing) Serve(z dnszone.Zone, prev ServedZone, generation int, now time.Time) (ServedZone, error) {
	rrs, err := z.RRs()
	if err != nil {
		return ServedZone{}, fmt.Errorf("serve %s: %w", z.Name, err)
	}
	c := Composition{Origin: string(z.Name), Serial: z.Serial, SOA: p.SOA, Servers: p.Servers, RRs: rrs}
	if generation == 0 {
		return Compose(c)
	}
	key, err := DeriveKey(p.Master, c.Origin, generation)
	if err != nil {
		return ServedZone{}, err
	}
	c.RRs = append(c.RRs, key.Announce()...)
	c.SOA.Expire = min(c.SOA.Expire, uint32(signedExpire/time.Second))
	plain, err := Compose(c)
	if err != nil {
		return ServedZone{}, err
	}
	return Sign(prev, plain, key, now)
}

// DS returns the DS records of a zone's key for its parent.
func (p Publishing) DS(name deed.Name, generation int) ([]DS, error) {
	if generation == 0 {
		return nil, nil
	}
	key, err := DeriveKey(p.Master, string(name), generation)
	if err != nil {
		return nil, err
	}
	return key.DS(), nil
}

// A Member is a zone as the catalog of all zones lists it (RFC 9432).
type Member struct {
	Origin string
	Label  string // random, and new when the name changes owner
	Serial uint32
}
