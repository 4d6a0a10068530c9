package e2e_test

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// validators are validating resolvers, a new one at each ask, which keep what they have
// read for its TTL by a simulated clock. So at any time there is one with any mixture of
// old and new data. They share no code with what signs.
type validators struct {
	t             *testing.T
	now           func() time.Time
	parent        func() []dnssec.DS
	served        func() dnssec.ServedZone
	all           []map[string]cached
	secure, bogus int
	why           error
	verified      map[string]bool
}

// cached is a set of records until it expires.
type cached struct {
	rrs   []dns.RR
	until time.Time
}

const (
	maxValidators = 72 // more than the asks in the longest TTL while a key is replaced
	parentTTL     = 24 * time.Hour
)

// ask has every validator ask for the hosts.
func (v *validators) ask() {
	v.t.Helper()
	v.all = append(v.all, map[string]cached{})
	if len(v.all) > maxValidators {
		v.all = v.all[1:]
	}
	now := published{zone: v.served(), ds: v.parent()} // read once for all
	for _, cache := range v.all {
		for _, host := range []string{"www.first.com", "short.first.com"} {
			if err := v.validate(cache, now, host); err != nil {
				v.bogus++
				v.why = fmt.Errorf("at %s: %w", v.now(), err)
				continue
			}
			v.secure++
		}
	}
}

// published is what a resolver can read at one moment.
type published struct {
	zone dnssec.ServedZone
	ds   []dnssec.DS
}

// validate follows the chain of trust from the DS (RFC 4035, 5).
func (v *validators) validate(cache map[string]cached, now published, host string) error {
	anchors := v.read(cache, "DS", func() ([]dns.RR, time.Duration) {
		var rrs []dns.RR
		for _, ds := range now.ds {
			rr := &dns.DS{Hdr: dns.RR_Header{Name: "first.com.", Rrtype: dns.TypeDS, Class: dns.ClassINET}, KeyTag: ds.KeyTag, Algorithm: ds.Algorithm, DigestType: ds.DigestType, Digest: ds.Digest}
			rrs = append(rrs, rr)
		}
		return rrs, parentTTL
	})
	fetch := func(owner string, kind uint16) func() ([]dns.RR, time.Duration) {
		return func() ([]dns.RR, time.Duration) { return v.set(now.zone, owner, kind) }
	}
	keySet := v.read(cache, "DNSKEY", fetch("first.com", dns.TypeDNSKEY))
	var trusted []*dns.DNSKEY
	for _, rr := range keySet {
		key, ok := rr.(*dns.DNSKEY)
		for _, anchor := range anchors {
			if ds := anchor.(*dns.DS); ok && key.KeyTag() == ds.KeyTag && key.ToDS(ds.DigestType).Digest == ds.Digest {
				trusted = append(trusted, key)
			}
		}
	}
	if err := v.signed(keySet, dns.TypeDNSKEY, trusted); err != nil {
		return fmt.Errorf("the keys: %w", err)
	}
	var keys []*dns.DNSKEY
	for _, rr := range keySet {
		if key, ok := rr.(*dns.DNSKEY); ok {
			keys = append(keys, key)
		}
	}
	if err := v.signed(v.read(cache, host, fetch(host, dns.TypeA)), dns.TypeA, keys); err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	return nil
}

func (v *validators) read(cache map[string]cached, what string, fetch func() ([]dns.RR, time.Duration)) []dns.RR {
	if c, ok := cache[what]; ok && v.now().Before(c.until) {
		return c.rrs
	}
	rrs, ttl := fetch()
	cache[what] = cached{rrs, v.now().Add(ttl)}
	return rrs
}

// set returns the served records of a set, with their signatures.
func (v *validators) set(zone dnssec.ServedZone, owner string, kind uint16) (rrs []dns.RR, ttl time.Duration) {
	for _, served := range zone.RRs {
		if served.Owner != owner || served.Type != kind && served.Type != dns.TypeRRSIG {
			continue
		}
		rr := v.parse(served)
		if sig, ok := rr.(*dns.RRSIG); ok && sig.TypeCovered != kind {
			continue
		}
		rrs, ttl = append(rrs, rr), time.Duration(served.TTL)*time.Second
	}
	return rrs, ttl
}

func (v *validators) parse(served dnszone.RR) dns.RR {
	text := fmt.Sprintf("%s. %d IN TYPE%d \\# %d %s", served.Owner, served.TTL, served.Type, len(served.Data), hex.EncodeToString([]byte(served.Data)))
	rr, err := dns.NewRR(text)
	if err != nil {
		v.t.Fatal(err)
	}
	return rr
}

// signed fails unless one of the keys signed the set, for now.
func (v *validators) signed(set []dns.RR, kind uint16, keys []*dns.DNSKEY) error {
	var data []dns.RR
	for _, rr := range set {
		if rr.Header().Rrtype == kind {
			data = append(data, rr)
		}
	}
	if v.verified == nil {
		v.verified = map[string]bool{}
	}
	for _, rr := range set {
		sig, ok := rr.(*dns.RRSIG)
		for _, key := range keys {
			if !ok || sig.KeyTag != key.KeyTag() || !sig.ValidityPeriod(v.now()) {
				continue
			}
			id := sig.Signature + key.PublicKey + fmt.Sprint(data)
			good, known := v.verified[id]
			if !known {
				good = sig.Verify(key, data) == nil
				v.verified[id] = good
			}
			if good {
				return nil
			}
		}
	}
	return fmt.Errorf("none of %d keys signed any of %d records with a signature that is valid now", len(keys), len(set))
}
