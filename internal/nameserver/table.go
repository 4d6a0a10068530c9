package nameserver

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"deed.example/deed/internal/dnssec"
)

// shardCount is the number of shards of the table. A shard is copied when it grows,
// which blocks only its own writers: with 100,000 zones it has some 400 entries.
const shardCount = 256

// table finds zones by origin. Readers take no lock: an entry is one pointer,
// stored atomically.
type table struct {
	seed   maphash.Seed
	depth  atomic.Int32 // the maximum number of labels of any origin so far: longer suffixes need no lookup
	shards [shardCount]shard
	count  atomic.Int64 // of zones
}

type shard struct {
	mu    sync.Mutex // held by writers
	slots atomic.Pointer[[]slot]
	used  int // slots that are not empty, guarded by mu
}

// A slot is empty, holds a zone, or holds the removed marker, which lookups skip.
type slot = atomic.Pointer[zone]

var removed = new(zone)

func (t *table) open() {
	t.seed = maphash.MakeSeed()
	for i := range t.shards {
		slots := make([]slot, 4)
		t.shards[i].slots.Store(&slots)
	}
}

// find returns the zone with exactly this origin, given in wire format.
func (t *table) find(origin []byte) *zone {
	h := maphash.Bytes(t.seed, origin)
	slots := *t.shards[h%shardCount].slots.Load()
	for i := h / shardCount; ; i++ {
		z := slots[i&uint64(len(slots)-1)].Load()
		if z == nil {
			return nil
		}
		if z != removed && z.origin == string(origin) {
			return z
		}
	}
}

// above returns the zone with the longest origin that is a suffix of the name and
// has at most maxLabels labels. skip is the length of the part before the origin.
func (t *table) above(q *query, maxLabels int) (z *zone, skip int) {
	for n := min(q.labels, maxLabels, int(t.depth.Load())); n >= 0; n-- {
		skip = int(q.starts[q.labels-n])
		if z = t.find(q.name[skip:q.nameLen]); z != nil {
			return z, skip
		}
	}
	return nil, 0
}

func (t *table) byOrigin(origin string) *zone {
	wire, err := wireName(origin)
	if err != nil {
		return nil
	}
	return t.find([]byte(wire))
}

// put stores the zone unless the present one is as new.
func (t *table) put(z *zone) {
	h := maphash.String(t.seed, z.origin)
	s := &t.shards[h%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used*4 >= len(*s.slots.Load())*3 {
		s.grow(t.seed)
	}
	at, old := s.place(h, z.origin)
	switch {
	case old == nil:
		s.used++
		t.count.Add(1)
	case !dnssec.NewerSerial(z.serial, old.serial):
		return
	}
	for {
		depth := t.depth.Load()
		if int32(z.labels) <= depth || t.depth.CompareAndSwap(depth, int32(z.labels)) {
			break
		}
	}
	at.Store(z)
}

func (t *table) remove(origin string) {
	wire, err := wireName(origin)
	if err != nil {
		return // it was never published
	}
	h := maphash.String(t.seed, wire)
	s := &t.shards[h%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, old := s.place(h, wire); old != nil {
		at.Store(removed)
		t.count.Add(-1)
	}
}

// swap replaces the zone by another form of it, unless it was replaced meanwhile.
func (t *table) swap(old, z *zone) {
	h := maphash.String(t.seed, old.origin)
	s := &t.shards[h%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, now := s.place(h, old.origin); now == old {
		at.Store(z)
	}
}

// stored returns the zones that have a version.
func (t *table) stored() (zones []*zone) {
	for i := range t.shards {
		slots := *t.shards[i].slots.Load()
		for j := range slots {
			if z := slots[j].Load(); z != nil && z.version != 0 {
				zones = append(zones, z)
			}
		}
	}
	return zones
}

// place returns the slot that holds the origin, or the empty slot at which the
// search for it ends.
func (s *shard) place(h uint64, origin string) (at *slot, old *zone) {
	slots := *s.slots.Load()
	for i := h / shardCount; ; i++ {
		at := &slots[i&uint64(len(slots)-1)]
		z := at.Load()
		if z == nil || z != removed && z.origin == origin {
			return at, z
		}
	}
}

// grow moves the zones to twice as many slots as they need, and drops the removed
// markers.
func (s *shard) grow(seed maphash.Seed) {
	old := *s.slots.Load()
	live := 0
	for i := range old {
		if z := old[i].Load(); z != nil && z != removed {
			live++
		}
	}
	size := 4
	for size < 2*(live+1) {
		size *= 2
	}
	slots := make([]slot, size)
	for i := range old {
		z := old[i].Load()
		if z == nil || z == removed {
			continue
		}
		j := maphash.String(seed, z.origin) / shardCount
		for slots[j&uint64(size-1)].Load() != nil {
			j++
		}
		slots[j&uint64(size-1)].Store(z)
	}
	s.slots.Store(&slots)
	s.used = live
}
