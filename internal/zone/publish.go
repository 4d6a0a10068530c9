package zone

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// Served reads the zones that name servers serve.
type Served interface {
	// Zone returns a zone as it is served, or CodeNotFound.
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)

	// All yields every zone that is served.
	All(ctx context.Context, yield func(dnssec.ServedZone) error) error

	// Changed returns the origins of the zones that changed since, including withdrawn
	// ones, each with a version that is a different one after every change.
	Changed(ctx context.Context, since time.Time) (versions map[string]string, err error)

	// Some yields those of the zones that are served.
	Some(ctx context.Context, origins []string, yield func(dnssec.ServedZone) error) error

	// Versions yields the version of every zone that is served (dnssec.ServedZone), and
	// when it changed last.
	Versions(ctx context.Context, yield func(origin, version string, changed time.Time)) error
}

// Follower keeps the publishers of this process up to date with the database,
// which other nodes change too. Fill the exported fields; call Load before Follow.
type Follower struct {
	Zones      Served
	Publishers []dnssec.Publisher
	Snapshot   Snapshot         // of the first of them; nil: none
	Now        func() time.Time // the clock of the changes' timestamps

	mu     sync.Mutex
	since  time.Time           // guarded by mu
	seen   map[string]string   // versions that the last poll has published; guarded by mu
	failed map[string]struct{} // zones that the last poll could not publish; guarded by mu

	reading singleflight.Group // by origin and serial

	refreshing [64]sync.Mutex // by origin: held from reading a zone until it is published

	recentMu sync.Mutex
	recent   map[string]dnssec.ServedZone // published since the last poll but one, without records; guarded by recentMu
	changing map[string]int               // how many changes of a zone this process makes now; likewise
}

// overlap is how far each poll reaches back before the previous one: a
// transaction may become visible after one that began later, and the clocks of
// two nodes differ slightly.
const overlap = 10 * time.Second

// Follow publishes what has changed since the last call. A zone that cannot be
// published does not stop the others, and is tried again by the next call.
func (f *Follower) Follow(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.Publishers) == 0 {
		return nil // nothing is served here
	}
	now := f.Now() // not the time of the last change: zones near it would be re-read on every poll
	changed, err := f.Zones.Changed(ctx, f.since.Add(-overlap))
	if err != nil {
		return fmt.Errorf("read changed zones: %w", err)
	}
	for origin := range f.failed {
		if _, found := changed[origin]; !found {
			changed[origin] = "" // it changed before the time of this poll
		}
	}
	f.failed = map[string]struct{}{}
	var failed error
	for origin, version := range changed {
		if version != "" && (f.seen[origin] == version || f.recently(origin).Version == version) {
			continue // it was published, and the last poll reaches back as far as this one
		}
		if err := f.Refresh(ctx, origin); err != nil {
			failed = errors.Join(failed, err)
			f.failed[origin] = struct{}{}
			delete(changed, origin)
		}
	}
	f.seen, f.since = changed, now
	f.forget(changed)
	return failed
}

// HandleNotification handles a notification from a node: the origin of a changed zone
// and its serial, or "" when notifications may have been lost.
func (f *Follower) HandleNotification(ctx context.Context, text string) error {
	if text == "" {
		return f.Follow(ctx)
	}
	origin, number, _ := strings.Cut(text, " ")
	if f.isChanging(origin) {
		return nil
	}
	serial, _ := strconv.ParseUint(number, 10, 32) // 0: a zone that was withdrawn
	return f.Ensure(ctx, origin, uint32(serial))
}

// Changing is called before this process changes a zone, and end after it. In between,
// notifications of the zone are ignored: the process publishes what it has changed itself,
// as soon as it need not be read from the database.
func (f *Follower) Changing(origin string) (end func()) {
	f.recentMu.Lock()
	defer f.recentMu.Unlock()
	if f.changing == nil {
		f.changing = map[string]int{}
	}
	f.changing[origin]++
	return func() {
		f.recentMu.Lock()
		defer f.recentMu.Unlock()
		if f.changing[origin]--; f.changing[origin] == 0 {
			delete(f.changing, origin)
		}
	}
}

func (f *Follower) isChanging(origin string) bool {
	f.recentMu.Lock()
	defer f.recentMu.Unlock()
	return f.changing[origin] > 0
}

// Ensure publishes or withdraws one zone, as the database has it, unless this serial of
// it was published just now, or is being published. Serial 0 is any.
func (f *Follower) Ensure(ctx context.Context, origin string, serial uint32) error {
	if serial == 0 {
		return f.Refresh(ctx, origin)
	}
	if z := f.recently(origin); z.Origin != "" && !dnssec.NewerSerial(serial, z.Serial) {
		return nil
	}
	_, err, _ := f.reading.Do(fmt.Sprint(origin, " ", serial), func() (any, error) {
		return nil, f.Refresh(context.WithoutCancel(ctx), origin) // others wait for it, too
	})
	return err
}

func (f *Follower) recently(origin string) dnssec.ServedZone {
	f.recentMu.Lock()
	defer f.recentMu.Unlock()
	return f.recent[origin]
}

// remember remembers that a zone was published, or withdrawn if it has no version.
func (f *Follower) remember(z dnssec.ServedZone) {
	f.recentMu.Lock()
	defer f.recentMu.Unlock()
	switch {
	case z.Version == "":
		delete(f.recent, z.Origin)
	case f.recent == nil:
		f.recent = map[string]dnssec.ServedZone{}
		fallthrough
	default:
		z.RRs = nil
		f.recent[z.Origin] = z
	}
}

// forget forgets what no poll will find as changed any more.
func (f *Follower) forget(changed map[string]string) {
	f.recentMu.Lock()
	defer f.recentMu.Unlock()
	maps.DeleteFunc(f.recent, func(origin string, _ dnssec.ServedZone) bool {
		_, found := changed[origin]
		return !found
	})
}

// Refresh publishes or withdraws one zone, as the database has it. Of two calls for one zone
// the second reads it after the first has published: else what the first has read could be
// published after the second has withdrawn it, and be served for ever.
func (f *Follower) Refresh(ctx context.Context, origin string) error {
	if len(f.Publishers) == 0 {
		return nil // nothing is served here
	}
	lock := &f.refreshing[crc32.ChecksumIEEE([]byte(origin))%uint32(len(f.refreshing))]
	lock.Lock()
	defer lock.Unlock()
	z, err := f.Zones.Zone(ctx, origin)
	if deed.CodeOf(err) == deed.CodeNotFound {
		f.remember(dnssec.ServedZone{Origin: origin})
		var all error
		for _, p := range f.Publishers {
			all = errors.Join(all, p.Withdraw(ctx, origin))
		}
		return all
	}
	if err != nil {
		return fmt.Errorf("read the zone %s: %w", origin, err)
	}
	if err = f.publish(ctx, z); err == nil {
		f.remember(z)
	}
	return err
}

func (f *Follower) publish(ctx context.Context, z dnssec.ServedZone) error {
	return publish(ctx, f.Publishers, z)
}

func publish(ctx context.Context, publishers []dnssec.Publisher, z dnssec.ServedZone) error {
	var all error
	for _, p := range publishers {
		all = errors.Join(all, p.Publish(ctx, z))
	}
	if all != nil {
		return fmt.Errorf("publish %s: %w", z.Origin, all)
	}
	return nil
}
