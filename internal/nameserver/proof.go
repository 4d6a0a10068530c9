package nameserver

// proofs are the nodes whose NSEC records go into the authority section, without
// duplicates. They are collected while the answer is written, since they follow it.
type proofs struct {
	nodes [maxHops + 3]int
	n     int
}

func (p *proofs) add(node int) {
	for _, other := range p.nodes[:p.n] {
		if other == node {
			return
		}
	}
	p.nodes[p.n] = node
	p.n++
}

// proveNode proves which types a node has (RFC 4035, 3.1.3.1).
func (w *worker) proveNode(node int) {
	if w.q.dnssec && w.zone.signed && w.zone.set(node, typeNSEC) != nil {
		w.r.proofs.add(node)
	}
}

// proveBefore proves that no name exists between a node and the next owner name in
// its NSEC. Names below a zone cut have no NSEC.
func (w *worker) proveBefore(node int) {
	if !w.q.dnssec || !w.zone.signed {
		return
	}
	for node > 0 && w.zone.set(node, typeNSEC) == nil {
		if cut := int(w.zone.nodes[node].cut) - 1; cut >= 0 && cut < node {
			node = cut
			continue
		}
		node--
	}
	w.r.proofs.add(node)
}

// proveWildcard proves which types the wildcard below the closest encloser has, or
// that there is no wildcard (RFC 4035, 3.1.3.2 and 3.1.3.4).
func (w *worker) proveWildcard(encloser []byte) {
	if !w.q.dnssec || !w.zone.signed {
		return
	}
	var buf [maxKey + 2]byte
	node, found := w.zone.search(append(append(buf[:0], encloser...), '*', 0))
	if !found {
		node--
	}
	w.proveBefore(node)
}

// prove writes the collected proofs.
func (w *worker) prove() {
	for _, node := range w.r.proofs.nodes[:w.r.proofs.n] {
		w.r.add(authority, w.zone, w.zone.set(node, typeNSEC), &owner{key: w.zone.key(node)}, true)
	}
	w.r.proofs.n = 0
}
