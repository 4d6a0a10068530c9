package zone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// Delegations stores which DS records the registry publishes for our names.
type Delegations interface {
	// DueDelegations returns names that are delegated to these servers and
	// signed, but have no DS record at the registry, and whose DSWait is over. Those
	// that have waited longest for it are first.
	DueDelegations(ctx context.Context, servers []string, limit int) ([]string, error)

	// DSWait returns how the DS of a name waits.
	DSWait(ctx context.Context, name deed.Name) (DSWait, error)

	// SetDSWait stores it.
	SetDSWait(ctx context.Context, name deed.Name, w DSWait) error

	// StoreDS stores the DS records that the registry publishes now, or is about to. It
	// stores nothing when the name servers of the name were changed meanwhile, or are about
	// to be. The name is compared with its registry soon.
	StoreDS(ctx context.Context, name deed.Name, servers []string, ds []dnssec.DS) (stored bool, err error)

	// ReplaceDS stores the DS records in place of others. It stores nothing when the name has
	// none of those any more, or its name servers are about to change.
	ReplaceDS(ctx context.Context, name deed.Name, others, ds []dnssec.DS) (stored bool, err error)

	// SeeDS stores that the registry has had a DS until now that is not stored, so that a change
	// of the name servers waits until no cache has it.
	SeeDS(ctx context.Context, name deed.Name) error
}

// A DSWait says since when the DS of a zone has waited for name servers, and when they
// are asked again. It is zero before the first time.
type DSWait struct{ Since, Next time.Time }

// Checks of one zone are this far apart, the longer it has waited, the farther. A registry
// that refuses the DS, such as one without DNSSEC, is asked again after up to a day.
const (
	minDSCheckInterval   = time.Second
	maxDSCheckInterval   = time.Minute
	maxDSRefusedInterval = 24 * time.Hour
)

// next returns the wait after a check now. If nobody has looked for AbsentServerTimeout,
// the name was not ours to look at meanwhile, and the wait begins anew.
func (w DSWait) next(now time.Time) DSWait {
	if now.Sub(w.Next) > AbsentServerTimeout {
		w.Since = now
	}
	w.Next = now.Add(min(max(now.Sub(w.Since)/10, minDSCheckInterval), maxDSCheckInterval))
	return w
}

// refused returns the wait after the registry has refused the DS now.
func (w DSWait) refused(now time.Time) DSWait {
	w.Next = now.Add(min(max(now.Sub(w.Since), maxDSCheckInterval), maxDSRefusedInterval))
	return w
}

// DSUpdater publishes the DS records of signed zones at the registry. It does so
// only when the name servers serve the signed zone (see DSReady): a DS record without
// matching signatures makes a name bogus for validating resolvers (RFC 4035, 5).
// Fill every field.
type DSUpdater struct {
	Names   Delegations
	Manager registrar.Manager
	Servers []string // our name servers
	DS      func(ctx context.Context, name deed.Name) ([]dnssec.DS, error)
	Ready   func(ctx context.Context, name deed.Name, waited time.Duration) (bool, error) // by DSReady
	Now     func() time.Time
}

// Due returns names that Advance should be called for now.
func (u *DSUpdater) Due(ctx context.Context, limit int) ([]string, error) {
	return u.Names.DueDelegations(ctx, u.Servers, limit)
}

// Advance publishes the DS records of one zone, if the servers serve it signed. The time
// of the next check is stored first, so that names that wait do not delay others.
func (u *DSUpdater) Advance(ctx context.Context, id string) error {
	name := deed.Name(id)
	w, err := u.Names.DSWait(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // the name has ended
	}
	if err != nil {
		return err
	}
	now := u.Now()
	w = w.next(now)
	if err := u.Names.SetDSWait(ctx, name, w); err != nil {
		return err
	}
	ready, err := u.Ready(ctx, name, now.Sub(w.Since))
	if err != nil || !ready {
		return err
	}
	ds, err := u.DS(ctx, name)
	if err != nil {
		return fmt.Errorf("derive the DS of %s: %w", name, err)
	}
	h, err := u.Manager.Holding(ctx, name)
	if err != nil || !lifecycle.SameServers(h.Nameservers, u.Servers) {
		return err // delegated to other servers, which sign with other keys
	}
	return u.publish(ctx, name, ds, w.refused(now))
}

// publish stores the DS, and sets it at the registry. It is stored first, so that the owner
// who changes the name servers meanwhile waits for the caches. If there is no answer, a
// comparison with the registry tells whether it has the DS.
func (u *DSUpdater) publish(ctx context.Context, name deed.Name, ds []dnssec.DS, refused DSWait) error {
	if stored, err := u.Names.StoreDS(ctx, name, u.Servers, ds); err != nil || !stored {
		return err
	}
	if err := u.Manager.SetDS(ctx, name, ds); err != nil {
		var stored error
		if deed.CodeOf(err) != deed.CodeUnavailable {
			ctx = context.WithoutCancel(ctx)
			_, stored = u.Names.ReplaceDS(ctx, name, ds, nil)
			stored = errors.Join(stored, u.Names.SetDSWait(ctx, name, refused))
		}
		return errors.Join(fmt.Errorf("set the DS of %s at the registry: %w", name, err), stored)
	}
	return u.store(ctx, name, ds)
}

// storeDSTimeout bounds what follows when a DS was set at the registry. It is time of its
// own: if the DS were neither stored nor removed, it could stay where no key matches it.
const storeDSTimeout = 10 * time.Second

// store stores again the DS that the registry has now, or removes it again if the owner has
// changed the name servers meanwhile.
func (u *DSUpdater) store(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeDSTimeout)
	defer cancel()
	stored, err := u.Names.StoreDS(ctx, name, u.Servers, ds)
	if err == nil && !stored {
		err = removeDS(ctx, u.Manager, u.Names, name, ds)
	}
	return err
}

// removeDS removes a DS of ours that was set while the owner of the name changed its name
// servers: the owner's change did not know of it. What the owner has set since stays. If
// it fails, registration.Lifecycle removes the DS when it compares the name.
func removeDS(ctx context.Context, m registrar.Manager, names Delegations, name deed.Name, ours []dnssec.DS) error {
	h, err := m.Holding(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // the name has ended
	}
	if err == nil && dnssec.AnyDS(h.DS, ours) {
		if err = names.SeeDS(ctx, name); err == nil {
			err = m.SetDS(ctx, name, dnssec.WithoutDS(h.DS, ours))
		}
	}
	if err != nil {
		return fmt.Errorf("remove the DS of %s, whose name servers were changed meanwhile: %w", name, err)
	}
	return nil
}
