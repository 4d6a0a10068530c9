package registrar

import (
	"context"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// GlueSupported fails with CodeValidation when the registrar of the name cannot
// publish addresses of servers below it.
func (r *Router) GlueSupported(ctx context.Context, name deed.Name) error {
	_, _, err := r.glueManager(ctx, name)
	return err
}

// SetDelegation implements GlueManager.
func (r *Router) SetDelegation(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error {
	b, m, err := r.glueManager(ctx, name)
	if err != nil {
		return err
	}
	return r.observe(ctx, b, "set_delegation", func(ctx context.Context) error { return m.SetDelegation(ctx, name, hosts, glue) })
}

// glueManager returns the backend of the name, and what publishes addresses there.
func (r *Router) glueManager(ctx context.Context, name deed.Name) (Backend, GlueManager, error) {
	b, err := r.of(ctx, name)
	if err != nil {
		return Backend{}, nil, err
	}
	if m, ok := GlueOf(b.Manager); ok {
		return b, m, nil
	}
	return Backend{}, nil, deed.Invalid("nameservers", "the registrar of %s cannot publish addresses of name servers below it: use servers with names elsewhere", name)
}

// GlueOf returns what publishes addresses of servers below the names of the manager.
func GlueOf(m Manager) (GlueManager, bool) {
	if g, ok := m.(GlueManager); ok {
		return g, true
	}
	if h, ok := m.(managerOfHosts); ok {
		return HostGlue{h}, true
	}
	return nil, false
}

// managerOfHosts is what HostGlue needs.
type managerOfHosts interface {
	Manager
	HostManager
}

// HostGlue implements GlueManager with hosts that are objects of their own.
type HostGlue struct{ Manager managerOfHosts }

// SetDelegation implements GlueManager. Hosts get their addresses before the name uses
// them, and are deleted when it no longer does.
func (g HostGlue) SetDelegation(ctx context.Context, name deed.Name, hosts []string, glue lifecycle.Glue) error {
	hosts, err := deed.ParseNameservers(hosts)
	if err != nil {
		return err
	}
	before, err := g.Manager.Holding(ctx, name)
	if err != nil {
		return err
	}
	if before.Phase == lifecycle.PhaseRedemption || before.Phase == lifecycle.PhasePendingDelete {
		return deed.Invalid("domain", "%s is in redemption or about to be deleted: restore it first", name)
	}
	for _, host := range hosts {
		if !lifecycle.Below(host, name) {
			continue
		}
		addrs := glue.Of(host)
		if len(addrs) == 0 {
			return deed.Invalid("nameservers", "%s is below %s and needs its addresses", host, name)
		}
		if err := g.Manager.SetHost(ctx, host, addrs); err != nil {
			return err
		}
	}
	if err := g.Manager.SetNameservers(ctx, name, hosts); err != nil {
		return err
	}
	g.deleteUnused(ctx, name, before.Nameservers, hosts)
	return nil
}

// deleteUnused deletes the hosts below the name that it no longer uses. One that
// another name uses stays. So does one that the registry does not delete now: it
// publishes nothing, and is deleted before the name is.
func (g HostGlue) deleteUnused(ctx context.Context, name deed.Name, before, now []string) {
	for _, host := range before {
		if lifecycle.Below(host, name) && !slices.Contains(now, host) {
			_ = g.Manager.DeleteHost(ctx, host)
		}
	}
}
