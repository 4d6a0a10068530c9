package nameserver

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// pack builds a zone's snapshot.
func pack(from dnssec.ServedZone) (*zone, error) {
	z, err := packRecords(from)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", dnssec.ErrUnservable, from.Origin, err)
	}
	return z, nil
}

func packRecords(from dnssec.ServedZone) (*zone, error) {
	origin, err := wireName(from.Origin)
	if err != nil {
		return nil, err
	}
	if len(from.RRs) == 0 || from.RRs[0].Type != typeSOA || from.RRs[0].Owner != from.Origin {
		return nil, errors.New("its SOA must come first")
	}
	p := &packer{origin: origin, rrs: make([]packedRR, 0, len(from.RRs))}
	for _, rr := range from.RRs {
		if err := p.add(rr); err != nil {
			return nil, fmt.Errorf("%s of type %d: %w", rr.Owner, rr.Type, err)
		}
	}
	slices.SortStableFunc(p.rrs, compareRRs)
	z := &zone{serial: from.Serial, labels: strings.Count(from.Origin, ".") + 1, version: hashVersion(from.Version)}
	if from.Origin == "" {
		z.labels = 0
	}
	z.short = p.canShorten()
	if err := p.fill(z); err != nil {
		return nil, err
	}
	return z, z.inspect(from.RRs[0])
}

// A packer groups a zone's records into sets.
type packer struct {
	origin string
	rrs    []packedRR
	size   int // of all keys and records

	owner, key string // of the last record: most have that of the one before
}

type packedRR struct {
	key  string
	typ  uint16 // of the set it belongs to: for a signature, what it covers
	sig  bool
	near bool // its data ends in a pointer that is set per response
	rr   dnszone.RR
}

func compareRRs(a, b packedRR) int {
	return cmp.Or(
		strings.Compare(a.key, b.key),
		cmp.Compare(a.typ, b.typ),
		compareBools(a.sig, b.sig),
		compareBools(b.near, a.near),
	)
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (p *packer) add(rr dnszone.RR) error {
	key, err := p.keyOf(rr.Owner)
	switch {
	case err != nil:
		return err
	case len(rr.Data) > math.MaxUint16:
		return errors.New("it is longer than 65535 bytes")
	case rr.Type == typeNSEC3:
		return errors.New("this server does not support its type")
	}
	packed := packedRR{key: key, typ: rr.Type, rr: rr}
	switch rr.Type {
	case typeRRSIG:
		if len(rr.Data) < 18 {
			return errors.New("it is too short")
		}
		packed.typ, packed.sig = uint16(rr.Data[0])<<8|uint16(rr.Data[1]), true
	case typeNS, typeCNAME, typePTR, typeMX:
		packed.rr.Data, packed.near, err = p.shorten(rr)
	}
	p.rrs = append(p.rrs, packed)
	p.size += len(packed.key) + rrHeader + len(packed.rr.Data)
	return err
}

// keyOf returns the key of an owner.
func (p *packer) keyOf(owner string) (string, error) {
	if owner == p.owner && len(p.rrs) > 0 {
		return p.key, nil
	}
	wire, err := wireName(owner)
	if err != nil {
		return "", err
	}
	labels, below := cutOrigin(wire, p.origin)
	if !below {
		return "", errors.New("it is outside the zone")
	}
	p.owner, p.key = owner, string(appendKey(nil, []byte(labels)))
	return p.key, nil
}

// shorten cuts the origin from the name at the end of the data, and leaves two
// bytes for the compression pointer. Only the types of RFC 1035 may be compressed
// (RFC 3597, 4).
func (p *packer) shorten(rr dnszone.RR) (data string, near bool, err error) {
	at := 0
	if rr.Type == typeMX {
		at = min(2, len(rr.Data))
	}
	name := rr.Data[at:]
	if n, err := nameLength(name); err != nil || n != len(name) {
		return "", false, errName
	}
	labels, below := cutOrigin(strings.ToLower(name), p.origin)
	if !below {
		return rr.Data, false, nil
	}
	return rr.Data[:at+len(labels)] + "\xc0\x00", true, nil
}

// cutOrigin returns the part of a name before the origin; both are in wire format.
func cutOrigin(name, origin string) (labels string, below bool) {
	at := len(name) - len(origin)
	for i := 0; i <= at; i += 1 + int(name[i]) {
		if i == at {
			return name[:at], name[at:] == origin
		}
	}
	return "", false
}

// fill writes keys and records into the zone, which allocates all its memory at
// once.
func (p *packer) fill(z *zone) error {
	nodes, sets := p.count()
	z.nodes = make([]node, 0, nodes+1)
	z.sets = make([]set, 0, sets)
	data := append(make([]byte, 0, len(p.origin)+p.size-p.saved(z)), p.origin...)
	for i, rr := range p.rrs {
		first := i == 0
		if newNode := first || rr.key != p.rrs[i-1].key; newNode {
			z.nodes = append(z.nodes, node{key: uint32(len(data)), keyLen: uint16(len(rr.key)), sets: uint32(len(z.sets))})
			data = append(data, rr.key...)
			first = true
		}
		if first || rr.typ != p.rrs[i-1].typ {
			z.sets = append(z.sets, set{at: uint32(len(data)), typ: rr.typ})
		}
		if err := z.sets[len(z.sets)-1].grow(rr); err != nil {
			return fmt.Errorf("%s of type %d: %w", rr.rr.Owner, rr.typ, err)
		}
		if rr.sig && z.short {
			data = appendShort(data, rr)
		} else {
			data = appendRR(data, rr)
		}
	}
	if z.short {
		for i := range z.sets {
			z.sets[i].sigSize = shortSig * uint16(z.sets[i].sigs)
		}
	}
	z.nodes = append(z.nodes, node{sets: uint32(len(z.sets))})
	z.data = data
	z.origin = unsafe.String(&z.data[0], len(p.origin)) // data is immutable
	return nil
}

// saved returns how many bytes the short form of signatures saves.
func (p *packer) saved(z *zone) (n int) {
	for _, rr := range p.rrs {
		if rr.sig && z.short {
			n += rrHeader + len(rr.rr.Data) - shortSig
		}
	}
	return n
}

func (p *packer) count() (nodes, sets int) {
	for i, rr := range p.rrs {
		switch {
		case i == 0 || rr.key != p.rrs[i-1].key:
			nodes++
			sets++
		case rr.typ != p.rrs[i-1].typ:
			sets++
		}
	}
	return nodes, sets
}

// grow adds one record to the set.
func (s *set) grow(rr packedRR) error {
	size := rrHeader + len(rr.rr.Data)
	if int(s.size)+int(s.sigSize)+size > math.MaxUint16 || s.sigs == math.MaxUint8 {
		return errors.New("all records of one name and type must fit into one message")
	}
	if rr.sig {
		s.sigSize += uint16(size)
		s.sigs++
		return nil
	}
	s.size += uint16(size)
	s.count++
	if rr.near {
		s.near++
	}
	return nil
}

func appendRR(data []byte, rr packedRR) []byte {
	data = append(data, pointer, headerSize)
	data = binary.BigEndian.AppendUint16(data, rr.rr.Type)
	data = binary.BigEndian.AppendUint16(data, classIN)
	data = binary.BigEndian.AppendUint32(data, rr.rr.TTL)
	data = binary.BigEndian.AppendUint16(data, uint16(len(rr.rr.Data)))
	return append(data, rr.rr.Data...)
}

// inspect marks delegations, and precomputes what responses need.
func (z *zone) inspect(soa dnszone.RR) error {
	if n := len(soa.Data); n < 22 {
		return errors.New("its SOA is too short")
	} else if set := z.set(0, typeSOA); set.count != 1 {
		return errors.New("it has more than one SOA")
	} else {
		z.negTTL = min(soa.TTL, binary.BigEndian.Uint32([]byte(soa.Data[n-4:])))
	}
	z.signed = z.set(0, typeNSEC) != nil
	cut := 0
	for i := range z.nodes[:len(z.nodes)-1] {
		key := z.key(i)
		if cname := z.set(i, typeCNAME); cname != nil && cname.count > 1 {
			return errors.New("a name in it has more than one CNAME")
		}
		if dname := z.set(i, typeDNAME); dname != nil {
			if dname.count > 1 {
				return errors.New("a name in it has more than one DNAME")
			}
			z.dnames = true
		}
		if bytes.HasPrefix(key, []byte("*\x00")) || bytes.Contains(key, []byte("\x00*\x00")) {
			z.wild = true
		}
		switch {
		case cut > 0 && bytes.HasPrefix(key, z.key(cut)):
		case i > 0 && z.set(i, typeNS) != nil:
			cut = i
		default:
			cut = 0
		}
		if cut > 0 {
			z.nodes[i].cut = uint32(cut) + 1
		}
	}
	return nil
}
