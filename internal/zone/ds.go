package zone

import (
	"context"
	"fmt"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
)

// Delegations stores which DS records the registry publishes for our names.
type Delegations interface {
	// DueDelegations returns names that are delegated to these servers and
	// signed, but have no DS record at the registry.
	DueDelegations(ctx context.Context, servers []string, limit int) ([]string, error)

	// SetDS stores the DS records that the registry publishes.
	SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error
}

// DSUpdater publishes the DS records of signed zones at the registry. It does so
// only when every name server serves the signed zone: a DS record without
// matching signatures makes a name bogus for validating resolvers (RFC 4035, 5).
// Fill every field.
type DSUpdater struct {
	Names      Delegations
	Manager    registrar.Manager
	Servers    []string // our name servers
	DS         func(ctx context.Context, name deed.Name) ([]dnssec.DS, error)
	Propagated func(ctx context.Context, name deed.Name) (bool, error) // whether every server serves the current serial
}

// Due returns names that Advance should be called for now.
func (c *DSUpdater) Due(ctx context.Context, limit int) ([]string, error) {
	return c.Names.DueDelegations(ctx, c.Servers, limit)
}

// Advance publishes the DS records of one zone, if all servers serve it signed.
func (c *DSUpdater) Advance(ctx context.Context, id string) error {
	name := deed.Name(id)
	propagated, err := c.Propagated(ctx, name)
	if err != nil || !propagated {
		return err
	}
	ds, err := c.DS(ctx, name)
	if err != nil {
		return fmt.Errorf("derive the DS of %s: %w", name, err)
	}
	h, err := c.Manager.Holding(ctx, name)
	if err != nil || !slices.Equal(h.Nameservers, c.Servers) {
		return err // delegated to other servers, which sign with other keys
	}
	if err := c.Manager.SetDS(ctx, name, ds); err != nil {
		return fmt.Errorf("set the DS of %s at the registry: %w", name, err)
	}
	return c.Names.SetDS(ctx, name, ds)
}
