package local

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// Holding implements registrar.Manager.
func (r *Registry) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return lifecycle.Holding{}, fmt.Errorf("look up %s: %w", name, err)
	}
	now := r.now()
	e, err := r.Store.Entry(ctx, name, now)
	if err != nil {
		return lifecycle.Holding{}, fmt.Errorf("look up %s: %w", name, err)
	}
	if !e.HeldBy(account, now) {
		return lifecycle.Holding{}, absent(e, name, now)
	}
	return e.Holding(now), nil
}

// Holdings implements registrar.Inventory.
func (r *Registry) Holdings(ctx context.Context, after deed.Name, limit int) ([]lifecycle.Holding, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return nil, fmt.Errorf("list names: %w", err)
	}
	now := r.now()
	entries, err := r.Store.Entries(ctx, account, after, limit, now)
	if err != nil {
		return nil, fmt.Errorf("list names: %w", err)
	}
	holdings := make([]lifecycle.Holding, 0, len(entries))
	for _, e := range entries {
		holdings = append(holdings, e.Holding(now))
	}
	return holdings, nil
}

// SetNameservers implements registrar.Manager. Glue stays as it is.
func (r *Registry) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	return r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) {
		return e.WithNameservers(hosts, e.Glue, now)
	})
}

// SetDelegation implements registrar.GlueManager.
func (r *Registry) SetDelegation(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error {
	return r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) {
		return e.WithNameservers(hosts, glue, now)
	})
}

// SetLock implements registrar.Manager. New names are locked.
func (r *Registry) SetLock(ctx context.Context, name deed.Name, locked bool) error {
	return r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) {
		return e.WithLock(locked, now)
	})
}

// AuthCode implements registrar.Manager. Only a hash of the code is stored.
func (r *Registry) AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	code := deed.Secret(rand.Text())
	err := r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) {
		return e.WithAuthHash(hashCode(code), now)
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

// SetDS implements registrar.Manager.
func (r *Registry) SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error {
	return r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) {
		return e.WithDS(ds, now)
	})
}

// Delete implements registrar.Deleter. The faults of orders affect it, too.
func (r *Registry) Delete(ctx context.Context, name deed.Name) error {
	fault, err := r.Faults.meet(ctx, order)
	switch {
	case err != nil:
		return fmt.Errorf("delete %s: %w", name, err)
	case fault == FaultRefuse:
		return deed.Invalid("domain", "the registry does not delete %s now", name)
	case fault == FaultParked, fault == FaultLate:
		return fmt.Errorf("delete %s: %w", name, errLost) // it is not done, and nobody says so
	}
	err = r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) { return e.Deleted(now) })
	if err == nil && fault == FaultLostReply {
		return fmt.Errorf("delete %s: %w", name, errLost)
	}
	return err
}

// change changes a name in the account.
func (r *Registry) change(ctx context.Context, name deed.Name, f func(registry.Entry, time.Time) (registry.Entry, error)) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("change %s: %w", name, err)
	}
	now := r.now()
	err := r.Store.Change(ctx, name, now, func(e registry.Entry) (registry.Entry, error) {
		if !e.HeldBy(account, now) {
			return e, notInAccount(name)
		}
		return f(e, now)
	})
	if err != nil {
		return fmt.Errorf("change %s: %w", name, err)
	}
	return nil
}

// absent returns the error of a name that is not in the account, and says so if it was
// transferred to another one.
func absent(e registry.Entry, name deed.Name, now time.Time) error {
	if !e.HeldAt(now) || e.Moved.IsZero() {
		return notInAccount(name)
	}
	return &deed.Error{Code: deed.CodeNotFound, Message: fmt.Sprintf("%s was transferred to another account", name), Err: registrar.ErrElsewhere}
}

func notInAccount(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
}

// hashCode returns the stored hash of a code. Codes are long and random, so a fast
// hash is sufficient. An empty code has no hash.
func hashCode(code deed.Secret) string {
	if code == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(code.Reveal()))
	return hex.EncodeToString(sum[:])
}
