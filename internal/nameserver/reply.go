package nameserver

import "encoding/binary"

// A section is a part of a message.
type section int

const (
	answers section = iota
	authority
	additional
)

const (
	optSize      = 11
	maxPointer   = 0x4000 // the first offset that a pointer cannot encode (RFC 1035, 4.1.4)
	bufferMargin = 300    // more than the longest owner, which is written before the length of its record is checked
)

// A reply is a message being written. It is reused for the next one.
type reply struct {
	buf    []byte // bufferMargin longer than the longest message
	n      int    // bytes written so far
	limit  int    // maximum length without the OPT
	full   bool   // something did not fit
	origin int    // offset of the zone's origin in the question
	counts [3]uint16
	aa     bool
	proofs proofs

	options   []byte // of EDNS, in optionBuf
	optionBuf [maxOptions]byte
}

// An owner is the owner name of a record: an offset in the message where it was
// written before, or a key, which is written at its first use.
type owner struct {
	at  int
	key []byte
}

// begin copies the question of msg unchanged: clients vary its case to detect
// spoofed responses (0x20).
func (r *reply) begin(msg []byte, q *query, limit int) {
	r.n = headerSize
	if q.end > 0 {
		r.n = copy(r.buf[:q.end], msg)
	}
	if q.edns {
		limit -= optSize + len(r.options)
	}
	r.limit = max(limit, r.n)
	r.full, r.aa, r.counts = false, false, [3]uint16{}
	r.proofs.n = 0
}

// add writes a set, and its signatures if signed is set. The first record that does
// not fit, and everything added later, is left out.
func (r *reply) add(to section, z *zone, s *set, o *owner, signed bool) {
	r.copy(to, z.data[s.at:s.at+uint32(s.size)], int(s.count), int(s.near), o)
	if signed && s.sigs > 0 {
		r.signatures(to, z, s, o)
	}
}

func (r *reply) signatures(to section, z *zone, s *set, o *owner) {
	if z.short {
		r.shortSignatures(to, z, s, o)
		return
	}
	at := s.at + uint32(s.size)
	r.copy(to, z.data[at:at+uint32(s.sigSize)], int(s.sigs), 0, o)
}

// copy writes packed records. Most are packed exactly as they are sent.
func (r *reply) copy(to section, rrs []byte, count, near int, o *owner) {
	if o.at == headerSize && near == 0 {
		if r.full = r.full || r.n+len(rrs) > r.limit; r.full {
			return
		}
		r.n += copy(r.buf[r.n:], rrs)
		r.counts[to] += uint16(count)
		return
	}
	for i := 0; len(rrs) > 0 && !r.full; i++ {
		size := rrHeader + int(binary.BigEndian.Uint16(rrs[rrHeader-2:]))
		r.one(rrs[:size], i < near, o)
		r.counts[to]++
		rrs = rrs[size:]
	}
}

// one writes one record and sets the bytes that depend on the question.
func (r *reply) one(rr []byte, near bool, o *owner) {
	if o.at > 0 && o.at < maxPointer {
		binary.BigEndian.PutUint16(r.buf[r.n:], pointer<<8|uint16(o.at))
		r.n += 2
	} else {
		o.at = r.n
		r.n += len(appendLabels(r.buf[r.n:r.n], o.key))
		r.point()
	}
	if r.full = r.n+len(rr)-2 > r.limit; r.full {
		return
	}
	r.n += copy(r.buf[r.n:], rr[2:])
	if near {
		r.n -= 2
		r.point()
	}
}

// point ends a name with a pointer to the origin.
func (r *reply) point() {
	binary.BigEndian.PutUint16(r.buf[r.n:], pointer<<8|uint16(r.origin))
	r.n += 2
}

// soa writes the SOA of a negative response. Its TTL limits negative caching (RFC
// 2308, 3).
func (r *reply) soa(z *zone, signed bool) {
	from := r.n
	r.add(authority, z, z.set(0, typeSOA), &owner{at: r.origin}, signed)
	for at := from; at < r.n; {
		ttl := r.buf[at+6:]
		binary.BigEndian.PutUint32(ttl, min(z.negTTL, binary.BigEndian.Uint32(ttl)))
		at += rrHeader + int(binary.BigEndian.Uint16(r.buf[at+rrHeader-2:]))
	}
}

// finish writes the header and returns the message. A truncated response has no
// records, since the client retries over TCP (RFC 2181, 9).
func (r *reply) finish(q *query, rcode int) []byte {
	refused := rcode == rcodeNotAuth
	r.full = r.full || refused && r.n+q.tsig.refusalSize() > r.limit
	if r.full {
		r.n, r.counts = max(headerSize, q.end), [3]uint16{}
	}
	h := r.buf[:headerSize]
	binary.BigEndian.PutUint16(h, q.id)
	h[2] = 0x80 | q.opcode<<3 | bit(r.aa)<<2 | bit(r.full)<<1 | bit(q.rd)
	h[3] = byte(rcode & 0xf)
	binary.BigEndian.PutUint16(h[4:], uint16(bit(q.end > 0)))
	if q.edns {
		r.n += copy(r.buf[r.n:], []byte{0, 0, typeOPT, maxUDPSize >> 8, maxUDPSize & 0xff, byte(rcode >> 4), 0, bit(q.dnssec) << 7, 0, 0, byte(len(r.options))})
		r.n += copy(r.buf[r.n:], r.options)
		r.counts[additional]++
	}
	if refused && !r.full {
		r.refuseKey(&q.tsig)
	}
	for i, n := range r.counts {
		binary.BigEndian.PutUint16(h[6+2*i:], n)
	}
	return r.buf[:r.n]
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
