package zone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// KeyRolls stores the keys of zones that are being replaced.
type KeyRolls interface {
	// KeyRoll returns the roll of a zone, or CodeNotFound.
	KeyRoll(ctx context.Context, name deed.Name) (lifecycle.KeyRoll, error)

	// DueKeyRolls returns zones that are due for Advance.
	DueKeyRolls(ctx context.Context, limit int) ([]string, error)

	// DelayKeyRoll sets when the step is looked at again. A wait that has begun goes on.
	DelayKeyRoll(ctx context.Context, r lifecycle.KeyRoll, until time.Time) error

	// StartKeyWait sets when the step ends.
	StartKeyWait(ctx context.Context, r lifecycle.KeyRoll, until time.Time) error

	// NextKeyStep begins the next step and signs the zone accordingly, unless
	// another node has done so.
	NextKeyStep(ctx context.Context, r lifecycle.KeyRoll) error
}

// KeyRoller replaces the keys of zones (see lifecycle.KeyRoll). Fill every field.
type KeyRoller struct {
	Rolls      KeyRolls
	Delegation Delegations
	Manager    registrar.Manager
	Servers    []string // our name servers
	DS         func(ctx context.Context, name deed.Name) (current, old []dnssec.DS, err error)
	Propagated func(ctx context.Context, r lifecycle.KeyRoll) (bool, error) // whether the servers have the step, by KeyReady
	ParentTTL  time.Duration                                                // of the DS at the parent, with the delay of the registry
	Now        func() time.Time                                             // the registry's clock
}

// registryRetryInterval is the pause after an error of the registry.
const registryRetryInterval = time.Minute

// Due returns zones that Advance should be called for now.
func (k *KeyRoller) Due(ctx context.Context, limit int) ([]string, error) {
	return k.Rolls.DueKeyRolls(ctx, limit)
}

// Advance takes the next step of one zone, if it is time. It is idempotent.
func (k *KeyRoller) Advance(ctx context.Context, id string) error {
	r, err := k.Rolls.KeyRoll(ctx, deed.Name(id))
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return nil // another node has ended it, or the name has ended
	case err != nil:
		return err
	case r.Step == lifecycle.KeyRequested:
		return k.Rolls.NextKeyStep(ctx, r)
	case r.EffectiveAt.IsZero():
		return k.beginWait(ctx, r)
	case k.Now().Before(r.EffectiveAt):
		return nil
	case r.Step == lifecycle.KeyReplacing:
		return k.finish(ctx, r)
	}
	return k.Rolls.NextKeyStep(ctx, r)
}

// beginWait begins to wait for the caches of resolvers when no server gives them the
// old data any more.
func (k *KeyRoller) beginWait(ctx context.Context, r lifecycle.KeyRoll) error {
	propagated, err := k.Propagated(ctx, r)
	if err != nil {
		return err
	}
	if !propagated {
		return k.Rolls.DelayKeyRoll(ctx, r, k.Now().Add(propagationPollInterval))
	}
	if r.Step == lifecycle.KeyIntroducing {
		return k.Rolls.StartKeyWait(ctx, r, k.Now().Add(dnssec.KeyTTL))
	}
	if err := k.replaceDS(ctx, r, func() error { return nil }); err != nil {
		return k.delay(ctx, r, err)
	}
	return k.startDSWait(ctx, r)
}

// delay returns err, after which the step is tried again later, not at once.
func (k *KeyRoller) delay(ctx context.Context, r lifecycle.KeyRoll, err error) error {
	return errors.Join(err, k.Rolls.DelayKeyRoll(context.WithoutCancel(ctx), r, k.Now().Add(registryRetryInterval)))
}

// startDSWait waits until no resolver has the old DS, or signatures by the old key.
func (k *KeyRoller) startDSWait(ctx context.Context, r lifecycle.KeyRoll) error {
	return k.Rolls.StartKeyWait(ctx, r, k.Now().Add(k.oldDataTTL()))
}

// oldDataTTL is how long resolvers may have the old DS, or signatures by the old key.
func (k *KeyRoller) oldDataTTL() time.Duration {
	return max(k.ParentTTL, dnszone.MaxTTL*time.Second)
}

// finish removes the old key. If the DS of the old key was set meanwhile, by a call that
// began before the roll, it waits again. This is stored before the DS is replaced: the answer
// may be lost, and the next look finds the DS of the new key.
func (k *KeyRoller) finish(ctx context.Context, r lifecycle.KeyRoll) error {
	waits := false
	err := k.replaceDS(ctx, r, func() error {
		waits = true
		return k.startDSWait(ctx, r)
	})
	switch {
	case waits:
		return err
	case err != nil:
		return k.delay(ctx, r, err)
	}
	return k.Rolls.NextKeyStep(ctx, r)
}

// replaceDS replaces the DS at the registry by that of the new key. It calls before if it was
// another one. A name without a DS gets it after the roll, and the DS of a name
// that is served elsewhere belongs to the keys there, unless it is one of ours: a name may
// have other servers than those of today's configuration, and be ours.
func (k *KeyRoller) replaceDS(ctx context.Context, r lifecycle.KeyRoll, before func() error) error {
	ds, old, err := k.DS(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("derive the DS of %s: %w", r.Name, err)
	}
	h, err := k.Manager.Holding(ctx, r.Name)
	if err != nil {
		return fmt.Errorf("read the DS of %s: %w", r.Name, err)
	}
	if len(h.DS) == 0 {
		return nil
	}
	ours := slices.Concat(ds, old)
	if !lifecycle.SameServers(h.Nameservers, k.Servers) {
		if !dnssec.AnyDS(h.DS, ours) {
			return nil
		}
		ds = slices.Concat(dnssec.WithoutDS(h.DS, ours), ds) // others may serve it, too, with their own keys
	}
	if !dnssec.SameDS(h.DS, ds) {
		if err := before(); err != nil {
			return err
		}
		if err := k.Manager.SetDS(ctx, r.Name, ds); err != nil {
			return fmt.Errorf("set the DS of %s at the registry: %w", r.Name, err)
		}
	}
	return k.store(ctx, r.Name, slices.Concat(h.DS, ours), ours, ds)
}

// store stores the DS that the registry has now in place of others, or removes ours if the
// owner has changed the name servers meanwhile.
func (k *KeyRoller) store(ctx context.Context, name deed.Name, others, ours, ds []dnssec.DS) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeDSTimeout)
	defer cancel()
	stored, err := k.Delegation.ReplaceDS(ctx, name, others, ds)
	if err == nil && !stored {
		err = removeDS(ctx, k.Manager, k.Delegation, name, ours)
	}
	return err
}
