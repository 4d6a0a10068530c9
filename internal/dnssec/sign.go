package dnssec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

// A signature is valid from signatureLead ago, for resolvers whose clocks are
// behind, and for signatureLife from now. It is renewed renewBefore its expiration,
// or earlier by up to renewSpread: each zone has its own share of that, so that
// zones that were signed together are not all renewed together.
const (
	signatureLife = 14 * 24 * time.Hour
	signatureLead = time.Hour
	renewBefore   = 5 * 24 * time.Hour
	renewSpread   = 48 * time.Hour
)

// signedExpire is the SOA expire time of a signed zone. The signatures of a
// secondary are valid for at least renewBefore, so it stops answering before they
// expire, and resolvers use another server (RFC 6781, 4.4.1).
const signedExpire = 4 * 24 * time.Hour

// Sign returns next, an unsigned zone, signed with the key: with its DNSKEY, a
// chain of NSEC records, and a signature over every authoritative record set (RFC
// 4035, 2). Delegations and the names below them stay unsigned, except for DS.
//
// Signatures of prev, the previous signed zone, are reused where their records are
// the same and they are not due for renewal; so a change of one record costs only a
// few signatures. prev may be the zero ServedZone.
//
// It fails when next is not an unsigned zone with a SOA, or the key belongs to
// another zone.
func Sign(prev, next ServedZone, key Key, now time.Time) (ServedZone, error) {
	if err := key.accept(next); err != nil {
		return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
	}
	nodes, err := nsecChain(next.Origin, canonical(next.RRs, []dnszone.RR{key.DNSKEY()}))
	if err != nil {
		return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
	}
	s := signing{key: key, now: now, old: key.signed(prev)}
	signed := ServedZone{Origin: next.Origin, Serial: next.Serial, RRs: make([]dnszone.RR, 0, 4*len(next.RRs))}
	for _, n := range nodes {
		rrs, err := s.sign(n)
		if err != nil {
			return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
		}
		signed.RRs = append(signed.RRs, rrs...)
	}
	return signed, nil
}

// RenewAt returns when the zone must be signed again even without changes, or the
// zero time when it is not signed.
func (z ServedZone) RenewAt() time.Time {
	var first time.Time
	for _, rr := range z.RRs {
		if rr.Type != dns.TypeRRSIG {
			continue
		}
		if at := renewalOf(z.Origin, rr); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// renewalOf returns when the signature must be renewed.
func renewalOf(origin string, sig dnszone.RR) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(origin)) // never fails
	early := time.Duration(h.Sum64()%uint64(renewSpread/time.Second)) * time.Second
	_, expires := signatureTimes(sig)
	return expires.Add(-renewBefore - early)
}

// accept reports why the key cannot sign the zone.
func (k Key) accept(z ServedZone) error {
	if k.private == nil || k.origin != z.Origin {
		return fmt.Errorf("the key belongs to %q", k.origin)
	}
	if len(z.RRs) == 0 || z.RRs[0].Type != dns.TypeSOA || z.RRs[0].Owner != z.Origin {
		return errors.New("it does not begin with its SOA")
	}
	for _, rr := range z.RRs {
		if rr.Type == dns.TypeRRSIG || rr.Type == dns.TypeNSEC {
			return fmt.Errorf("%s is already signed", rr.Owner)
		}
	}
	return nil
}

// A signing is one run of Sign.
type signing struct {
	key Key
	now time.Time
	old map[setID]signedSet
}

// A setID identifies a record set in a zone.
type setID struct {
	owner string
	kind  uint16
}

// A signedSet is a set of records with its signature.
type signedSet struct {
	rrs []dnszone.RR
	sig dnszone.RR
}

// signed returns the record sets of a zone with their signatures. A signature
// refers to its key by a 16-bit number only: if another key in the zone has the
// same number, it is unknown which of them made it, and no signature is returned.
func (k Key) signed(z ServedZone) map[setID]signedSet {
	rrs := slices.Clone(z.RRs)
	slices.SortFunc(rrs, compareRR)
	found := make(map[setID]signedSet, len(rrs)/2)
	for set := range sets(rrs) {
		id := setID{set[0].Owner, set[0].Type}
		found[id] = signedSet{set, found[id].sig}
		for _, rr := range set {
			switch {
			case rr.Type == dns.TypeRRSIG:
				covered := setID{rr.Owner, binary.BigEndian.Uint16([]byte(rr.Data))}
				found[covered] = signedSet{found[covered].rrs, rr}
			case rr.Type == dns.TypeDNSKEY && rr.Data != k.data && keyTag(rr.Data) == k.tag:
				return nil
			}
		}
	}
	return found
}

// sign returns the records of one owner in canonical order, signatures included.
func (s signing) sign(n zoneNode) ([]dnszone.RR, error) {
	rrs := n.rrs
	for set := range sets(n.rrs) {
		if !n.signs(set[0].Type) {
			continue
		}
		sig, err := s.signature(n.name, set)
		if err != nil {
			return nil, err
		}
		rrs = append(rrs, sig)
	}
	slices.SortFunc(rrs, compareRR)
	return rrs, nil
}

// signature returns the signature over the set with the given owner in wire format:
// the previous one if it can be reused, or a new one (RFC 4034, 3.1.8.1).
func (s signing) signature(owner string, set []dnszone.RR) (dnszone.RR, error) {
	if sig, ok := s.kept(set); ok {
		return sig, nil
	}
	head := s.key.signatureHead(set[0], s.now.Add(-signatureLead), s.now.Add(signatureLife))
	text := slices.Clone(head)
	for _, rr := range set {
		text = append(text, owner...)
		text = binary.BigEndian.AppendUint16(text, rr.Type)
		text = binary.BigEndian.AppendUint16(text, dns.ClassINET)
		text = binary.BigEndian.AppendUint32(text, rr.TTL)
		text = binary.BigEndian.AppendUint16(text, uint16(len(rr.Data)))
		text = append(text, rr.Data...)
	}
	sig, err := s.key.sign(text)
	if err != nil {
		return dnszone.RR{}, err
	}
	return dnszone.RR{Owner: set[0].Owner, Type: dns.TypeRRSIG, TTL: set[0].TTL, Data: string(head) + string(sig)}, nil
}

// kept returns the previous signature of the set, if the set is the same and the
// signature is already valid and not due for renewal.
func (s signing) kept(set []dnszone.RR) (dnszone.RR, bool) {
	old := s.old[setID{set[0].Owner, set[0].Type}]
	if old.sig.Data == "" || !slices.Equal(old.rrs, set) {
		return dnszone.RR{}, false
	}
	from, to := signatureTimes(old.sig)
	head := s.key.signatureHead(set[0], from, to)
	good := strings.HasPrefix(old.sig.Data, string(head)) &&
		!s.now.Before(from) && s.now.Before(renewalOf(s.key.origin, old.sig))
	return old.sig, good
}

// signatureHead returns the rdata of a signature over records like rr, up to
// the signature itself (RFC 4034, 3.1).
func (k Key) signatureHead(rr dnszone.RR, from, to time.Time) []byte {
	labels := strings.Count(rr.Owner, ".") + 1
	if strings.HasPrefix(rr.Owner, "*.") {
		labels--
	}
	head := binary.BigEndian.AppendUint16(make([]byte, 0, 18+len(k.name)), rr.Type)
	head = append(head, dns.ECDSAP256SHA256, byte(labels))
	head = binary.BigEndian.AppendUint32(head, rr.TTL)
	head = binary.BigEndian.AppendUint32(head, uint32(to.Unix()))
	head = binary.BigEndian.AppendUint32(head, uint32(from.Unix()))
	head = binary.BigEndian.AppendUint16(head, k.tag)
	return append(head, k.name...)
}

// signatureTimes returns the validity period of the signature. Its numbers are
// seconds since 1970 and last until 2106.
func signatureTimes(sig dnszone.RR) (from, to time.Time) {
	data := []byte(sig.Data)
	seconds := func(at int) time.Time { return time.Unix(int64(binary.BigEndian.Uint32(data[at:])), 0) }
	return seconds(12), seconds(8)
}
