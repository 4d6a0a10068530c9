package local

import (
	"context"
	"crypto/rand"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// elsewhereDays is how old a name is that Elsewhere makes: old enough to move.
const elsewhereDays = 90

// Elsewhere registers a name for a year at another registrar, which is ready to
// let it go: unlocked, old enough, and with the code that it returns. It is a
// hand of the sandbox, and fails with CodeDomainUnavailable when the name cannot
// be had.
func (r *Registry) Elsewhere(ctx context.Context, name deed.Name) (deed.Secret, error) {
	now := r.now()
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: elsewhere + "-" + rand.Text(), Name: name, Years: 1}
	p := r.placement(o, FaultNone, now)
	p.Account = elsewhere
	p, err := r.Store.Place(ctx, p, now)
	if err != nil {
		return "", fmt.Errorf("register %s elsewhere: %w", name, err)
	}
	if p.State == registry.PlacementRefused {
		return "", deed.Errorf(p.Refusal, "%s", p.Reason)
	}
	code := deed.Secret(rand.Text())
	err = r.Store.Change(ctx, name, now, func(e registry.Entry) (registry.Entry, error) {
		if e.Reference != p.Reference {
			return e, fmt.Errorf("%s has moved on", name)
		}
		e.Created = e.Created.AddDate(0, 0, -elsewhereDays)
		e.Locked, e.AuthHash = false, hashCode(code)
		return e, nil
	})
	if err != nil {
		return "", fmt.Errorf("make %s ready to leave: %w", name, err)
	}
	return code, nil
}

// Leave lets another registrar ask for a name with its code. It is a hand of the
// sandbox, and fails as a transfer to us does.
func (r *Registry) Leave(ctx context.Context, name deed.Name, code deed.Secret) error {
	now := r.now()
	o := registrar.Order{Kind: registrar.OrderTransfer, Reference: elsewhere + "-" + rand.Text(), Name: name, Years: 1, AuthCode: code}
	p := r.placement(o, FaultNone, now)
	p.Account = elsewhere
	p, err := r.Store.Place(ctx, p, now)
	if err != nil {
		return fmt.Errorf("transfer %s away: %w", name, err)
	}
	if p.State == registry.PlacementRefused {
		return deed.Errorf(p.Refusal, "%s", p.Reason)
	}
	return nil
}

// Decide ends the pending transfer of a name, to us or away, at once: the losing
// side approves or rejects it. It is a hand of the sandbox, and fails with
// CodeNotFound when none is pending.
func (r *Registry) Decide(ctx context.Context, name deed.Name, approve bool) error {
	return r.Store.Decide(ctx, name, approve, r.now())
}

// Transferable implements registrar.Registrar: it tries the transfer on a copy of the
// name's entry.
func (r *Registry) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("ask about %s: %w", name, err)
	}
	now := r.now()
	held, err := r.Store.Entry(ctx, name, now)
	if err != nil {
		return fmt.Errorf("ask about %s: %w", name, err)
	}
	if held.HeldBy(account, now) || r.reserved(name) {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is reserved, or here already", name)
	}
	p := r.placement(registrar.Order{Kind: registrar.OrderTransfer, Reference: "try", Name: name, Years: 1, AuthCode: code}, FaultNone, now)
	switch p, _ = p.Execute(held); {
	case p.State != registry.PlacementRefused:
		return nil
	case p.Refusal == deed.CodeRegistrationFailed:
		return deed.Invalid("domain", "%s", p.Reason) // it can be put right, and nothing was paid
	}
	return deed.Errorf(p.Refusal, "%s", p.Reason)
}
