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
const SignedExpire = dnszone.SOASignedExpire * time.Second // 4 days

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
	s := newSigning(prev, by)
	s.out = make([]dnszone.RR, 0, max(4*len(next.RRs), len(prev.RRs)+8))
	for _, n := range nodes {
		if err := s.sign(n); err != nil {
			return ServedZone{}, fmt.Errorf("sign zone %s: %w", next.Origin, err)
		}
	}
	return ServedZone{Origin: next.Origin, Serial: next.Serial, RRs: s.out}, nil
}

// RenewAt returns when the zone must be signed again even without changes, or the
// zero time when it is not signed.
func (z ServedZone) RenewAt() time.Time {
	var first time.Time // that a signature expires
	for _, rr := range z.RRs {
		if rr.Type != dns.TypeRRSIG {
			continue
		}
		if _, expires := signatureTimes(rr); first.IsZero() || expires.Before(first) {
			first = expires
		}
	}
	if first.IsZero() {
		return first
	}
	return first.Add(-renewalLead(z.Origin))
}

// renewalLead returns how long before its expiration a signature of the zone is renewed.
func renewalLead(origin string) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(origin)) // never fails
	return renewBefore + time.Duration(h.Sum64()%uint64(renewSpread/time.Second))*time.Second
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
	prev      nodeReader
	ambiguous []bool        // by key: whether it is unknown which key made its signatures
	lead      time.Duration // before the expiration of a signature
	out       []dnszone.RR
}

func newSigning(prev ServedZone, by Signing) *signing {
	s := signing{Signing: by, prev: nodeReader{inOrder(prev.RRs)}, lead: renewalLead(by.Keys[0].origin)}
	for _, key := range by.Keys {
		s.ambiguous = append(s.ambiguous, slices.ContainsFunc(prev.RRs, key.sharesTag))
	}
	return &s
}

// sharesTag reports whether the record is another key with the same tag. A signature refers
// to its key by that 16-bit number only.
func (k Key) sharesTag(rr dnszone.RR) bool {
	return rr.Type == dns.TypeDNSKEY && rr.Data != k.data && keyTag(rr.Data) == k.tag
}

// A nodeReader reads a zone in canonical order, owner by owner.
type nodeReader struct{ rest []dnszone.RR }

// at returns the records of the owner, none if there is no such owner. Owners must be read
// in canonical order.
func (r *nodeReader) at(owner string) []dnszone.RR {
	for len(r.rest) > 0 && r.rest[0].Owner != owner && compareNames(r.rest[0].Owner, owner) < 0 {
		r.rest = r.rest[1:]
	}
	n := 0
	for n < len(r.rest) && r.rest[n].Owner == owner {
		n++
	}
	node := r.rest[:n]
	r.rest = r.rest[n:]
	return node
}

// sign appends the records of one owner in canonical order, signatures included.
func (s *signing) sign(n zoneNode) error {
	start, old := len(s.out), s.prev.at(n.owner())
	s.out = append(s.out, n.rrs...)
	for set := range sets(n.rrs) {
		if !n.signs(set[0].Type) {
			continue
		}
		keys := s.Keys
		if set[0].Type != dns.TypeDNSKEY {
			keys = keys[:1] // the others sign the keys only
		}
		for i := range keys {
			sig, err := s.signature(i, old, n.name, set)
			if err != nil {
				return err
			}
			s.out = append(s.out, sig)
		}
	}
	slices.SortFunc(s.out[start:], compareRR)
	return nil
}

// signature returns the signature over the set by a key, with the set's owner in wire
// format: the previous one if it can be reused, or a new one (RFC 4034, 3.1.8.1). old has
// the previous records of the owner.
func (s *signing) signature(by int, old []dnszone.RR, owner string, set []dnszone.RR) (dnszone.RR, error) {
	if sig, ok := s.kept(by, old, set); ok {
		return sig, nil
	}
	from := s.Now
	if !s.Since.IsZero() && s.Since.Before(from) {
		from = s.Since
	}
	key := s.Keys[by]
	head := key.appendSignatureHead(nil, set[0], from.Add(-signatureLead), s.Now.Add(signatureLife))
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

// kept returns the previous signature of the set by the key, if the set is the same and
// the signature is already valid and not due for renewal.
func (s *signing) kept(by int, old, set []dnszone.RR) (sig dnszone.RR, ok bool) {
	if s.ambiguous[by] || !slices.Equal(ofType(old, set[0].Type), set) {
		return sig, false
	}
	var buf [256 + 18]byte
	for _, sig = range ofType(old, dns.TypeRRSIG) {
		from, to := signatureTimes(sig)
		head := s.Keys[by].appendSignatureHead(buf[:0], set[0], from, to)
		if len(sig.Data) > len(head) && sig.Data[:len(head)] == string(head) && !s.Now.Before(from) && s.Now.Before(to.Add(-s.lead)) {
			return sig, true
		}
	}
	return sig, false
}

// ofType returns the records of the type, of records of one owner in canonical order.
func ofType(rrs []dnszone.RR, kind uint16) []dnszone.RR {
	start := 0
	for start < len(rrs) && rrs[start].Type != kind {
		start++
	}
	end := start
	for end < len(rrs) && rrs[end].Type == kind {
		end++
	}
	return rrs[start:end]
}

// appendSignatureHead appends the rdata of a signature over records like rr, up to the
// signature itself (RFC 4034, 3.1).
func (k Key) appendSignatureHead(head []byte, rr dnszone.RR, from, to time.Time) []byte {
	labels := strings.Count(rr.Owner, ".") + 1
	if strings.HasPrefix(rr.Owner, "*.") {
		labels--
	}
	head = binary.BigEndian.AppendUint16(head, rr.Type)
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
