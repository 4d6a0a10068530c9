package local

import (
	"context"
	"crypto/rand"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// elsewhereDays is the age of a name that Elsewhere registers: old enough for a
// transfer.
const elsewhereDays = 90

// Elsewhere registers a name for a year at another registrar, ready for a transfer:
// unlocked, old enough, and with the returned code. It is for the sandbox and
// tests. It fails with CodeDomainUnavailable when the name is not available.
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
			return e, fmt.Errorf("%s has been transferred since", name)
		}
		e.Created = e.Created.AddDate(0, 0, -elsewhereDays)
		e.Locked, e.AuthHash = false, hashCode(code)
		return e, nil
	})
	if err != nil {
		return "", fmt.Errorf("prepare %s for a transfer: %w", name, err)
	}
	return code, nil
}

// Leave starts a transfer to another registrar with the name's code. It is for the
// sandbox and tests, and fails like a transfer to this account.
func (r *Registry) Leave(ctx context.Context, name deed.Name, code deed.Secret) error {
	now := r.now()
	o := registrar.Order{Kind: registrar.OrderTransfer, Reference: elsewhere + "-" + rand.Text(), Name: name, Years: 1, AuthCode: code}
	p := r.placement(o, FaultNone, now)
	p.Account = elsewhere
	p, err := r.Store.Place(ctx, p, now)
	if err != nil {
		return fmt.Errorf("transfer %s out: %w", name, err)
	}
	if p.State == registry.PlacementRefused {
		return deed.Errorf(p.Refusal, "%s", p.Reason)
	}
	return nil
}

// Decide ends the pending transfer of a name, in or out, immediately: the losing
// registrar approves or rejects it. It is for the sandbox and tests. It fails with
// CodeNotFound when none is pending.
func (r *Registry) Decide(ctx context.Context, name deed.Name, approve bool) error {
	return r.Store.Decide(ctx, name, approve, r.now())
}

// DecideTransfer implements registrar.TransferDecider, for names of the account.
func (r *Registry) DecideTransfer(ctx context.Context, name deed.Name, approve bool) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("decide the transfer of %s: %w", name, err)
	}
	now := r.now()
	e, err := r.Store.Entry(ctx, name, now)
	switch {
	case err != nil:
		return fmt.Errorf("decide the transfer of %s: %w", name, err)
	case !e.HeldBy(account, now):
		return notInAccount(name)
	}
	if err := r.Store.Decide(ctx, name, approve, now); err != nil || approve {
		return err
	}
	_, err = r.AuthCode(ctx, name) // the other registrar knows the old one
	return err
}

// Transferable implements registrar.Registrar: it tries the transfer on a copy of
// the name's entry.
func (r *Registry) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("check the transfer of %s: %w", name, err)
	}
	now := r.now()
	held, err := r.Store.Entry(ctx, name, now)
	if err != nil {
		return fmt.Errorf("check the transfer of %s: %w", name, err)
	}
	if held.HeldBy(account, now) || r.reserved(name) {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is reserved, or already in this account", name)
	}
	p := r.placement(registrar.Order{Kind: registrar.OrderTransfer, Reference: "try", Name: name, Years: 1, AuthCode: code}, FaultNone, now)
	_, premium := premiumPrice(name)
	switch p, _ = p.Execute(held); {
	case p.State != registry.PlacementRefused && premium:
		return deed.Invalid("domain", "%s has a price of its own, and cannot be transferred here", name)
	case p.State != registry.PlacementRefused:
		return nil
	case p.Refusal == deed.CodeRegistrationFailed:
		return deed.Invalid("domain", "%s", p.Reason) // it can be corrected, and nothing was paid
	}
	return deed.Errorf(p.Refusal, "%s", p.Reason)
}
