package zone_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/zone"
)

// servedZones are zones in memory, which count how often each is read.
type servedZones struct {
	versions map[string]string
	reads    map[string]int
	broken   map[string]bool
	changed  time.Time
}

func (s *servedZones) Zone(_ context.Context, origin string) (dnssec.ServedZone, error) {
	s.reads[origin]++
	if s.broken[origin] {
		return dnssec.ServedZone{}, errors.New("broken")
	}
	if s.versions[origin] == "withdrawn" {
		return dnssec.ServedZone{}, deed.Errorf(deed.CodeNotFound, "withdrawn")
	}
	return dnssec.ServedZone{Origin: origin}, nil
}

func (s *servedZones) All(ctx context.Context, yield func(dnssec.ServedZone) error) error {
	return s.Some(ctx, slices.Sorted(maps.Keys(s.versions)), yield)
}

func (s *servedZones) Some(ctx context.Context, origins []string, yield func(dnssec.ServedZone) error) error {
	for _, origin := range origins {
		z, err := s.Zone(ctx, origin)
		if err == nil {
			err = yield(z)
		}
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			return err
		}
	}
	return nil
}

func (s *servedZones) Versions(_ context.Context, yield func(origin, version string, changed time.Time)) error {
	for origin, version := range s.versions {
		yield(origin, version, s.changed)
	}
	return nil
}

func (s *servedZones) Changed(context.Context, time.Time) (map[string]string, error) {
	return maps.Clone(s.versions), nil
}

// published remembers what was published last.
type published map[string]bool

func (p published) Publish(_ context.Context, z dnssec.ServedZone) error {
	p[z.Origin] = true
	return nil
}

func (p published) Withdraw(_ context.Context, origin string) error {
	delete(p, origin)
	return nil
}

// Each change is read once, however often the follower polls, and a zone that cannot be
// read does not stop the others and is tried again.
func TestFollowerReadsEachChangeOnce(t *testing.T) {
	zones := &servedZones{
		versions: map[string]string{"a.com": "1", "b.com": "1", "c.com": "1"},
		reads:    map[string]int{}, broken: map[string]bool{"b.com": true},
	}
	out := published{}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Now: time.Now}
	for range 3 {
		if err := f.Follow(t.Context()); err == nil {
			t.Error("a zone that cannot be read: got no error")
		}
	}
	if zones.reads["a.com"] != 1 || zones.reads["b.com"] != 3 || zones.reads["c.com"] != 1 {
		t.Errorf("got reads %v", zones.reads)
	}
	zones.broken, zones.versions["a.com"], zones.versions["c.com"] = nil, "2", "withdrawn"
	for range 3 {
		if err := f.Follow(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if zones.reads["a.com"] != 2 || zones.reads["b.com"] != 4 || zones.reads["c.com"] != 2 {
		t.Errorf("got reads %v", zones.reads)
	}
	if got := slices.Sorted(maps.Keys(out)); !slices.Equal(got, []string{"a.com", "b.com"}) {
		t.Errorf("published %v", got)
	}
}
