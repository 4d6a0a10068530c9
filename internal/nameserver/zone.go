package nameserver

import (
	"bytes"
	"encoding/binary"
)

// Record types with special rules.
const (
	typeNS     = 2
	typeCNAME  = 5
	typeSOA    = 6
	typePTR    = 12
	typeMX     = 15
	typeAAAA   = 28
	typeA      = 1
	typeDNAME  = 39
	typeOPT    = 41
	typeDS     = 43
	typeRRSIG  = 46
	typeNSEC   = 47
	typeNSEC3  = 50
	typeTSIG   = 250
	typeIXFR   = 251
	typeAXFR   = 252
	typeANY    = 255
	classIN    = 1
	classAny   = 255
	pointer    = 0xc0 // the first byte of a compression pointer (RFC 1035, 4.1.4)
	headerSize = 12   // of a message: the query name starts here
	rrHeader   = 12   // of a packed record: owner as a pointer, type, class, TTL, length
)

// A zone is a snapshot optimized for responses. It has few pointers, so that
// 100,000 zones cost the garbage collector little.
type zone struct {
	origin string // in wire format
	serial uint32
	labels int    // of the origin
	negTTL uint32 // of the SOA in negative responses (RFC 2308, 5)
	signed bool   // there are NSEC records
	wild   bool   // there are wildcards
	dnames bool   // there are DNAMEs
	short  bool   // signatures have the short form
	data   []byte // keys and packed records
	nodes  []node // in canonical order, the apex first; the last is a sentinel that ends the sets
	sets   []set  // grouped by node

	version uint64   // of the stored zone, hashed; 0 when it is not stored
	from    *mapping // that holds nodes, sets and data; nil when the heap does
}

// A node is a name that has records.
type node struct {
	key    uint32 // offset of its key in data
	sets   uint32 // its first set
	cut    uint32 // 1 + the highest delegation at or above it; 0 when there is none
	keyLen uint16
}

// A set is all records of one name and type, packed: the owner as a pointer to the
// query name, then type, class, TTL and data in wire format. Where data ends in a
// name below the origin, that name ends in a pointer that is set per response to
// the origin in the question; such records come first. Signatures may have a short form.
type set struct {
	at      uint32 // its offset in data; its signatures follow it
	size    uint16
	sigSize uint16
	typ     uint16
	count   uint16
	near    uint16 // number of records with a pointer that is set per response
	sigs    uint8
}

func (z *zone) key(i int) []byte {
	n := &z.nodes[i]
	return z.data[n.key : n.key+uint32(n.keyLen)]
}

// search returns the index of the key, or the index where it would be inserted.
func (z *zone) search(key []byte) (at int, found bool) {
	lo, hi := 0, len(z.nodes)-1
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch c := bytes.Compare(z.key(mid), key); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// set returns the set of this type at the node, or nil.
func (z *zone) set(i int, typ uint16) *set {
	for j := z.nodes[i].sets; j < z.nodes[i+1].sets; j++ {
		if z.sets[j].typ == typ {
			return &z.sets[j]
		}
	}
	return nil
}

// smallest returns the set with the fewest bytes at the node, or of its signed sets
// if signed; nil when there is none.
func (z *zone) smallest(i int, signed bool) *set {
	var least *set
	for j := z.nodes[i].sets; j < z.nodes[i+1].sets; j++ {
		s := &z.sets[j]
		if (least == nil || s.size < least.size) && (s.sigs > 0 || !signed) {
			least = s
		}
	}
	return least
}

// A place is the result of looking up a name in a zone.
type place struct {
	node     int  // the name's own, or its wildcard's; -1 when it has no records
	before   int  // the last node in canonical order at or before the name
	cut      int  // the delegation that the name is at or below; -1 when there is none
	dname    int  // the DNAME that the name is below; -1 when there is none
	exists   bool // it has records, or names below it do
	wildcard bool // it is synthesized from a wildcard: the name itself does not exist
	encloser int  // when it does not exist: length of the key of its closest encloser
}

// find looks up a name by its key. A delegation takes precedence over everything at
// or below it (RFC 1034, 4.3.2, 3b).
func (z *zone) find(key []byte) place {
	at, found := z.search(key)
	p := place{node: -1, before: at - 1, cut: -1, dname: -1, exists: found}
	if found {
		p.node, p.before = at, at
	}
	// Everything between a cut and a name below it is below the cut, too: the node
	// before the name has the cut.
	if cut := int(z.nodes[p.before].cut) - 1; cut >= 0 && bytes.HasPrefix(key, z.key(cut)) {
		p.cut = cut
		return p
	}
	if found {
		return p
	}
	p.encloser = sharedKey(key, z.key(at-1))
	if at < len(z.nodes)-1 {
		p.encloser = max(p.encloser, sharedKey(key, z.key(at)))
	}
	if p.exists = p.encloser == len(key); p.exists {
		return p
	}
	if z.dnames {
		// Nothing exists below a DNAME, so it is the closest encloser.
		if i, found := z.search(key[:p.encloser]); found && z.set(i, typeDNAME) != nil {
			p.dname = i
			return p
		}
	}
	if !z.wild {
		return p
	}
	var buf [maxKey + 2]byte
	star := append(append(buf[:0], key[:p.encloser]...), '*', 0)
	i, found := z.search(star)
	switch {
	case found:
		p.node, p.wildcard = i, true
	case i < len(z.nodes)-1 && bytes.HasPrefix(z.key(i), star):
		p.wildcard = true // it exists, without records (RFC 4592, 4.2.1)
	}
	return p
}

// target returns the key of the target of the CNAME, if it is in the zone.
func (z *zone) target(buf []byte, cname *set) (key []byte, ok bool) {
	if cname.near == 0 {
		return nil, false
	}
	rr := z.data[cname.at : cname.at+uint32(cname.size)]
	labels := rr[rrHeader : rrHeader+int(binary.BigEndian.Uint16(rr[rrHeader-2:]))-2]
	return appendKey(buf[:0], labels), true
}
