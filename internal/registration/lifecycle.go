package registration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// LifecycleStore stores the lifecycle of registrations.
type LifecycleStore interface {
	// DueNames returns names that Advance should be called for now, of one backend, or
	// of all if it is "".
	DueNames(ctx context.Context, backend string, limit int) ([]string, error)

	// Registration returns the name, or CodeNotFound.
	Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error)

	// UpdateRegistration replaces was with is, and stores its events and the time
	// of the next check. It returns false, and writes nothing, when the row no
	// longer equals was.
	UpdateRegistration(ctx context.Context, was, is lifecycle.Registration, events []lifecycle.Event, next time.Time) (written bool, err error)

	// HasOpenOrder reports whether an order for the name has not ended.
	HasOpenOrder(ctx context.Context, name deed.Name) (bool, error)

	// EndRegistration removes a name that is no longer registered through us.
	EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error
}

// Lifecycle synchronizes registrations with the registry, which is authoritative,
// moves them through their phases, and records the events that owners are notified
// of. Fill every field.
type Lifecycle struct {
	Names   LifecycleStore
	Manager registrar.Manager
	Servers []string               // our name servers, in the order that is stored
	Grace   func(tld deed.TLD) int // days
	Now     func() time.Time       // the registry's clock
	Log     *slog.Logger

	// Pace bounds how many names are compared with each backend; nil for no limit.
	Pace *registrar.Pace

	// Observe is called for each name that was compared with its registry, and whether
	// they differed. It is optional.
	Observe func(backend string, differs bool)

	// Delete deletes a name that its registry renewed by itself and that nobody paid
	// for. It is optional.
	Delete func(ctx context.Context, name deed.Name) error

	// Arrived is called, before that is stored, for a name without a DS that the registry has
	// delegated to us, and that was served elsewhere. It is optional.
	Arrived func(ctx context.Context, is lifecycle.Registration) error

	// DS returns the DS of the keys that we sign the name with, or CodeNotFound. It is
	// optional.
	DS func(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error)
}

const (
	compareInterval      = 24 * time.Hour   // between two comparisons with the registry, when nothing is due
	transferPollInterval = 10 * time.Minute // while a transfer to another registrar is pending
	registryRetryDelay   = time.Minute      // after the registry did not answer
	missingCheckInterval = time.Hour        // after it says that the name is not in our account
)

// Due returns names that Advance should be called for now: of each backend no more than
// it may be asked about, those that have waited longest first.
func (l *Lifecycle) Due(ctx context.Context, limit int) (all []string, err error) {
	if l.Pace == nil {
		return l.Names.DueNames(ctx, "", limit)
	}
	for _, backend := range l.Pace.Backends() {
		n := l.Pace.Take(backend, limit)
		if n == 0 {
			continue
		}
		some, err := l.Names.DueNames(ctx, backend, n)
		l.Pace.Return(backend, n-len(some))
		if err != nil {
			return all, err
		}
		all = append(all, some...)
	}
	return all, nil
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
		err = l.absent(ctx, was, err, now) // or it was registered again, under another order
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err() // we stop
	case err != nil:
		l.Log.Warn("a name cannot be compared with its registry, and is tried again", "registrar", was.Backend, "domain", string(was.Name), "cause", err.Error())
		_, err = l.Names.UpdateRegistration(context.WithoutCancel(ctx), was, was, nil, now.Add(registryRetryDelay)) // the registry may have taken all the time
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
	if waits, err := l.awaitRenewal(ctx, was, h, now); waits || err != nil {
		return err
	}
	grace := l.Grace(was.Name.TLD())
	h, err := l.deleteUnpaid(ctx, was, h, now)
	if err != nil {
		return err
	}
	had := len(h.DS)
	h, retry := l.removeStray(ctx, was, h)
	is, events := was.Corrected(h, now)
	if len(h.DS) < had {
		is.DSSeen = now // a move waits until no cache has it
	}
	is.Nameservers = lifecycle.KeepOrder(l.Servers, is.Nameservers)                // which finds the names that need a DS
	is.Registry, is.Status, is.Compared = is.RegistryState(h, grace, now), "", now // a transfer may have been rejected
	ours := lifecycle.AnyServer(was.Nameservers, l.Servers) || lifecycle.AnyServer(is.Nameservers, l.Servers)
	if ours && !lifecycle.SameServers(is.Nameservers, was.Nameservers) && !lifecycle.SameServers(is.Nameservers, l.Servers) {
		is.OurServersUntil = now
	}
	if err := l.arrived(ctx, was, is); err != nil {
		return err
	}
	state := is.StateAt(now, grace)
	is.Status = state.Status.WithHold(h.EPPStatus)
	next := nextCheck(state.Next, now)
	switch {
	case state.Phase == lifecycle.PhaseGone: // by our calculation; the registry still has it
		is.Status, next = lifecycle.StatusPendingDelete, now.Add(missingCheckInterval)
	case h.PendingTransfer():
		is.Status, next = lifecycle.StatusTransferring, earlier(next, now.Add(transferPollInterval))
	case is.Status == lifecycle.StatusSuspended, is.Registry.Phase != "", is.Registry.Verification.Required():
		next = earlier(next, now.Add(missingCheckInterval))
	}
	if retry > 0 {
		next = earlier(next, now.Add(retry))
	}
	l.observe(was.Backend, len(events) > 0)
	events = append(events, statusEvents(was, is, now)...)
	_, err = l.Names.UpdateRegistration(ctx, was, is, append(events, state.Events...), next)
	return err
}

// awaitRenewal leaves a name as it is whose expiry at the registry is later than ours while an
// order for it is open: the order may have led to it, and stores it when it is done. If it was
// stored before, the order would start there, and order other years, or be refunded.
func (l *Lifecycle) awaitRenewal(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding, now time.Time) (waits bool, err error) {
	if !h.Expires.After(was.Expires) {
		return false, nil
	}
	if waits, err = l.Names.HasOpenOrder(ctx, was.Name); waits && err == nil {
		_, err = l.Names.UpdateRegistration(ctx, was, was, nil, now.Add(registryRetryDelay))
	}
	return waits, err
}

// arrived calls Arrived if the registry has delegated the name to us since the last comparison.
func (l *Lifecycle) arrived(ctx context.Context, was, is lifecycle.Registration) error {
	ours := lifecycle.SameServers(is.Nameservers, l.Servers) && !lifecycle.SameServers(was.Nameservers, l.Servers)
	if !ours || len(was.Nameservers) == 0 || len(is.DS) > 0 || l.Arrived == nil {
		return nil
	}
	return l.Arrived(ctx, is)
}

func (l *Lifecycle) observe(backend string, differs bool) {
	if l.Observe != nil {
		l.Observe(backend, differs)
	}
}

// nextCheck returns when to compare the name again: at its next transition, or in a
// day. A transition that is overdue at the registry is looked for every hour.
func nextCheck(transition, now time.Time) time.Time {
	if !transition.After(now) {
		return now.Add(missingCheckInterval)
	}
	return earlier(transition, now.Add(compareInterval))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// statusEvents returns what a change of the status means for the owner.
func statusEvents(was, is lifecycle.Registration, now time.Time) (events []lifecycle.Event) {
	add := func(happened bool, t lifecycle.EventType) {
		if happened && was.Status != is.Status {
			events = append(events, lifecycle.Event{Name: is.Name, Reference: is.Reference, Type: t, At: now, About: now})
		}
	}
	add(is.Status == lifecycle.StatusTransferring, lifecycle.EventLeaving)
	add(was.Status == lifecycle.StatusTransferring, lifecycle.EventStayed)
	add(is.Status == lifecycle.StatusSuspended, lifecycle.EventSuspended)
	add(was.Status == lifecycle.StatusSuspended, lifecycle.EventResumed)
	return append(events, verificationEvents(was, is, now)...)
}

// verificationEvents returns what the owner is told of a verification that the registry
// demands: each demand once, and its end.
func verificationEvents(was, is lifecycle.Registration, now time.Time) []lifecycle.Event {
	e := lifecycle.Event{Name: is.Name, Reference: is.Reference, At: now, About: now}
	demand := is.Registry.Verification
	switch {
	case demand.Equal(was.Registry.Verification):
		return nil
	case demand.Required():
		e.Type = lifecycle.EventVerification
	default:
		e.Type = lifecycle.EventVerified
	}
	return []lifecycle.Event{e}
}

// deleteUnpaid deletes a name that the registry has renewed by itself and that nobody
// paid for by the end of its grace period, which begins its redemption; otherwise the
// operator would pay for a year that is nobody's. It waits for an open order. It
// returns the registry's record after that.
func (l *Lifecycle) deleteUnpaid(ctx context.Context, was lifecycle.Registration, h lifecycle.Holding, now time.Time) (lifecycle.Holding, error) {
	phase, _ := lifecycle.PhaseAt(was.Expires, l.Grace(was.Name.TLD()), now)
	ended := phase != lifecycle.PhaseActive && phase != lifecycle.PhaseGrace
	if !h.Unpaid || !ended || l.Delete == nil || h.Phase == lifecycle.PhaseRedemption || h.Phase == lifecycle.PhasePendingDelete {
		return h, nil
	}
	open, err := l.Names.HasOpenOrder(ctx, was.Name)
	if err != nil || open {
		return h, err
	}
	if err := l.Delete(ctx, was.Name); err != nil {
		l.Log.Error("an unpaid name could not be deleted at the registry, and its renewal is charged to us", "domain", string(was.Name), "err", err.Error())
		return h, nil // it is tried again in an hour; meanwhile it counts as expired
	}
	after, err := l.Manager.Holding(ctx, was.Name)
	if err != nil {
		return h, fmt.Errorf("look up %s after its deletion: %w", was.Name, err)
	}
	return after, nil
}

// absent handles a name that is no longer in our account at the registry: it was
// deleted, transferred to another registrar, or needs an operator.
func (l *Lifecycle) absent(ctx context.Context, was lifecycle.Registration, cause error, now time.Time) error {
	state := was.StateAt(now, l.Grace(was.Name.TLD()))
	happened := lifecycle.Event{Name: was.Name, Reference: was.Reference, Type: lifecycle.EventLeft, At: now, About: was.Expires}
	switch {
	case was.Status == lifecycle.StatusTransferring, errors.Is(cause, registrar.ErrElsewhere):
		return l.Names.EndRegistration(ctx, was, "transferred_out", []lifecycle.Event{happened})
	case state.Phase == lifecycle.PhaseGone:
		return l.Names.EndRegistration(ctx, was, "deleted", state.Events)
	case was.Registry.Phase == lifecycle.PhasePendingDelete, was.Registry.Phase == lifecycle.PhaseRedemption && !now.Before(state.Ends):
		happened.Type = lifecycle.EventDeleted // the registry had begun that earlier than our calculation
		return l.Names.EndRegistration(ctx, was, "deleted", append(state.Events, happened))
	}
	// It may be an error of the registry: an operator must investigate, and the
	// registration stays with its owner.
	l.observe(was.Backend, true)
	is := was
	is.Status, is.Compared, happened.Type = lifecycle.StatusSuspended, now, lifecycle.EventMissing
	is.Registry.Statuses = nil // a name on hold is there
	written, err := l.Names.UpdateRegistration(ctx, was, is, []lifecycle.Event{happened}, now.Add(missingCheckInterval))
	if err == nil && written && (was.Status != is.Status || was.OnHold()) {
		l.Log.Error("a name of ours is not in our account at its registry: ask the registry, its owner keeps it meanwhile",
			"domain", string(was.Name), "registrar", was.Backend, "owner", string(was.Owner), "expires", was.Expires.UTC().Format(time.RFC3339))
	}
	return err
}
