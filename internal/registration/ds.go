package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A DSChange is a request to set the DS of a name.
type DSChange struct {
	DS    []dnssec.DS
	Force bool // even if resolvers may still ask the service's own servers, which do not have the key
}

// SetDS sets the DS of a name whose zone is served elsewhere. It fails with CodeValidation
// while resolvers may still ask our servers.
func (s *Service) SetDS(ctx context.Context, who deed.Wallet, name deed.Name, c DSChange) error {
	return repeat(name, func() error { return s.setDS(ctx, who, name, c) })
}

func (s *Service) setDS(ctx context.Context, who deed.Wallet, name deed.Name, c DSChange) error {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return err
	}
	pending, err := s.pendingMove(ctx, r)
	switch {
	case err != nil:
		return err
	case lifecycle.SameServers(r.Nameservers, s.Nameservers):
		return deed.Invalid("ds", "%s is served by us, and its DS is managed by the service: it can be set for a name that is served elsewhere", name)
	case pending != nil:
		return deed.Invalid("ds", "the name servers of %s change at %s: set the DS after that", name, pending.EffectiveAt.Format(time.RFC3339))
	}
	if err := s.checkForgotten(r, c); err != nil {
		return err
	}
	return s.publishDS(ctx, r, c.DS)
}

// checkForgotten fails when resolvers may still have our name servers in their caches, whose
// answers do not match a DS of other keys. One that the name has already changes nothing.
func (s *Service) checkForgotten(r lifecycle.Registration, c DSChange) error {
	forgotten := r.OurServersUntil.Add(s.ParentTTL.NS)
	switch {
	case c.Force || len(c.DS) == 0 || dnssec.SameDS(c.DS, r.DS):
		return nil
	case lifecycle.AnyServer(r.Nameservers, s.Nameservers):
		return deed.Invalid("ds", `%s has name servers of ours beside others: ours do not have this key, and resolvers that ask them find the name bogus: delegate it to the others only, or use "force" if the DS of all keys is in the list`, r.Name)
	case r.OurServersUntil.IsZero() || !s.RegistryNow().Before(forgotten):
		return nil
	}
	return deed.Invalid("ds", `resolvers may still ask our name servers for %s, which do not have this key, and find the name bogus: set the DS after %s, or use "force" to set it now`,
		r.Name, forgotten.UTC().Format(time.RFC3339))
}

// publishDS stores the DS, and sets it at the registry. It is stored first, so that a change
// of the name servers meanwhile waits for the caches.
func (s *Service) publishDS(ctx context.Context, r lifecycle.Registration, ds []dnssec.DS) error {
	had := r.DS
	r.DS = ds
	a := lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, Detail: fmt.Sprintf("DS set: %v", ds), HadDS: had, OnlyDS: true}
	if err := s.Names.RecordAction(ctx, r, a); err != nil {
		return err
	}
	if err := s.Manager.SetDS(ctx, r.Name, ds); err != nil {
		err = fmt.Errorf("set the DS of %s: %w", r.Name, err)
		if decided(err) { // else a comparison with the registry tells whether it has the DS
			r.DS, a.HadDS, a.Detail = had, ds, fmt.Sprintf("DS refused: %v", ds)
			err = errors.Join(err, s.Names.RecordAction(context.WithoutCancel(ctx), r, a))
		}
		return err
	}
	is, err := s.Names.Registration(ctx, r.Name)
	if err == nil && is.Owner == r.Owner && !dnssec.SameDS(is.DS, ds) {
		return lifecycle.ErrConcurrentAction // it was changed or compared meanwhile
	}
	return err
}
