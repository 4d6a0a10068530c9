package nameserver

// proofs are the nodes whose NSEC records go into the authority section, each
// once. They are gathered while the answer is written, for they follow it.
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

// proveNode proves what a node has and has not (RFC 4035, 3.1.3.1).
func (w *worker) proveNode(node int) {
	if w.q.dnssec && w.zone.signed && w.zone.set(node, typeNSEC) != nil {
		w.r.proofs.add(node)
	}
}

// proveBefore proves that nothing is between a node and the one that its NSEC
// names. What is below a cut has none.
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

// proveWildcard proves what the wildcard below the closest encloser has not, or
// that there is none (RFC 4035, 3.1.3.2 and 3.1.3.4).
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

// prove writes the proofs gathered so far.
func (w *worker) prove() {
	for _, node := range w.r.proofs.nodes[:w.r.proofs.n] {
		w.r.add(authority, w.zone, w.zone.set(node, typeNSEC), &owner{key: w.zone.key(node)}, true)
	}
	w.r.proofs.n = 0
}
