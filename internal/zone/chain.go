package zone

import (
	"context"
	"fmt"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
)

// Delegations are the names whose parent does not name their key yet.
type Delegations interface {
	// DueDelegations returns names that are delegated to these servers, signed,
	// and not named so at the registry.
	DueDelegations(ctx context.Context, servers []string, most int) ([]string, error)

	// SetDS writes down which keys the registry names.
	SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error
}

// Chain ties signed zones to their parents. A parent names a key only when every
// name server shows it, so that no resolver meets a name that it must call
// bogus. Fill every field.
type Chain struct {
	Names   Delegations
	Manager registrar.Manager
	Servers []string // ours
	Key     func(name deed.Name) ([]dnssec.DS, error)
	Shown   func(ctx context.Context, name deed.Name) (bool, error) // whether every server shows the zone as it is
}

// Due returns names that Advance should be called for now.
func (c *Chain) Due(ctx context.Context, most int) ([]string, error) {
	return c.Names.DueDelegations(ctx, c.Servers, most)
}

// Advance names the key of one zone at the registry, if all servers show it.
func (c *Chain) Advance(ctx context.Context, id string) error {
	name := deed.Name(id)
	shown, err := c.Shown(ctx, name)
	if err != nil || !shown {
		return err
	}
	ds, err := c.Key(name)
	if err != nil {
		return fmt.Errorf("derive the key of %s: %w", name, err)
	}
	h, err := c.Manager.Holding(ctx, name)
	if err != nil || !slices.Equal(h.Nameservers, c.Servers) {
		return err // it is delegated elsewhere, where other keys sign
	}
	if err := c.Manager.SetDS(ctx, name, ds); err != nil {
		return fmt.Errorf("name the key of %s at the registry: %w", name, err)
	}
	return c.Names.SetDS(ctx, name, ds)
}
