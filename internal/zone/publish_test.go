package zone_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
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
	changed  time.Time // of all of them; zero: just now
}

func (s *servedZones) Zone(_ context.Context, origin string) (dnssec.ServedZone, error) {
	s.reads[origin]++
	if s.broken[origin] {
		return dnssec.ServedZone{}, errors.New("broken")
	}
	if s.versions[origin] == "withdrawn" {
		return dnssec.ServedZone{}, deed.Errorf(deed.CodeNotFound, "withdrawn")
	}
	serial, _ := strconv.Atoi(s.versions[origin])
	return dnssec.ServedZone{Origin: origin, Serial: uint32(serial), Version: s.versions[origin]}, nil
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

func (s *servedZones) Changed(_ context.Context, since time.Time) (map[string]string, error) {
	if !s.changed.IsZero() && s.changed.Before(since) {
		return map[string]string{}, nil
	}
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

// A zone that cannot be published is tried again for as long as it takes, and does not
// make the polls read everything that changed since.
func TestFollowerGoesOnAfterAFailure(t *testing.T) {
	now := time.Now()
	zones := &servedZones{
		versions: map[string]string{"a.com": "1", "b.com": "1"}, changed: now,
		reads: map[string]int{}, broken: map[string]bool{"b.com": true},
	}
	out := published{}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Now: func() time.Time { return now }}
	poll := func() error {
		now = now.Add(time.Minute)
		return f.Follow(t.Context())
	}
	_ = poll()
	zones.versions["a.com"] = "2" // not read: it is not among the changes since the last poll
	for range 2 {
		if err := poll(); err == nil {
			t.Error("a zone that cannot be read: got no error")
		}
	}
	if zones.reads["a.com"] != 1 || zones.reads["b.com"] != 3 {
		t.Errorf("got reads %v", zones.reads)
	}
	zones.broken = nil
	for range 2 {
		if err := poll(); err != nil {
			t.Error(err)
		}
	}
	if zones.reads["b.com"] != 4 || !out["b.com"] {
		t.Errorf("got reads %v, published %v", zones.reads, out)
	}
}

// A change that this node made is read once, although it is told of it by the job, by
// its own notification and by the poll. Changes of others are read when they are heard.
func TestFollowerReadsOwnChangeOnce(t *testing.T) {
	zones := &servedZones{versions: map[string]string{"a.com": "7", "b.com": "3"}, reads: map[string]int{}}
	out := published{}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Now: time.Now}
	hear := func(text string) {
		t.Helper()
		if err := f.HandleNotification(t.Context(), text); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(f.Ensure(t.Context(), "a.com", 0), f.Ensure(t.Context(), "a.com", 7)); err != nil {
		t.Error(err)
	}
	hear("a.com 7")
	hear("a.com 6")
	hear("")
	if zones.reads["a.com"] != 1 || zones.reads["b.com"] != 1 {
		t.Errorf("got reads %v", zones.reads)
	}
	zones.versions["a.com"] = "8"
	hear("a.com 8")
	hear("")
	zones.versions["b.com"] = "withdrawn"
	hear("b.com 0")
	hear("b.com") // of a node of an older release
	if zones.reads["a.com"] != 2 || zones.reads["b.com"] != 3 || !out["a.com"] || out["b.com"] {
		t.Errorf("got reads %v, published %v", zones.reads, out)
	}
	zones.versions["b.com"] = "4" // after it was withdrawn any serial is new
	hear("b.com 4")
	if zones.reads["b.com"] != 4 || !out["b.com"] {
		t.Errorf("got reads %v, published %v", zones.reads, out)
	}
}

// While this node changes a zone it ignores notifications of it, which are of its own
// change: it publishes that itself.
func TestFollowerIgnoresNotificationsOfItsOwnChange(t *testing.T) {
	zones := &servedZones{versions: map[string]string{"a.com": "7", "b.com": "3"}, reads: map[string]int{}}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{published{}}, Now: time.Now}
	ends := []func(){f.Changing("a.com"), f.Changing("a.com")}
	for i := range 3 { // two changes, one, none
		for _, text := range []string{"a.com 7", "b.com 3"} {
			if err := f.HandleNotification(t.Context(), text); err != nil {
				t.Error(err)
			}
		}
		if zones.reads["a.com"] != i/2 || zones.reads["b.com"] != 1 {
			t.Errorf("after %d changes: got reads %v", i, zones.reads)
		}
		if i < 2 {
			ends[i]()
		}
	}
}

// heldZones lets a test change a zone between reading and publishing it.
type heldZones struct {
	*servedZones
	mu   sync.Mutex // of reading
	held func()     // called once, when a zone was read
}

func (s *heldZones) Zone(ctx context.Context, origin string) (dnssec.ServedZone, error) {
	s.mu.Lock()
	z, err := s.servedZones.Zone(ctx, origin)
	held := s.held
	s.held = nil
	s.mu.Unlock()
	if held != nil {
		held()
	}
	return z, err
}

// A zone that is withdrawn after it was read, and before it is published, is not served.
func TestZoneIsWithdrawnWhileItIsPublished(t *testing.T) {
	zones := &heldZones{servedZones: &servedZones{versions: map[string]string{"sold.com": "1"}, reads: map[string]int{}}}
	out := published{}
	f := &zone.Follower{Zones: zones, Publishers: []dnssec.Publisher{out}, Now: time.Now}
	second := make(chan error, 1)
	zones.held = func() {
		zones.mu.Lock()
		zones.versions["sold.com"] = "withdrawn"
		zones.mu.Unlock()
		go func() { second <- f.Refresh(t.Context(), "sold.com") }()
		select {
		case err := <-second: // as if nothing made it wait
			second <- err
		case <-time.After(50 * time.Millisecond): // it waits
		}
	}
	if err := errors.Join(f.Refresh(t.Context(), "sold.com"), <-second); err != nil {
		t.Fatal(err)
	}
	if out["sold.com"] {
		t.Error("the zone is served, although it was withdrawn")
	}
}
