package registration

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// LifecycleStore stores the lifecycle of registrations.
type LifecycleStore interface {
	// DueNames returns names that Advance should be called for now.
	DueNames(ctx context.Context, limit int) ([]string, error)

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// UpdateRegistration replaces was with is, and stores its events and the time
	// of the next check. It returns false, and writes nothing, when the row no
	// longer equals was.
	UpdateRegistration(ctx context.Context, was, is lifecycle.Registration, events []lifecycle.Event, next time.Time) (written bool, err error)

	// EndRegistration removes a name that is no longer registered through us.
	EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error
}

// Lifecycle synchronizes registrations with the registry, which is authoritative,
// moves them through their phases, and records the events that owners are notified
// of. Fill every field.
type Lifecycle struct {
	Names   LifecycleStore
	Manager registrar.Manager
	Grace   func(tld deed.TLD) int // days
	Now     func() time.Time       // the registry's clock
	Log     *slog.Logger
}

const (
	compareInterval      = 24 * time.Hour   // between two comparisons with the registry, when nothing is due
	transferPollInterval = 10 * time.Minute // while a transfer to another registrar is pending
	registryRetryDelay   = time.Minute      // after the registry did not answer
	missingCheckInterval = time.Hour        // after it says that the name is not in our account
)

// Due returns names that Advance should be called for now.
func (l *Lifecycle) Due(ctx context.Context, limit int) ([]string, error) {
	return l.Names.DueNames(ctx, limit)
}

// Advance synchronizes one name. It is idempotent and safe for concurrent use: what
// it writes depends on the registry and the clock only.
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
		err = l.absent(ctx, was, now) // or it was registered again, under another order
	case err != nil:
		_, err = l.Names.UpdateRegistration(ctx, was, was, nil, now.Add(registryRetryDelay))
	default:
		err = l.update(ctx, was, h, now)
	}
	if err != nil {
		return fmt.Errorf("synchronize %s: %w", name, err)
	}
	return nil
}

// update applies the registry's record and moves the name to its current phase.
func (l *Lifecycle) update(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding, now time.Time) error {
	is, events := was.Corrected(h, now)
	state := is.StateAt(now, l.Grace(is.Name.TLD()))
	next := now.Add(compareInterval)
	if state.Next.Before(next) {
		next = state.Next
	}
	is.Status = state.Status
	switch {
	case state.Phase == lifecycle.PhaseGone: // by our calculation; the registry still has it
		is.Status, next = lifecycle.StatusPendingDelete, now.Add(missingCheckInterval)
	case slices.Contains(h.EPPStatus, "pendingTransfer"):
		is.Status = lifecycle.StatusTransferring
		if next.After(now.Add(transferPollInterval)) {
			next = now.Add(transferPollInterval)
		}
		events = append(events, lifecycle.Event{Name: is.Name, Reference: is.Reference, Type: lifecycle.EventLeaving, At: now, About: is.Expires})
	}
	_, err := l.Names.UpdateRegistration(ctx, was, is, append(events, state.Events...), next)
	return err
}

// absent handles a name that is no longer in our account at the registry: it was
// deleted, transferred to another registrar, or needs an operator.
func (l *Lifecycle) absent(ctx context.Context, was lifecycle.Registration, now time.Time) error {
	state := was.StateAt(now, l.Grace(was.Name.TLD()))
	happened := lifecycle.Event{Name: was.Name, Reference: was.Reference, Type: lifecycle.EventLeft, At: now, About: was.Expires}
	switch {
	case was.Status == lifecycle.StatusTransferring:
		return l.Names.EndRegistration(ctx, was, "transferred_out", []lifecycle.Event{happened})
	case state.Phase == lifecycle.PhaseGone:
		return l.Names.EndRegistration(ctx, was, "deleted", state.Events)
	}
	// It may be an error of the registry: an operator must investigate, and the
	// registration stays with its owner.
	is := was
	is.Status, happened.Type = lifecycle.StatusSuspended, lifecycle.EventMissing
	written, err := l.Names.UpdateRegistration(ctx, was, is, []lifecycle.Event{happened}, now.Add(missingCheckInterval))
	if err == nil && written && was.Status != is.Status {
		l.Log.Error("a name of ours is not in our account at its registry: ask the registry, its owner keeps it meanwhile",
			"domain", string(was.Name), "registrar", was.Backend, "owner", string(was.Owner), "expires", was.Expires.UTC().Format(time.RFC3339))
	}
	return err
}
