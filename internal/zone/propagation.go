package zone

import (
	"context"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

const (
	// MaxPropagation is how long a change may take to reach every name server
	// before an operator is warned.
	MaxPropagation = time.Minute

	propagationPollInterval = 5 * time.Second // between two checks of one zone
)

// Outbox stores the zones whose last change may not have propagated to every name
// server yet.
type Outbox interface {
	Zone(ctx context.Context, name deed.Name) (dnszone.Zone, error)

	// DueOutbox returns zones that are due for a check.
	DueOutbox(ctx context.Context, limit int) ([]string, error)

	// DelayOutbox sets the time of the next check.
	DelayOutbox(ctx context.Context, name deed.Name, until time.Time) error

	// MarkPropagated records that every name server serves the zone with this
	// serial or a later one.
	MarkPropagated(ctx context.Context, name deed.Name, serial uint32) error

	// Behind counts the zones that changed before the time and have not propagated.
	Behind(ctx context.Context, before time.Time) (int, error)
}

// A Propagation says how far the name servers have a zone.
type Propagation struct {
	InSync bool     // every server serves the zone with the serial or a later one
	Latest uint32   // the latest serial that one serves
	Behind []string // servers that serve an earlier serial
}

// PropagationChecker checks whether changes have reached every name server and
// records the result. Fill every field.
//
// A server that has a later serial than the database ignores all changes. That is so after the
// database was restored, if the serial of the zone had been ahead of the clock. The zone gets a
// serial that is later than that.
type PropagationChecker struct {
	Outbox Outbox
	Now    func() time.Time

	// Query asks every server for its serial of a zone.
	Query func(ctx context.Context, name deed.Name, serial uint32) Propagation

	// Raise gives a zone a serial that is later than this one, if it has none.
	Raise func(ctx context.Context, name deed.Name, above uint32) error

	// Remind notifies servers again that are behind. It is called at every check, and
	// limits by itself how often they are notified.
	Remind func(ctx context.Context, name deed.Name, servers []string) error
}

// Due returns zones that Advance should be called for now.
func (c *PropagationChecker) Due(ctx context.Context, limit int) ([]string, error) {
	return c.Outbox.DueOutbox(ctx, limit)
}

// Advance checks one zone.
func (c *PropagationChecker) Advance(ctx context.Context, id string) error {
	name := deed.Name(id)
	z, err := c.Outbox.Zone(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // the name has ended
	}
	if err != nil {
		return err
	}
	p := c.Query(ctx, name, z.Serial)
	var failed error
	switch {
	case p.Latest > z.Serial: // or the zone has changed since it was read
		failed = c.Raise(ctx, name, p.Latest)
	case p.InSync:
		return c.Outbox.MarkPropagated(ctx, name, z.Serial)
	case len(p.Behind) > 0:
		failed = c.Remind(ctx, name, p.Behind)
	}
	return errors.Join(failed, c.Outbox.DelayOutbox(ctx, name, c.Now().Add(propagationPollInterval)))
}

// PropagationMonitor counts the zones that have not propagated within
// MaxPropagation. Fill the exported fields.
type PropagationMonitor struct {
	Outbox Outbox
	Now    func() time.Time
	Count  func(n int) // called at every check
	Warn   func(n int) // called when the count rises from zero

	last int
}

// Check counts them. It must not be called concurrently.
func (m *PropagationMonitor) Check(ctx context.Context) error {
	n, err := m.Outbox.Behind(ctx, m.Now().Add(-MaxPropagation))
	if err != nil {
		return err
	}
	m.Count(n)
	if n > 0 && m.last == 0 {
		m.Warn(n)
	}
	m.last = n
	return nil
}
