package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
)

// SetRegistrant implements registrar.RegistrantManager. Only a random reference is
// stored: nobody needs the data here. The faults of orders affect it, too.
func (r *Registry) SetRegistrant(ctx context.Context, name deed.Name, _ lifecycle.Contact) (string, error) {
	handle := "contact-" + rand.Text()
	return handle, r.setRegistrant(ctx, name, handle)
}

// ResetRegistrant implements registrar.RegistrantManager.
func (r *Registry) ResetRegistrant(ctx context.Context, name deed.Name) error {
	return r.setRegistrant(ctx, name, "")
}

func (r *Registry) setRegistrant(ctx context.Context, name deed.Name, handle string) error {
	fault, err := r.Faults.meet(ctx, order)
	switch {
	case err != nil:
		return fmt.Errorf("change the registrant of %s: %w", name, err)
	case fault == FaultRefuse:
		return deed.Invalid("registrant", "the registry does not accept the contact of %s", name)
	case fault == FaultParked, fault == FaultLate:
		return fmt.Errorf("change the registrant of %s: %w", name, errLost)
	}
	err = r.change(ctx, name, func(e registry.Entry, now time.Time) (registry.Entry, error) { return e.WithRegistrant(handle, now) })
	if err == nil && fault == FaultLostReply {
		return fmt.Errorf("change the registrant of %s: %w", name, errLost)
	}
	return err
}

// DeleteContact implements registrar.RegistrantManager. There is nothing to delete.
func (r *Registry) DeleteContact(ctx context.Context, _ string) error {
	_, err := r.Faults.meet(ctx, check)
	return err
}
