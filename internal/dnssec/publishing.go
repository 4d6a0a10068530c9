package dnssec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Publishing has the settings with which the zones of customers are served. Set
// every field.
type Publishing struct {
	SOA     SOA
	Servers []string    // host names of the service's name servers
	Master  deed.Secret // from which the keys of new zones are derived

	// Redirect are the addresses of the servers that redirect for FORWARD records.
	Redirect []netip.Addr

	// Earlier are the master secrets of zones whose keys have not been replaced
	// since, newest first. It may be empty.
	Earlier []deed.Secret
}

// A KeyID identifies the key of a zone.
type KeyID struct {
	Master     string // Fingerprint of the secret it is derived from; "" for Publishing.Master
	Generation int
}

// Fingerprint returns a short text that identifies a master secret and reveals nothing
// else about it.
func Fingerprint(master deed.Secret) string {
	sum := sha256.Sum256([]byte("print " + master.Reveal()))
	return hex.EncodeToString(sum[:8])
}

// Fingerprints returns those of all master secrets, newest first.
func (p Publishing) Fingerprints() []string {
	list := []string{Fingerprint(p.Master)}
	for _, m := range p.Earlier {
		list = append(list, Fingerprint(m))
	}
	return list
}

// key derives a key of the zone.
func (p Publishing) key(origin string, id KeyID) (Key, error) {
	if id.Master == "" {
		return DeriveKey(p.Master, origin, id.Generation)
	}
	i := slices.Index(p.Fingerprints(), id.Master)
	if i < 0 {
		return Key{}, fmt.Errorf("derive key of %s: this node does not have the master secret %s", origin, id.Master)
	}
	return DeriveKey(slices.Concat([]deed.Secret{p.Master}, p.Earlier)[i], origin, id.Generation)
}

// NextKey returns the key that replaces one of the zone, derived from the master
// secret with this fingerprint. Their tags differ, so that a signature says which of
// the two made it.
func (p Publishing) NextKey(name deed.Name, now KeyID, master string) (KeyID, error) {
	old, err := p.key(string(name), now)
	if err != nil {
		return KeyID{}, err
	}
	for next := (KeyID{master, now.Generation + 1}); ; next.Generation++ {
		key, err := p.key(string(name), next)
		if err != nil || key.tag != old.tag {
			return next, err
		}
	}
}

// A Serving says how a zone is served: with which keys, of which the first signs all
// record sets, and when (see Signing). Without keys it is unsigned. Aliases has what the
// targets of its ALIAS records resolve to.
type Serving struct {
	Keys       []KeyID
	Aliases    []dnszone.Alias
	Now, Since time.Time
}

// Serve returns the zone as name servers serve it. Signatures of prev are reused
// where possible.
func (p Publishing) Serve(z dnszone.Zone, prev ServedZone, how Serving) (ServedZone, error) {
	rrs, err := z.RRs()
	if err != nil {
		return ServedZone{}, fmt.Errorf("serve %s: %w", z.Name, err)
	}
	c := Composition{Origin: string(z.Name), Serial: z.Serial, SOA: p.SOA, Servers: p.Servers, RRs: append(rrs, z.SyntheticRRs(p.Redirect, how.Aliases)...)}
	if len(how.Keys) == 0 {
		return Compose(c)
	}
	by := Signing{Now: how.Now, Since: how.Since}
	for _, id := range how.Keys {
		key, err := p.key(c.Origin, id)
		if err != nil {
			return ServedZone{}, err
		}
		by.Keys = append(by.Keys, key)
	}
	c.RRs = append(c.RRs, by.Keys[0].Announce()...)
	c.SOA.Expire = min(c.SOA.Expire, uint32(SignedExpire/time.Second))
	plain, err := Compose(c)
	if err != nil {
		return ServedZone{}, err
	}
	return Sign(prev, plain, by)
}

// DSOf returns the DS records for the parent of a zone: those of its first key, and those
// of the others.
func (p Publishing) DSOf(name deed.Name, keys []KeyID) (first, others []DS, err error) {
	for i, id := range keys {
		key, err := p.key(string(name), id)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			first = key.DS()
		} else {
			others = append(others, key.DS()...)
		}
	}
	return first, others, nil
}

// A Member is a zone as the catalog of all zones lists it (RFC 9432).
type Member struct {
	Origin string
	Label  string // random, and new when the name changes owner
	Serial uint32
}

// A MemberChange is a member that was added to the catalog, or removed from it.
type MemberChange struct {
	Origin string
	Label  string
	Added  bool
}
