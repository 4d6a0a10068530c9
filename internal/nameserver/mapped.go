package nameserver

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
	"time"
	"unsafe"
)

// The file has the zones one after the other (each its nodes, its sets and its data,
// as they are in memory, aligned to eight bytes), then an entry per zone, and then the
// trailer. The memory of another architecture or version has another layout.
const layout = 2

// An entry says where a zone is in the file.
type entry struct {
	at      uint64 // of its nodes
	version uint64
	serial  uint32
	negTTL  uint32
	nodes   uint32 // how many; including the sentinel
	sets    uint32
	data    uint32 // bytes
	labels  uint8
	origin  uint8 // bytes at the beginning of its data
	flags   uint8
	_       uint8
}

const (
	flagSigned = 1 << iota
	flagWild
	flagDNAMEs
	flagShort
)

type trailer struct {
	magic  [16]byte
	native uint64 // in the order of bytes of this machine
	layout uint32
	sizes  uint32 // of the structures
	saved  int64  // milliseconds
	count  uint64 // of entries
	index  uint64 // where they are
	sum    uint64 // of everything before the trailer, and of the fields above
}

const (
	trailerSize = uint64(unsafe.Sizeof(trailer{}))
	entrySize   = uint64(unsafe.Sizeof(entry{}))
	nodeSize    = uint64(unsafe.Sizeof(node{}))
	setSize     = uint64(unsafe.Sizeof(set{}))
	alignment   = 8
)

var (
	magic      = [16]byte([]byte("deed zones file\n"))
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// newTrailer returns what every file of this process has.
func newTrailer() trailer {
	return trailer{magic: magic, native: 0x0102030405060708, layout: layout, sizes: uint32(entrySize<<24 | nodeSize<<16 | setSize<<8 | trailerSize)}
}

func (t *trailer) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(t)), trailerSize) }

// checksum returns the sum of the trailer itself, after that of what is before it.
func (t *trailer) checksum(before uint32) uint64 {
	return uint64(crc32.Update(before, castagnoli, t.bytes()[:trailerSize-8]))
}

var (
	errDamaged = errors.New("it is damaged")
	errForeign = errors.New("another version wrote it")
)

// A mapping is a file in memory. It is unmapped when nothing refers to it any more.
type mapping struct{ data []byte }

// mappedZones are the zones of a file.
type mappedZones struct {
	saved   time.Time
	file    *mapping
	entries []entry          // in the file
	zones   []zone           // by entry; filled when they are used
	byName  map[string]int32 // by origin in wire format; nil until it is needed
}

// openMapped checks the file and maps it.
func openMapped(path string) (*mappedZones, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := check(f)
	if err != nil {
		return nil, err
	}
	return mapZones(f, t)
}

// check reads the whole file, so that damage is found before a zone is served.
func check(f *os.File) (t trailer, err error) {
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	size := uint64(info.Size())
	if size < trailerSize {
		return t, errDamaged
	}
	sum := crc32.New(castagnoli)
	buf := make([]byte, 1<<20)
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.LimitReader(f, int64(size-trailerSize)), buf); err != nil {
		return t, err
	}
	if _, err := io.ReadFull(f, t.bytes()); err != nil {
		return t, err
	}
	want := newTrailer()
	switch {
	case t.magic != want.magic || t.sum != t.checksum(sum.Sum32()):
		return t, errDamaged
	case t.native != want.native || t.layout != want.layout || t.sizes != want.sizes:
		return t, errForeign
	case t.index > size || t.index%alignment != 0 || t.count != (size-trailerSize-t.index)/entrySize:
		return t, errDamaged
	}
	return t, nil
}

func mapZones(f *os.File, t trailer) (*mappedZones, error) {
	m, err := newMapping(f)
	if err != nil {
		return nil, err
	}
	out := &mappedZones{saved: time.UnixMilli(t.saved), file: m, zones: make([]zone, t.count)}
	out.entries = view[entry](m.data, t.index, t.count)
	return out, nil
}

// view returns n values of the mapped memory.
func view[T any](data []byte, at, n uint64) []T {
	if n == 0 {
		return nil
	}
	var one T
	part := data[at : at+n*uint64(unsafe.Sizeof(one))]
	return unsafe.Slice((*T)(unsafe.Pointer(&part[0])), n)
}

// at returns the zone of an entry.
func (m *mappedZones) at(i int) *zone {
	z, e := &m.zones[i], &m.entries[i]
	if z.from != nil {
		return z
	}
	sets := e.at + uint64(e.nodes)*nodeSize
	data := sets + uint64(e.sets)*setSize
	*z = zone{
		serial: e.serial, negTTL: e.negTTL, labels: int(e.labels), version: e.version, from: m.file,
		signed: e.flags&flagSigned != 0, wild: e.flags&flagWild != 0, dnames: e.flags&flagDNAMEs != 0, short: e.flags&flagShort != 0,
		nodes: view[node](m.file.data, e.at, uint64(e.nodes)),
		sets:  view[set](m.file.data, sets, uint64(e.sets)),
		data:  view[byte](m.file.data, data, uint64(e.data)),
	}
	z.origin = string(z.data[:e.origin]) // a copy: lookups compare it without holding the zone
	return z
}

// zone returns the zone with this origin in wire format, if it has this version.
func (m *mappedZones) zone(origin string, version uint64) *zone {
	if m.byName == nil {
		m.byName = make(map[string]int32, len(m.entries))
		for i := range m.entries {
			e := &m.entries[i]
			data := e.at + uint64(e.nodes)*nodeSize + uint64(e.sets)*setSize
			m.byName[unsafe.String(&m.file.data[data], int(e.origin))] = int32(i)
		}
	}
	i, found := m.byName[origin]
	if !found || m.entries[i].version != version || version == 0 {
		return nil
	}
	return m.at(int(i))
}

func (z *zone) flags() (f uint8) {
	if z.signed {
		f |= flagSigned
	}
	if z.wild {
		f |= flagWild
	}
	if z.dnames {
		f |= flagDNAMEs
	}
	if z.short {
		f |= flagShort
	}
	return f
}

// native encodes the values as they are in memory.
func native[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}
