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

// SignedExpire is the SOA expire time of a signed zone. The signatures of a
// secondary are valid for at least renewBefore, so it stops answering before they
// expire, and resolvers use another server (RFC 6781, 4.4.1).
const SignedExpire = 4 * 24 * time.Hour

// A Signing says how a zone is signed. Set Keys and Now.
type Signing struct {
	// Keys are published; the first signs every record set. During a key roll there
	// is another one, which only signs the keys, so that resolvers accept them with
	// the DS of either (RFC 6781, 4.1.3).
	Keys []Key

	// Now is the time by which signatures are renewed.
	Now time.Time

	// Since is from when on new signatures are valid, if that is earlier than Now: a
	// sandbox whose clock was advanced must be valid by the clocks of others, too.
	Since time.Time
}

// Sign returns next, an unsigned zone, signed: with its DNSKEYs, a chain of NSEC
// records, and a signature over every authoritative record set (RFC 4035, 2).
// Delegations and the names below them stay unsigned, except for DS.
//
// Signatures of prev, the previous signed zone, are reused where their records are
// the same and they are not due for renewal; so a change of one record costs only a
// few signatures. prev may be the zero ServedZone.
//
// It fails when next is not an unsigned zone with a SOA, or a key belongs to another
// zone.
func Sign(prev, next ServedZone, by Signing) (ServedZone, error) {
	var published []dnszone.RR
	for _, key := range by.Keys {
		if err := key.accept(next); err != nil {
			return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
		}
		published = append(published, key.DNSKEY())
	}
	if len(by.Keys) == 0 {
		return ServedZone{}, fmt.Errorf("sign zone %s: there is no key", next.Origin)
	}
	nodes, err := nsecChain(next.Origin, canonical(next.RRs, published))
	if err != nil {
		return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
	}
	s := signing{Signing: by, old: by.Keys[0].signed(prev), more: by.additional(prev)}
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
	Signing
	old  map[setID]signedSet
	more []map[setID]signedSet // of the keys after the first
}

// additional returns the previous signatures of the keys after the first.
func (s Signing) additional(prev ServedZone) (more []map[setID]signedSet) {
	for _, key := range s.Keys[1:] {
		more = append(more, key.signed(prev))
	}
	return more
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

// signed returns the record sets of a zone with their signatures by the key. A
// signature refers to its key by a 16-bit number only: if another key in the zone has the
// same number, it is unknown which of them made it, and no signature is returned.
func (k Key) signed(z ServedZone) map[setID]signedSet {
	rrs := z.RRs
	if !slices.IsSortedFunc(rrs, compareRR) { // it was stored unordered
		rrs = z.Sorted().RRs
	}
	found := make(map[setID]signedSet, len(rrs)/2)
	for set := range sets(rrs) {
		id := setID{set[0].Owner, set[0].Type}
		found[id] = signedSet{set, found[id].sig}
		for _, rr := range set {
			switch {
			case rr.Type == dns.TypeRRSIG && signatureTag(rr) == k.tag:
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
		for i, key := range s.Keys {
			old := s.old
			if i > 0 {
				old = s.more[i-1]
			}
			if i > 0 && set[0].Type != dns.TypeDNSKEY {
				break // the others sign the keys only
			}
			sig, err := s.signature(key, old, n.name, set)
			if err != nil {
				return nil, err
			}
			rrs = append(rrs, sig)
		}
	}
	slices.SortFunc(rrs, compareRR)
	return rrs, nil
}

// signature returns the signature over the set with the given owner in wire format:
// the previous one if it can be reused, or a new one (RFC 4034, 3.1.8.1).
func (s signing) signature(key Key, old map[setID]signedSet, owner string, set []dnszone.RR) (dnszone.RR, error) {
	if sig, ok := s.kept(key, old, set); ok {
		return sig, nil
	}
	from := s.Now
	if !s.Since.IsZero() && s.Since.Before(from) {
		from = s.Since
	}
	head := key.signatureHead(set[0], from.Add(-signatureLead), s.Now.Add(signatureLife))
	text := slices.Clone(head)
	for _, rr := range set {
		text = append(text, owner...)
		text = binary.BigEndian.AppendUint16(text, rr.Type)
		text = binary.BigEndian.AppendUint16(text, dns.ClassINET)
		text = binary.BigEndian.AppendUint32(text, rr.TTL)
		text = binary.BigEndian.AppendUint16(text, uint16(len(rr.Data)))
		text = append(text, rr.Data...)
	}
	sig, err := key.sign(text)
	if err != nil {
		return dnszone.RR{}, err
	}
	return dnszone.RR{Owner: set[0].Owner, Type: dns.TypeRRSIG, TTL: set[0].TTL, Data: string(head) + string(sig)}, nil
}

// kept returns the previous signature of the set, if the set is the same and the
// signature is already valid and not due for renewal.
func (s signing) kept(key Key, sets map[setID]signedSet, set []dnszone.RR) (dnszone.RR, bool) {
	old := sets[setID{set[0].Owner, set[0].Type}]
	if old.sig.Data == "" || !slices.Equal(old.rrs, set) {
		return dnszone.RR{}, false
	}
	from, to := signatureTimes(old.sig)
	head := key.signatureHead(set[0], from, to)
	good := strings.HasPrefix(old.sig.Data, string(head)) &&
		!s.Now.Before(from) && s.Now.Before(renewalOf(key.origin, old.sig))
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

// signatureTag returns the number of the key that made the signature.
func signatureTag(sig dnszone.RR) uint16 { return binary.BigEndian.Uint16([]byte(sig.Data[16:])) }

// signatureTimes returns the validity period of the signature. Its numbers are
// seconds since 1970 and last until 2106.
func signatureTimes(sig dnszone.RR) (from, to time.Time) {
	data := []byte(sig.Data)
	seconds := func(at int) time.Time { return time.Unix(int64(binary.BigEndian.Uint32(data[at:])), 0) }
	return seconds(12), seconds(8)
}
