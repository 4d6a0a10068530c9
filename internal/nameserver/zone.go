package nameserver

import (
	"bytes"
	"encoding/binary"
)

// Types that the rules of answering know by name.
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
	typeIXFR   = 251
	typeAXFR   = 252
	typeANY    = 255
	classIN    = 1
	pointer    = 0xc0 // the first byte of a pointer to a name (RFC 1035, 4.1.4)
	headerSize = 12   // of a message: the question's name begins here
	rrHeader   = 12   // of a packed record: owner as a pointer, type, class, TTL, length
)

// A zone is a snapshot ready to be answered from. It has few pointers, so that
// 100,000 of them cost the garbage collector little.
type zone struct {
	origin string // on the wire; it shares its memory with data
	serial uint32
	labels int    // of the origin
	negTTL uint32 // of the SOA in negative answers (RFC 2308, 5)
	signed bool   // there are NSEC records
	wild   bool   // there are wildcards
	data   []byte // keys and packed records
	nodes  []node // in canonical order, the apex first; a last one only ends the sets
	sets   []set  // those of one node stand together
}

// A node is a name that has records.
type node struct {
	key    uint32 // where its key begins in data
	sets   uint32 // its first set
	cut    uint32 // 1 + the highest delegation at or above it; 0 is none
	keyLen uint16
}

// A set is all records of one name and type, packed: the owner as a pointer to
// the question's name, then type, class, TTL and data as they are on the wire.
// Where data ends in a name below the origin, that name ends in a pointer that
// is still to be set to the origin in the question; such records come first.
type set struct {
	at      uint32 // where it begins in data; its signatures follow it
	size    uint16
	sigSize uint16
	typ     uint16
	count   uint16
	near    uint16 // how many records have a pointer to be set
	sigs    uint8
}

func (z *zone) key(i int) []byte {
	n := &z.nodes[i]
	return z.data[n.key : n.key+uint32(n.keyLen)]
}

// search returns where the key is, or else where it would be.
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

// smallest returns the set with the fewest bytes at the node, or the signed one
// with the fewest; nil when there is none.
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

// A place is what a zone knows of a name.
type place struct {
	node     int  // the name's own, or its wildcard's; -1 when it has no records
	before   int  // the last node in canonical order at or before the name
	cut      int  // the delegation that the name is at or below; -1 is none
	exists   bool // it has records, or names below it have
	wildcard bool // a wildcard stands for it: the name itself does not exist
	encloser int  // when it does not exist: how much of the key its closest encloser is
}

// find looks a name up by its key. A delegation wins over all that is at or
// below it (RFC 1034, 4.3.2, 3b).
func (z *zone) find(key []byte) place {
	at, found := z.search(key)
	p := place{node: -1, before: at - 1, cut: -1, exists: found}
	if found {
		p.node, p.before = at, at
	}
	// All that is between a cut and a name below it is below the cut too: the
	// node before the name knows of it.
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
	if p.exists = p.encloser == len(key); p.exists || !z.wild {
		return p
	}
	var buf [maxKey + 2]byte
	star := append(append(buf[:0], key[:p.encloser]...), '*', 0)
	i, found := z.search(star)
	switch {
	case found:
		p.node, p.wildcard = i, true
	case i < len(z.nodes)-1 && bytes.HasPrefix(z.key(i), star):
		p.wildcard = true // it exists, without records of its own (RFC 4592, 4.2.1)
	}
	return p
}

// target returns the key of the name that the CNAME points to, if that is in
// the zone.
func (z *zone) target(buf []byte, cname *set) (key []byte, ok bool) {
	if cname.near == 0 {
		return nil, false
	}
	rr := z.data[cname.at : cname.at+uint32(cname.size)]
	labels := rr[rrHeader : rrHeader+int(binary.BigEndian.Uint16(rr[rrHeader-2:]))-2]
	return appendKey(buf[:0], labels), true
}
