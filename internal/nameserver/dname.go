package nameserver

import "encoding/binary"

// synthesize answers for a name below a DNAME: with the DNAME and the CNAME that
// follows from it (RFC 6672, 3.1). It returns the target in wire format and its
// offset in the message, or false when the target would be too long, which is
// YXDOMAIN.
func (w *worker) synthesize(key []byte, node int, o *owner) (target []byte, at int, ok bool) {
	z, r := w.zone, &w.r
	dname, above := z.set(node, typeDNAME), owner{key: z.key(node)}
	rr := z.data[dname.at : dname.at+uint32(dname.size)]
	suffix, answered := w.dnames.find(node)
	if !answered { // it may redirect a name more than once
		r.add(answers, z, dname, &above, false)
		suffix = r.n - (len(rr) - rrHeader)
		if w.q.dnssec && dname.sigs > 0 {
			r.signatures(answers, z, dname, &above)
		}
		w.dnames.add(node, suffix)
	}
	target = appendLabels(w.target[:0], key[len(above.key):])
	prefix := len(target)
	if prefix+len(rr)-rrHeader > maxName {
		return nil, 0, false
	}
	target = append(target, rr[rrHeader:]...)
	if r.full {
		return target, 0, true
	}
	cname := append(w.cname[:0], rr[:rrHeader-2]...) // class and TTL are those of the DNAME
	binary.BigEndian.PutUint16(cname[2:], typeCNAME)
	if suffix < maxPointer {
		cname = binary.BigEndian.AppendUint16(cname, uint16(prefix+2))
		cname = append(cname, target[:prefix]...)
		cname = binary.BigEndian.AppendUint16(cname, pointer<<8|uint16(suffix))
	} else {
		cname = binary.BigEndian.AppendUint16(cname, uint16(len(target)))
		cname = append(cname, target...)
	}
	r.one(cname, false, o)
	r.counts[answers]++
	return target, r.n - (len(cname) - rrHeader), true
}

// dnames are the DNAMEs in an answer, by node, with the offsets of their targets.
type dnames struct {
	nodes, targets [maxHops]int
	n              int
}

func (d *dnames) find(node int) (target int, ok bool) {
	for i, other := range d.nodes[:d.n] {
		if other == node {
			return d.targets[i], true
		}
	}
	return 0, false
}

func (d *dnames) add(node, target int) {
	d.nodes[d.n], d.targets[d.n] = node, target
	d.n++
}

// keyOf returns the key of a name in wire format, if it is in the zone.
func (z *zone) keyOf(buf, name []byte) (key []byte, ok bool) {
	at := len(name) - len(z.origin)
	for i := 0; i <= at; i += 1 + int(name[i]) {
		if i == at {
			return appendKey(buf[:0], name[:at]), string(name[at:]) == z.origin
		}
	}
	return nil, false
}
