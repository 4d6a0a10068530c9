package dnssec

import (
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Publishing says how the zones of our customers are served. Fill every field.
type Publishing struct {
	SOA     SOA
	Servers []string    // host names of our name servers
	Master  deed.Secret // that the keys of all zones are derived from
}

// Serve returns the zone as name servers give it out, signed with the key of the
// generation; generation 0 leaves it unsigned. Signatures of prev stand again
// where they can.
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

// DS returns what the parent of a zone must say of its key.
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
	Label  string // random, and new when the name changes hands
	Serial uint32
}
