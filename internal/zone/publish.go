package zone

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// Served is what name servers give out.
type Served interface {
	// Zone returns a zone as it is served, or CodeNotFound when it is not.
	Zone(ctx context.Context, origin string) (dnssec.ServedZone, error)

	// All yields every zone that is served.
	All(ctx context.Context, yield func(dnssec.ServedZone) error) error

	// Changed returns the zones that changed since, served or not any more.
	Changed(ctx context.Context, since time.Time) (origins []string, err error)
}

// Follower keeps the publishers of this process up to date with the database,
// whoever changed it. Fill the exported fields; call Load before Follow.
type Follower struct {
	Zones      Served
	Publishers []dnssec.Publisher
	Now        func() time.Time // the clock that changes are dated by

	mu    sync.Mutex
	since time.Time // guarded by mu
}

// overlap is how far back every look reaches beyond the one before it: a
// transaction may be seen later than one that began after it, and the clocks of
// two nodes are never quite one.
const overlap = 10 * time.Second

// Load publishes every zone there is, and returns how many.
func (f *Follower) Load(ctx context.Context) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = f.Now()
	err = f.Zones.All(ctx, func(z dnssec.ServedZone) error {
		n++
		return f.publish(ctx, z)
	})
	return n, err
}

// Follow publishes what has changed since the last look.
func (f *Follower) Follow(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Now() // not the last change: its neighbours would be read again for ever
	origins, err := f.Zones.Changed(ctx, f.since.Add(-overlap))
	if err != nil {
		return fmt.Errorf("look for changed zones: %w", err)
	}
	for _, origin := range origins {
		if err := f.Refresh(ctx, origin); err != nil {
			return err
		}
	}
	f.since = now
	return nil
}

// Heard does what another node's word calls for: it names a zone that changed, or
// is "" when some word may have been missed.
func (f *Follower) Heard(ctx context.Context, word string) error {
	if word == "" {
		return f.Follow(ctx)
	}
	return f.Refresh(ctx, word)
}

// Refresh makes the publishers give out what the database has for one zone.
func (f *Follower) Refresh(ctx context.Context, origin string) error {
	z, err := f.Zones.Zone(ctx, origin)
	if deed.CodeOf(err) == deed.CodeNotFound {
		var all error
		for _, p := range f.Publishers {
			all = errors.Join(all, p.Withdraw(ctx, origin))
		}
		return all
	}
	if err != nil {
		return fmt.Errorf("read the zone %s: %w", origin, err)
	}
	return f.publish(ctx, z)
}

func (f *Follower) publish(ctx context.Context, z dnssec.ServedZone) error {
	var all error
	for _, p := range f.Publishers {
		all = errors.Join(all, p.Publish(ctx, z))
	}
	if all != nil {
		return fmt.Errorf("publish %s: %w", z.Origin, all)
	}
	return nil
}
