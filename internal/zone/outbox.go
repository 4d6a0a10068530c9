package zone

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

const (
	// TooLong is how long a change may take to be everywhere.
	TooLong = time.Minute

	tellAgain = 5 * time.Second // between two looks whether a change is everywhere
)

// Outbox keeps the zones whose last change may not be on every name server yet.
type Outbox interface {
	Zone(ctx context.Context, name deed.Name) (dnszone.Zone, error)

	// DueOutbox returns zones that somebody should look for now.
	DueOutbox(ctx context.Context, most int) ([]string, error)

	// DelayOutbox says when somebody should look again.
	DelayOutbox(ctx context.Context, name deed.Name, until time.Time) error

	// Told writes down that every name server gives the zone out with this serial
	// or a later one.
	Told(ctx context.Context, name deed.Name, serial uint32) error

	// Behind counts the zones that changed before the time and are not everywhere.
	Behind(ctx context.Context, before time.Time) (int, error)
}

// Teller looks whether changes are on every name server, and writes that down.
// The notices themselves are repeated by who sends them. Fill every field.
type Teller struct {
	Outbox     Outbox
	Everywhere func(ctx context.Context, name deed.Name, serial uint32) bool // whether every server has this serial or a later one
	Now        func() time.Time
}

// Due returns zones that Advance should be called for now.
func (t *Teller) Due(ctx context.Context, most int) ([]string, error) {
	return t.Outbox.DueOutbox(ctx, most)
}

// Advance looks for one zone.
func (t *Teller) Advance(ctx context.Context, id string) error {
	name := deed.Name(id)
	z, err := t.Outbox.Zone(ctx, name)
	if err != nil {
		return err
	}
	if !t.Everywhere(ctx, name, z.Serial) {
		return t.Outbox.DelayOutbox(ctx, name, t.Now().Add(tellAgain))
	}
	return t.Outbox.Told(ctx, name, z.Serial)
}

// Shown says whether every name server gives the zone out as it is.
func (t *Teller) Shown(ctx context.Context, name deed.Name) (bool, error) {
	z, err := t.Outbox.Zone(ctx, name)
	if err != nil {
		return false, err
	}
	return t.Everywhere(ctx, name, z.Serial), nil
}

// Watch counts the zones that are not everywhere after a while. Fill the exported
// fields.
type Watch struct {
	Outbox Outbox
	Now    func() time.Time
	Count  func(n int) // is told at every look
	Warn   func(n int) // is told when there are some, and were none before

	last int
}

// Look counts them. One caller at a time.
func (w *Watch) Look(ctx context.Context) error {
	n, err := w.Outbox.Behind(ctx, w.Now().Add(-TooLong))
	if err != nil {
		return err
	}
	w.Count(n)
	if n > 0 && w.last == 0 {
		w.Warn(n)
	}
	w.last = n
	return nil
}
