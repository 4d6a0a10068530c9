package registration

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// LifecycleStore keeps what becomes of the names we hold.
type LifecycleStore interface {
	// DueNames returns names that Advance should be called for now.
	DueNames(ctx context.Context, limit int) ([]string, error)

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// UpdateRegistration writes down what became of the name since was read, its events and
	// when to look again. It returns false, and writes nothing, when the name
	// has changed meanwhile.
	UpdateRegistration(ctx context.Context, was, is lifecycle.Registration, events []lifecycle.Event, next time.Time) (written bool, err error)

	// EndRegistration takes the name from its owner: it is no longer ours.
	EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error
}

// Lifecycle compares the names we hold with the registry, whose word counts,
// moves them through their phases, and tells their owners what is coming. Fill
// every field.
type Lifecycle struct {
	Names   LifecycleStore
	Manager registrar.Manager
	Grace   func(tld deed.TLD) int // days
	Now     func() time.Time       // the registry's clock
}

const (
	compareInterval      = 24 * time.Hour   // with the registry, when nothing is due
	transferPollInterval = 10 * time.Minute // while a name may leave us
	registryRetryDelay   = time.Minute      // when the registry did not answer
	missingCheckInterval = time.Hour        // when it says that the name is not ours
)

// Due returns names that Advance should be called for now.
func (l *Lifecycle) Due(ctx context.Context, limit int) ([]string, error) {
	return l.Names.DueNames(ctx, limit)
}

// Advance looks at one name. It may be called by anyone, at any time, any number
// of times at once: what it writes is what the registry and the clock say.
func (l *Lifecycle) Advance(ctx context.Context, name string) error {
	was, err := l.Names.Registration(ctx, deed.Name(name))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // it has ended
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	now := l.Now()
	h, err := l.Manager.Holding(ctx, was.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound, err == nil && h.Reference != "" && h.Reference != was.Reference:
		err = l.absent(ctx, was, now) // or it is ours anew, under another order
	case err != nil:
		_, err = l.Names.UpdateRegistration(ctx, was, was, nil, now.Add(registryRetryDelay))
	default:
		err = l.update(ctx, was, h, now)
	}
	if err != nil {
		return fmt.Errorf("look after %s: %w", name, err)
	}
	return nil
}

// update takes over what the registry says and moves the name to the phase it is
// in.
func (l *Lifecycle) update(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding, now time.Time) error {
	is, events := was.Corrected(h, now)
	life := is.StateAt(now, l.Grace(is.Name.TLD()))
	next := now.Add(compareInterval)
	if life.Next.Before(next) {
		next = life.Next
	}
	is.Status = life.Status
	switch {
	case life.Phase == lifecycle.PhaseGone: // by our reckoning; the registry still has it
		is.Status, next = lifecycle.StatusPendingDelete, now.Add(missingCheckInterval)
	case slices.Contains(h.EPPStatus, "pendingTransfer"):
		is.Status = lifecycle.StatusTransferring
		if next.After(now.Add(transferPollInterval)) {
			next = now.Add(transferPollInterval)
		}
		events = append(events, lifecycle.Event{Name: is.Name, Reference: is.Reference, Type: lifecycle.EventLeaving, At: now, About: is.Expires})
	}
	_, err := l.Names.UpdateRegistration(ctx, was, is, append(events, life.Events...), next)
	return err
}

// absent decides on a name that the registry no longer has for us: it was
// deleted, or moved to another registrar, or somebody must look.
func (l *Lifecycle) absent(ctx context.Context, was lifecycle.Registration, now time.Time) error {
	life := was.StateAt(now, l.Grace(was.Name.TLD()))
	happened := lifecycle.Event{Name: was.Name, Reference: was.Reference, Type: lifecycle.EventLeft, At: now, About: was.Expires}
	switch {
	case was.Status == lifecycle.StatusTransferring:
		return l.Names.EndRegistration(ctx, was, "transferred_out", []lifecycle.Event{happened})
	case life.Phase == lifecycle.PhaseGone:
		return l.Names.EndRegistration(ctx, was, "deleted", life.Events)
	}
	// It may be a mistake of the registry's: a person must look, and the name
	// stays its owner's in our books.
	is := was
	is.Status, happened.Type = lifecycle.StatusSuspended, lifecycle.EventMissing
	_, err := l.Names.UpdateRegistration(ctx, was, is, []lifecycle.Event{happened}, now.Add(missingCheckInterval))
	return err
}
