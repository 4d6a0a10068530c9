package zone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed/internal/dnssec"
)

// A Snapshot keeps the zones of a publisher between two runs of the process, so that
// it does not have to read all of them again.
type Snapshot interface {
	// Open reads the last snapshot, and returns when it was written. Close follows.
	Open() (saved time.Time, err error)

	// Restore publishes a zone of it, and reports whether it has this version.
	Restore(origin, version string) bool

	Close()

	// Build writes a new snapshot with the zones that each passes to add, and publishes
	// them.
	Build(each func(add func(dnssec.ServedZone) error) error) error
}

// noticeTime is how long before a snapshot a zone must have changed to be taken from
// it: of later changes, other publishers may not have heard when the process ended.
const noticeTime = 15 * time.Minute

// Loaded says how the zones were loaded.
type Loaded struct {
	Zones    int
	Restored int   // of them, those of the snapshot
	Snapshot error // why there was no snapshot; nil when there was one, or none was wanted

	Failed   int   // zones that cannot be served
	FirstBad error // about the first of them
}

// count counts a zone. One that cannot be served does not stop those behind it.
func (l *Loaded) count(err error) error {
	if errors.Is(err, dnssec.ErrUnservable) {
		l.Failed++
		l.FirstBad = cmp.Or(l.FirstBad, err)
		return nil
	}
	return err
}

// Load publishes every zone.
func (f *Follower) Load(ctx context.Context) (out Loaded, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since = f.Now()
	switch {
	case len(f.Publishers) == 0:
		return out, nil
	case f.Snapshot == nil:
		return f.loadAll(ctx)
	}
	saved, missing := f.Snapshot.Open()
	if missing == nil {
		defer f.Snapshot.Close()
		return f.restore(ctx, saved)
	}
	out, err = f.build(ctx)
	if err != nil && ctx.Err() == nil {
		missing = errors.Join(missing, err)
		out, err = f.loadAll(ctx) // a full disk must not stop the name server
	}
	out.Snapshot = missing
	return out, err
}

func (f *Follower) loadAll(ctx context.Context) (out Loaded, err error) {
	err = f.Zones.All(ctx, func(z dnssec.ServedZone) error {
		out.Zones++
		return out.count(f.publish(ctx, z))
	})
	return out, err
}

// build reads every zone into a new snapshot.
func (f *Follower) build(ctx context.Context) (out Loaded, err error) {
	err = f.Snapshot.Build(func(add func(dnssec.ServedZone) error) error {
		return f.Zones.All(ctx, func(z dnssec.ServedZone) error {
			out.Zones++
			return out.count(errors.Join(add(z), publish(ctx, f.Publishers[1:], z)))
		})
	})
	return out, err
}

// restore reads only those zones that are not in the snapshot, or have changed.
func (f *Follower) restore(ctx context.Context, saved time.Time) (out Loaded, err error) {
	var changed []string
	err = f.Zones.Versions(ctx, func(origin, version string, at time.Time) {
		out.Zones++
		if at.Before(saved.Add(-noticeTime)) && f.Snapshot.Restore(origin, version) {
			out.Restored++
			return
		}
		changed = append(changed, origin)
	})
	if err != nil {
		return out, fmt.Errorf("read the versions of the zones: %w", err)
	}
	err = f.Zones.Some(ctx, changed, func(z dnssec.ServedZone) error { return out.count(f.publish(ctx, z)) })
	return out, err
}
