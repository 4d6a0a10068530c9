package nameserver

import "encoding/binary"

// Most of a signed zone is signatures. They are stored in a short form, without what
// follows from their set and their zone, if all of a zone are like those that we make.
const (
	sigFields = 18          // bytes of an RRSIG before the name of its signer (RFC 4034, 3.1)
	sigLen    = 64          // bytes of a signature with P-256 (RFC 6605)
	shortSig  = 12 + sigLen // algorithm, labels, expiration, inception, key tag, signature
)

// canShorten reports whether the signatures of all sets have a short form. The records are
// sorted.
func (p *packer) canShorten() bool {
	first := 0 // of the set
	for i, rr := range p.rrs {
		if rr.key != p.rrs[first].key || rr.typ != p.rrs[first].typ {
			first = i
		}
		if rr.sig && (p.rrs[first].sig || rr.rr.TTL != p.rrs[first].rr.TTL || !p.isShort(rr)) {
			return false
		}
	}
	return true
}

// isShort reports whether a signature has a short form, as far as it says so itself.
func (p *packer) isShort(sig packedRR) bool {
	d := sig.rr.Data
	return len(d) == sigFields+len(p.origin)+sigLen && d[sigFields:sigFields+len(p.origin)] == p.origin && binary.BigEndian.Uint32([]byte(d[4:8])) == sig.rr.TTL
}

// appendShort appends the short form of a signature.
func appendShort(data []byte, sig packedRR) []byte {
	d := sig.rr.Data
	data = append(data, d[2:4]...)
	data = append(data, d[8:sigFields]...)
	return append(data, d[len(d)-sigLen:]...)
}

// shortSignatures writes the signatures of a set that have the short form.
func (r *reply) shortSignatures(to section, z *zone, s *set, o *owner) {
	const fields = rrHeader + sigFields
	var buf [fields + maxName + sigLen]byte
	rr, ttl := buf[:fields+len(z.origin)+sigLen], z.data[s.at+6:s.at+10]
	binary.BigEndian.PutUint16(rr[2:], typeRRSIG)
	binary.BigEndian.PutUint16(rr[4:], classIN)
	copy(rr[6:], ttl)
	binary.BigEndian.PutUint16(rr[rrHeader-2:], uint16(len(rr)-rrHeader))
	binary.BigEndian.PutUint16(rr[rrHeader:], s.typ)
	copy(rr[rrHeader+4:], ttl)
	copy(rr[fields:], z.origin)
	at := s.at + uint32(s.size)
	for short := z.data[at : at+uint32(s.sigSize)]; len(short) > 0 && !r.full; short = short[shortSig:] {
		copy(rr[rrHeader+2:], short[:2])
		copy(rr[rrHeader+8:], short[2:12])
		copy(rr[fields+len(z.origin):], short[12:shortSig])
		r.one(rr, false, o)
		r.counts[to]++
	}
}
