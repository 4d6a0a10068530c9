package registration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// Moves stores changes of name servers that wait for the caches of resolvers.
type Moves interface {
	// Move returns the move of a name, or CodeNotFound.
	Move(ctx context.Context, name deed.Name) (lifecycle.Move, error)

	// PutMove stores a move in place of an earlier one of the name, with an event
	// unless that is "".
	PutMove(ctx context.Context, m lifecycle.Move, event lifecycle.EventType) error

	// EndMove deletes a move, unless it was replaced, with an event unless that is "".
	EndMove(ctx context.Context, m lifecycle.Move, event lifecycle.EventType) error

	// DueMoves returns names whose step has ended.
	DueMoves(ctx context.Context, limit int) ([]string, error)
}

// ParentTTL is how long resolvers may have records of a parent zone in their caches,
// including the time until the registry publishes a change.
type ParentTTL struct{ DS, NS time.Duration }

// A Delegation is a request to change the name servers of a name.
type Delegation struct {
	Hosts []string // none: the service's own
	Force bool     // change them at once, even if resolvers treat the name as bogus for a while
}

// Delegate delegates the name to these servers. A name with a DS that the new servers
// do not match waits: first the DS is removed, and the servers change when it has
// left all caches. It fails with CodeValidation when a server is below the name
// itself: the registry would need its address.
func (s *Service) Delegate(ctx context.Context, who deed.Wallet, name deed.Name, d Delegation) error {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return err
	}
	if len(d.Hosts) == 0 {
		d.Hosts = s.Nameservers
	}
	if err := checkGlue(name, d.Hosts); err != nil {
		return err
	}
	pending, err := s.pendingMove(ctx, r)
	if err != nil {
		return err
	}
	waits := pending != nil && pending.Step == lifecycle.MoveWithdrawing
	switch {
	case !d.Force && pending != nil && !waits && slices.Equal(d.Hosts, r.Nameservers):
		return nil // it has them, and waits until its DS can be published
	case !d.Force && waits && slices.Equal(d.Hosts, r.Nameservers):
		return s.Moves.EndMove(ctx, *pending, "") // the DS is published again
	case !d.Force && waits:
		pending.Hosts, pending.Wallet = d.Hosts, who
		return s.Moves.PutMove(ctx, *pending, "")
	case !d.Force && s.Moves != nil && len(r.DS) > 0 && s.crosses(r.Nameservers, d.Hosts):
		return s.withdrawDS(ctx, r, d.Hosts)
	}
	if pending != nil {
		if err := s.Moves.EndMove(ctx, *pending, ""); err != nil {
			return err
		}
	}
	return s.changeServers(ctx, r, d)
}

// checkGlue refuses servers below the name itself, which resolvers cannot find
// without addresses at the registry.
func checkGlue(name deed.Name, hosts []string) error {
	for _, host := range hosts {
		if host == string(name) || strings.HasSuffix(host, "."+string(name)) {
			return deed.Invalid("nameservers", "%s is below %s itself, so the registry would need its addresses, which it cannot be given here: use servers with names elsewhere", host, name)
		}
	}
	return nil
}

// crosses reports whether exactly one of the two lists is the service's own, so that
// the keys change with the servers.
func (s *Service) crosses(from, to []string) bool {
	return slices.Equal(from, s.Nameservers) != slices.Equal(to, s.Nameservers)
}

// pendingMove returns the move of the registration, or nil.
func (s *Service) pendingMove(ctx context.Context, r lifecycle.Registration) (*lifecycle.Move, error) {
	if s.Moves == nil {
		return nil, nil
	}
	m, err := s.Moves.Move(ctx, r.Name)
	if deed.CodeOf(err) == deed.CodeNotFound || err == nil && m.Reference != r.Reference {
		return nil, nil
	}
	return &m, err
}

// withdrawDS removes the DS and has the servers change when it has left all caches.
// The move is stored first: after a crash, AdvanceMove removes the DS.
func (s *Service) withdrawDS(ctx context.Context, r lifecycle.Registration, hosts []string) error {
	now := s.RegistryNow().UTC().Truncate(time.Second)
	m := lifecycle.Move{
		Name: r.Name, Reference: r.Reference, Wallet: r.Owner, Step: lifecycle.MoveWithdrawing, Hosts: hosts,
		EffectiveAt: now.Add(s.ParentTTL.DS), Created: now,
	}
	if err := s.Moves.PutMove(ctx, m, lifecycle.EventDSWithdrawn); err != nil {
		return err
	}
	if err := s.Manager.SetDS(ctx, r.Name, nil); err != nil {
		return fmt.Errorf("remove the DS of %s: %w", r.Name, err)
	}
	r.DS = nil
	return s.recordAction(ctx, r, lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, Detail: "DS removed before " + strings.Join(hosts, " ")})
}

// changeServers changes the name servers at once. Unless that is forced, the DS of a
// name that comes back is not published before resolvers have forgotten the old
// servers.
func (s *Service) changeServers(ctx context.Context, r lifecycle.Registration, d Delegation) error {
	crossing := s.crosses(r.Nameservers, d.Hosts)
	if len(r.DS) > 0 && crossing {
		if err := s.Manager.SetDS(ctx, r.Name, nil); err != nil {
			return fmt.Errorf("remove the DS of %s: %w", r.Name, err)
		}
		r.DS = nil
	}
	if crossing && !d.Force && s.Moves != nil && slices.Equal(d.Hosts, s.Nameservers) {
		now := s.RegistryNow().UTC().Truncate(time.Second)
		m := lifecycle.Move{
			Name: r.Name, Reference: r.Reference, Wallet: r.Owner, Step: lifecycle.MoveSettling, Hosts: d.Hosts,
			EffectiveAt: now.Add(s.ParentTTL.NS), Created: now,
		}
		if err := s.Moves.PutMove(ctx, m, lifecycle.EventDelegated); err != nil {
			return err
		}
	}
	if err := s.Manager.SetNameservers(ctx, r.Name, d.Hosts); err != nil {
		return fmt.Errorf("delegate %s: %w", r.Name, err)
	}
	r.Nameservers = d.Hosts
	return s.recordAction(ctx, r, lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, Detail: strings.Join(d.Hosts, " ")})
}

// AdvanceMove takes the next step of a move whose step has ended. It is idempotent.
func (s *Service) AdvanceMove(ctx context.Context, id string) error {
	m, err := s.Moves.Move(ctx, deed.Name(id))
	if err != nil || s.RegistryNow().Before(m.EffectiveAt) {
		return err
	}
	r, err := s.Names.Registration(ctx, m.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound || err == nil && (r.Reference != m.Reference || r.Owner != m.Wallet):
		return s.Moves.EndMove(ctx, m, "") // the name ended, or its new owner decides
	case err != nil:
		return err
	case m.Step == lifecycle.MoveSettling:
		return s.Moves.EndMove(ctx, m, "")
	}
	h, err := s.Manager.Holding(ctx, m.Name)
	if err != nil {
		return fmt.Errorf("read the DS of %s: %w", m.Name, err)
	}
	if len(h.DS) > 0 { // it crashed before the DS was removed
		return s.withdrawDS(ctx, r, m.Hosts)
	}
	r.DS = nil
	if err := s.changeServers(ctx, r, Delegation{Hosts: m.Hosts}); err != nil {
		return err
	}
	return s.Moves.EndMove(ctx, m, lifecycle.EventDelegated) // of a name that comes back, it was replaced by the next step
}

// SetDS sets the DS of a name whose zone is served elsewhere.
func (s *Service) SetDS(ctx context.Context, who deed.Wallet, name deed.Name, ds []dnssec.DS) error {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return err
	}
	pending, err := s.pendingMove(ctx, r)
	switch {
	case err != nil:
		return err
	case slices.Equal(r.Nameservers, s.Nameservers):
		return deed.Invalid("ds", "%s is served by us, and its DS is managed by the service: it can be set for a name that is served elsewhere", name)
	case pending != nil:
		return deed.Invalid("ds", "the name servers of %s change at %s: set the DS after that", name, pending.EffectiveAt.Format(time.RFC3339))
	}
	if err := s.Manager.SetDS(ctx, name, ds); err != nil {
		return fmt.Errorf("set the DS of %s: %w", name, err)
	}
	r.DS = ds
	return s.recordAction(ctx, r, lifecycle.OwnerAction{Wallet: who, Kind: lifecycle.ActionNameservers, Detail: fmt.Sprintf("DS set: %v", ds)})
}
