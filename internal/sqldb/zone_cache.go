package sqldb

import (
	"slices"
	"strconv"
	"sync"

	"deed.example/deed/internal/dnszone"
)

// A zoneVersion identifies the content of a zone: also after a backup was restored, no
// other content has it.
type zoneVersion struct {
	id      string
	serial  uint32
	changed int64 // Unix milliseconds
}

// String returns the version for dnssec.ServedZone.
func (v zoneVersion) String() string {
	return v.id + " " + strconv.FormatUint(uint64(v.serial), 10) + " " + strconv.FormatInt(v.changed, 10)
}

// A zoneContent is what a zone has in one version. It is not modified.
type zoneContent struct {
	version zoneVersion
	records []dnszone.Record // sorted, like served
	served  []dnszone.RR
}

// Limits of a zoneCache, in bytes: of each of its two generations, and of a zone that is
// cached.
const (
	maxCached     = 4 << 20
	maxCachedZone = 512 << 10
)

// A zoneCache has the content of zones that were changed lately: of a zone whose version
// is still the same, nothing else needs to be read from the database.
//
// It has two generations. When the younger one is full, it replaces the older one, which
// is dropped.
type zoneCache struct {
	mu         sync.Mutex // guards all below
	young, old map[string]zoneContent
	size       int // of the younger one
}

// find returns the content of the zone that is cached, whatever its version is now.
func (c *zoneCache) find(name string) zoneContent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if content, ok := c.young[name]; ok {
		return content
	}
	return c.old[name]
}

// add caches what a zone has, unless it is too large.
func (c *zoneCache) add(name string, content zoneContent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.young[name]; ok {
		delete(c.young, name)
		c.size -= before.size()
	}
	size := content.size()
	if size > maxCachedZone {
		return
	}
	if c.young == nil || c.size+size > maxCached {
		c.old, c.young, c.size = c.young, map[string]zoneContent{}, 0
	}
	c.young[name] = content
	c.size += size
}

// size returns about how much memory the content uses.
func (z zoneContent) size() int {
	const perZone, perRecord, perServed = 200, 200, 64
	n := perZone
	for _, r := range z.records {
		n += perRecord + len(r.Host) + len(r.Value)
	}
	for _, rr := range z.served {
		n += perServed + len(rr.Owner) + len(rr.Data)
	}
	return n
}

// recordsOf returns a copy of the records, if this is the content of the version.
func (z zoneContent) recordsOf(v zoneVersion) ([]dnszone.Record, bool) {
	return slices.Clone(z.records), z.version == v && v.id != ""
}

// record returns the record with the ID, if this is the content of the zone's revision.
func (z zoneContent) record(id dnszone.RecordID, revision uint32) (dnszone.Record, bool) {
	i := slices.IndexFunc(z.records, func(r dnszone.Record) bool { return r.ID == id })
	if i < 0 || z.version.serial != revision {
		return dnszone.Record{}, false
	}
	return z.records[i], true
}

// servedOf is recordsOf for the served records.
func (z zoneContent) servedOf(v zoneVersion) ([]dnszone.RR, bool) {
	return slices.Clone(z.served), z.version == v && v.id != ""
}
