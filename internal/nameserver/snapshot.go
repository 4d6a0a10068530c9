package nameserver

import (
	"fmt"
	"hash/fnv"
	"time"

	"deed.example/deed/internal/dnssec"
)

// A Snapshot is a file with the zones of a server, packed as they are served. The
// server maps it into memory instead of holding a copy: a zone then costs some 150
// bytes of the heap, and is read from the file when it is first queried. The file is
// replaced as a whole and never changed. Fill the exported fields.
//
// Zones without a version (dnssec.ServedZone) are not in it.
type Snapshot struct {
	Server *Server
	Path   string

	last *mappedZones // between Open and Close
}

// Open reads the file that Build or Save wrote, and returns when it was written. Call
// Close after the last Restore.
func (s *Snapshot) Open() (saved time.Time, err error) {
	if s.last, err = openMapped(s.Path); err != nil {
		return saved, fmt.Errorf("zone snapshot %s: %w", s.Path, err)
	}
	return s.last.saved, nil
}

// Restore publishes the zone of the file if it has this version, and reports whether
// it has.
func (s *Snapshot) Restore(origin, version string) bool {
	wire, err := wireName(origin)
	if err != nil {
		return false
	}
	z := s.last.zone(wire, hashVersion(version))
	if z != nil {
		s.Server.zones.put(z)
	}
	return z != nil
}

// Close releases what only Restore needs.
func (s *Snapshot) Close() { s.last = nil }

// Build writes a new file with the zones that each passes to add, and publishes them.
func (s *Snapshot) Build(each func(add func(dnssec.ServedZone) error) error) error {
	w, err := newMappedWriter(s.Path)
	if err != nil {
		return fmt.Errorf("zone snapshot: %w", err)
	}
	defer w.discard()
	err = each(func(from dnssec.ServedZone) error {
		z, err := pack(from)
		if err != nil {
			return err
		}
		return w.add(z)
	})
	if err != nil {
		return err
	}
	m, err := w.finish()
	if err != nil {
		return fmt.Errorf("zone snapshot %s: %w", s.Path, err)
	}
	for i := range m.entries {
		s.Server.zones.put(m.at(i))
	}
	return nil
}

// Save writes a new file with the zones as they are served now, and serves those from
// it. It does nothing unless enough of them have changed since the last file.
func (s *Snapshot) Save() (saved bool, err error) {
	zones := s.Server.zones.stored()
	unsaved := 0
	for _, z := range zones {
		if z.from == nil {
			unsaved++
		}
	}
	if unsaved < max(minUnsaved, len(zones)/unsavedShare) {
		return false, nil
	}
	if err = s.save(zones); err != nil {
		err = fmt.Errorf("zone snapshot %s: %w", s.Path, err)
	}
	return err == nil, err
}

// A file is written when this many zones are not in the last one, and at least one of
// so many.
const (
	minUnsaved   = 1000
	unsavedShare = 20
)

func (s *Snapshot) save(zones []*zone) error {
	w, err := newMappedWriter(s.Path)
	if err != nil {
		return err
	}
	defer w.discard()
	for _, z := range zones {
		if err := w.add(z); err != nil {
			return err
		}
	}
	m, err := w.finish()
	if err != nil {
		return err
	}
	for i, old := range zones {
		s.Server.zones.swap(old, m.at(i))
	}
	return nil
}

// hashVersion returns a number for the version; 0 for none.
func hashVersion(version string) uint64 {
	if version == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(version))
	return max(1, h.Sum64())
}
