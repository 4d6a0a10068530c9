package dnssec

import (
	"encoding/binary"
	"slices"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

// A zoneNode is all records of a zone at one owner.
type zoneNode struct {
	rrs  []dnszone.RR // in canonical order
	name string       // the owner in wire format
	kind nodeKind
}

// A nodeKind says which zone is authoritative for the records of a node.
type nodeKind int

const (
	nodeAuthoritative nodeKind = iota // this zone
	nodeCut                           // a delegation: the child zone, except for DS and NSEC
	nodeBelow                         // below a delegation: the child zone
)

// owner returns the owner of the node's records.
func (n zoneNode) owner() string { return n.rrs[0].Owner }

// signs reports whether records of that type are signed at the node.
func (n zoneNode) signs(kind uint16) bool {
	switch n.kind {
	case nodeCut:
		return kind == dns.TypeDS || kind == dns.TypeNSEC
	case nodeBelow:
		return false
	}
	return true
}

// nsecChain returns the nodes of a zone, given in canonical order. Each
// authoritative node and delegation gets an NSEC record that refers to the next one
// and so denies all names between them; the last one refers to the apex (RFC 4034,
// 4). A name without records has none.
func nsecChain(origin string, rrs []dnszone.RR) ([]zoneNode, error) {
	nodes, err := zoneNodes(origin, rrs)
	if err != nil {
		return nil, err
	}
	soa := rrs[0]
	minimum := binary.BigEndian.Uint32([]byte(soa.Data[len(soa.Data)-4:]))
	ttl := min(soa.TTL, minimum) // RFC 9077, 3
	next := nodes[0].name
	for i, n := range slices.Backward(nodes) {
		if n.kind != nodeBelow {
			nodes[i].rrs = append(n.rrs, dnszone.RR{Owner: n.owner(), Type: dns.TypeNSEC, TTL: ttl, Data: next + typeBitmap(n.types())})
			next = n.name
		}
	}
	return nodes, nil
}

// zoneNodes returns the records by owner. In canonical order, everything below a
// delegation follows it directly.
func zoneNodes(origin string, rrs []dnszone.RR) ([]zoneNode, error) {
	var nodes []zoneNode
	cut := ""
	for start := 0; start < len(rrs); {
		owner, end, kind := rrs[start].Owner, start, nodeAuthoritative
		for ; end < len(rrs) && rrs[end].Owner == owner; end++ {
			if rrs[end].Type == dns.TypeNS && owner != origin {
				kind = nodeCut
			}
		}
		switch {
		case cut != "" && below(owner, cut):
			kind = nodeBelow
		case kind == nodeCut:
			cut = owner
		}
		name, err := wireName(owner)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, zoneNode{rrs[start:end:end], name, kind})
		start = end
	}
	return nodes, nil
}

// types returns the types in the node's NSEC. At a delegation, addresses are glue
// and not listed (RFC 4035, 2.3).
func (n zoneNode) types() []uint16 {
	types := []uint16{dns.TypeRRSIG, dns.TypeNSEC}
	for set := range sets(n.rrs) {
		if kind := set[0].Type; n.signs(kind) || kind == dns.TypeNS {
			types = append(types, kind)
		}
	}
	return types
}

// typeBitmap returns a set of types in the format of NSEC: for each block of 256
// types with a member its number, a length, and the bits (RFC 4034, 4.1.2).
func typeBitmap(types []uint16) string {
	slices.Sort(types)
	var out []byte
	head := -1 // offset of the block of the last type
	for _, t := range types {
		block, octet := byte(t>>8), int(t&0xff)/8
		if head < 0 || out[head] != block {
			head = len(out)
			out = append(out, block, 0)
		}
		for len(out) <= head+2+octet {
			out = append(out, 0)
		}
		out[head+2+octet] |= 0x80 >> (t % 8)
		out[head+1] = byte(len(out) - head - 2)
	}
	return string(out)
}
