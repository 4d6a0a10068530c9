package zone_test

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/zone"
)

// snapshot is one in memory.
type snapshot struct {
	saved    time.Time
	versions map[string]string // by origin
	open     error
	build    error
	out      published
}

func (s *snapshot) Open() (time.Time, error) { return s.saved, s.open }
func (s *snapshot) Close()                   {}

func (s *snapshot) Restore(origin, version string) bool {
	if s.versions[origin] == version {
		s.out[origin] = true
	}
	return s.versions[origin] == version
}

func (s *snapshot) Build(each func(add func(dnssec.ServedZone) error) error) error {
	return errors.Join(s.build, each(func(z dnssec.ServedZone) error {
		if z.Origin == "bad.com" {
			return dnssec.ErrUnservable
		}
		s.out[z.Origin] = true
		return s.build
	}))
}

// A start reads what the snapshot does not have; it needs neither the file nor every
// zone to be good.
func TestLoad(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	long := now.Add(-time.Hour)
	for _, test := range []struct {
		name     string
		snapshot *snapshot
		changed  time.Time
		reads    []string
		restored int
		lost     bool // the snapshot
	}{
		{"unchanged", &snapshot{saved: now, versions: map[string]string{"a.com": "1", "b.com": "2", "gone.com": "1"}}, long, nil, 2, false},
		{"one changed", &snapshot{saved: now, versions: map[string]string{"a.com": "1", "b.com": "1"}}, long, []string{"b.com"}, 1, false},
		{"one new", &snapshot{saved: now, versions: map[string]string{"b.com": "2"}}, long, []string{"a.com"}, 1, false},
		{"changed just before it was written", &snapshot{saved: now, versions: map[string]string{"a.com": "1", "b.com": "2"}}, now.Add(-time.Minute), []string{"a.com", "b.com"}, 0, false},
		{"no file", &snapshot{open: errors.New("no file")}, long, []string{"a.com", "b.com"}, 0, true},
		{"no file, full disk", &snapshot{open: errors.New("no file"), build: errors.New("full")}, long, []string{"a.com", "a.com", "b.com"}, 0, true},
		{"off", nil, long, []string{"a.com", "b.com"}, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			zones := &servedZones{versions: map[string]string{"a.com": "1", "b.com": "2"}, reads: map[string]int{}, changed: test.changed}
			out := published{}
			f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Now: time.Now}
			if test.snapshot != nil {
				test.snapshot.out = out
				f.Snapshot = test.snapshot
			}
			loaded, err := f.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var reads []string
			for _, origin := range slices.Sorted(maps.Keys(zones.reads)) {
				reads = append(reads, slices.Repeat([]string{origin}, zones.reads[origin])...)
			}
			if !slices.Equal(reads, test.reads) || loaded.Zones != 2 || loaded.Restored != test.restored || (loaded.Snapshot != nil) != test.lost {
				t.Errorf("read %v, loaded %+v", reads, loaded)
			}
			if got := slices.Sorted(maps.Keys(out)); !slices.Equal(got, []string{"a.com", "b.com"}) {
				t.Errorf("published %v", got)
			}
		})
	}
}

// A zone that cannot be served stops neither the others nor the start.
func TestLoadWithBadZone(t *testing.T) {
	zones := &servedZones{versions: map[string]string{"a.com": "1", "bad.com": "1", "c.com": "1"}, reads: map[string]int{}}
	out := published{}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Snapshot: &snapshot{open: errors.New("no file"), out: out}, Now: time.Now}
	loaded, err := f.Load(t.Context())
	if err != nil || loaded.Failed != 1 || !errors.Is(loaded.FirstBad, dnssec.ErrUnservable) || !out["a.com"] || !out["c.com"] {
		t.Errorf("got %+v, %v, published %v", loaded, err, out)
	}
}

// A node that serves nothing reads nothing.
func TestLoadWithoutPublishers(t *testing.T) {
	zones := &servedZones{versions: map[string]string{"a.com": "1"}, reads: map[string]int{}}
	f := &zone.Follower{Zones: zones, Now: time.Now}
	_, err := f.Load(t.Context())
	if err = errors.Join(err, f.Follow(t.Context())); err != nil || len(zones.reads) > 0 {
		t.Errorf("got %v, reads %v", err, zones.reads)
	}
}
