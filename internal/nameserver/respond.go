package nameserver

import (
	"bytes"
	"encoding/binary"
)

// maxHops is the maximum number of CNAMEs followed in a row.
const maxHops = 10

// A worker answers one query at a time. Each reader of a socket has its own.
type worker struct {
	q     query
	r     reply
	zone  *zone
	found place                     // where the query name was found in zone
	keys  [maxHops + 1][maxKey]byte // of the query name and of its CNAME targets
	seen  [maxHops][]byte           // of them, those already answered

	dnames dnames                   // in the answer
	target [maxName]byte            // of the CNAME of a DNAME
	cname  [rrHeader + maxName]byte // the CNAME itself
}

func newWorker(longest int) *worker {
	return &worker{r: reply{buf: make([]byte, longest+bufferMargin)}}
}

// answer writes the response to a parsed query, no longer than limit.
func (w *worker) answer(zones *table, msg []byte, rcode, limit int) []byte {
	w.r.begin(msg, &w.q, limit)
	w.zone = nil
	if rcode == rcodeOK && w.q.end > 0 {
		rcode = w.respond(zones)
	}
	return w.r.finish(&w.q, rcode)
}

// respond finds the zone and the records of the name.
func (w *worker) respond(zones *table) (rcode int) {
	z, skip := zones.above(&w.q, w.q.labels)
	if z != nil && skip == 0 && w.q.typ == typeDS && z.labels > 0 {
		// The parent's side of a delegation has the DS (RFC 4035, 3.1.4.1).
		if parent, at := zones.above(&w.q, z.labels-1); parent != nil {
			z, skip = parent, at
		}
	}
	if z == nil {
		return rcodeRefused
	}
	w.zone, w.r.origin, w.dnames.n = z, headerSize+skip, 0
	rcode = w.follow(appendKey(w.keys[0][:0], w.q.name[:skip]))
	w.prove()
	return rcode
}

// follow answers for a name and, while it is a CNAME or below a DNAME, for its target
// within the zone (RFC 1034, 4.3.2, 3; RFC 6672, 3.2).
func (w *worker) follow(key []byte) (rcode int) {
	z, q, r := w.zone, &w.q, &w.r
	o := owner{at: headerSize}
	for hop := 1; ; hop++ {
		p := z.find(key)
		if hop == 1 {
			w.found = p
		}
		if p.cut >= 0 && (q.typ != typeDS || len(key) != len(z.key(p.cut))) {
			w.refer(p.cut, hop == 1)
			return rcodeOK
		}
		r.aa = true
		if p.dname >= 0 {
			target, at, ok := w.synthesize(key, p.dname, &o)
			if !ok {
				return rcodeYXName
			}
			next, inside := z.keyOf(w.keys[hop][:], target)
			if q.typ == typeCNAME || q.typ == typeANY || !inside || hop == maxHops || r.full || w.loops(hop, key, next) {
				return rcodeOK
			}
			key, o = next, owner{at: at, key: next}
			continue
		}
		s := z.pick(p.node, q.typ)
		if s == nil {
			return w.lack(key, p)
		}
		target := w.give(s, &o)
		if p.wildcard {
			w.proveBefore(p.before)
		}
		if s.typ != typeCNAME || q.typ == typeCNAME || q.typ == typeANY || q.typ == typeRRSIG {
			return rcodeOK
		}
		next, inside := z.target(w.keys[hop][:], s)
		if !inside || hop == maxHops || r.full || w.loops(hop, key, next) {
			return rcodeOK
		}
		key, o = next, owner{at: target, key: next}
	}
}

// loops reports whether the next name was already answered; the current one counts
// as answered and is recorded.
func (w *worker) loops(hop int, current, next []byte) bool {
	w.seen[hop-1] = current
	for _, key := range w.seen[:hop] {
		if bytes.Equal(key, next) {
			return true
		}
	}
	return false
}

// pick returns the set that answers a query of this type at a node: the set of the
// type, or the CNAME. The response to ANY and RRSIG is the smallest set (RFC 8482,
// 4.1 and 7).
func (z *zone) pick(node int, typ uint16) *set {
	if node < 0 {
		return nil
	}
	if typ == typeANY || typ == typeRRSIG {
		return z.smallest(node, typ == typeRRSIG)
	}
	if s := z.set(node, typ); s != nil || typ == typeNSEC {
		return s // an NSEC may coexist with a CNAME (RFC 4035, 2.5)
	}
	return z.set(node, typeCNAME)
}

// give answers with the set. It returns the offset of the data of its last record
// in the message: for a CNAME, its target.
func (w *worker) give(s *set, o *owner) (data int) {
	if w.q.typ == typeRRSIG {
		w.r.signatures(answers, w.zone, s, o)
		return 0
	}
	w.r.add(answers, w.zone, s, o, false)
	data = w.r.n - (int(s.size) - rrHeader)
	if w.q.dnssec && s.sigs > 0 {
		w.r.signatures(answers, w.zone, s, o)
	}
	return data
}

// lack responds that the name does not exist, or has no records of the type.
func (w *worker) lack(key []byte, p place) (rcode int) {
	w.r.soa(w.zone, w.q.dnssec)
	switch {
	case p.node >= 0 && !p.wildcard:
		w.proveNode(p.node)
	case p.exists:
		w.proveBefore(p.before)
	default:
		w.proveBefore(p.before)
		w.proveWildcard(key[:p.encloser])
	}
	if p.exists || p.wildcard {
		return rcodeOK
	}
	return rcodeNoName
}

// refer responds with a delegation, and proves whether the child is signed (RFC
// 4035, 3.1.4). direct says that the query name is at or below the cut; otherwise a
// CNAME led here.
func (w *worker) refer(cut int, direct bool) {
	z, r := w.zone, &w.r
	o := owner{key: z.key(cut)}
	if direct {
		labels := z.labels + bytes.Count(o.key, []byte{0})
		o.at = headerSize + int(w.q.starts[w.q.labels-labels])
	}
	ns := z.set(cut, typeNS)
	r.add(authority, z, ns, &o, false)
	begin := r.n - int(ns.size)
	if w.q.dnssec && z.signed {
		if ds := z.set(cut, typeDS); ds != nil {
			r.add(authority, z, ds, &o, true)
		} else {
			w.proveNode(cut)
		}
	}
	w.prove() // also of a wildcard that led here, since glue is in the next section
	w.glue(cut, ns, begin, true)
	w.glue(cut, ns, begin, false)
}

// glue adds the addresses of the delegation's servers that are in the zone: those
// below the cut, without which the servers are unreachable, or the others, as far
// as there is room (RFC 9471, 3). begin is the offset of the NS records in the
// message; their data holds the owners of the addresses.
func (w *worker) glue(cut int, ns *set, begin int, below bool) {
	z, r := w.zone, &w.r
	rrs := z.data[ns.at : ns.at+uint32(ns.size)]
	for i, at := 0, rrHeader; i < int(ns.near) && !r.full; i++ {
		size := int(binary.BigEndian.Uint16(rrs[at-2:]))
		key := appendKey(w.keys[0][:0], rrs[at:at+size-2])
		o := owner{at: begin + at, key: key}
		at += size + rrHeader
		node, found := z.search(key)
		if !found || bytes.HasPrefix(key, z.key(cut)) != below {
			continue
		}
		before, counted := r.n, r.counts[additional]
		for _, typ := range []uint16{typeA, typeAAAA} {
			if s := z.set(node, typ); s != nil {
				r.add(additional, z, s, &o, false)
			}
		}
		if r.full && !below {
			r.n, r.counts[additional], r.full = before, counted, false
			return
		}
	}
}
