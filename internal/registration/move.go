package registration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// Moves stores changes of name servers that wait for the caches of resolvers.
type Moves interface {
	// Move returns the move of a name, or CodeNotFound.
	Move(ctx context.Context, name deed.Name) (lifecycle.Move, error)

	// PutMove stores a move in place of an earlier one of the name, with an event unless
	// that is "". EventDSWithdrawn is not stored, but says that resolvers may have a DS in
	// their caches until then: DelayMove stores it when the DS was removed. If replaced is
	// not nil and not the name's move, only the event is stored.
	PutMove(ctx context.Context, m lifecycle.Move, replaced *lifecycle.Move, event lifecycle.EventType) error

	// EndMove deletes a move, unless it was replaced, with an event unless that is "".
	EndMove(ctx context.Context, m lifecycle.Move, event lifecycle.EventType) error

	// DelayMove sets when a move is due again. It returns false, and writes nothing, if the
	// move was replaced, or was refused or begun since it was read.
	DelayMove(ctx context.Context, m lifecycle.Move, d MoveDelay) (delayed bool, err error)

	// DueMoves returns names whose step has ended, or that were handed over before their
	// servers changed, those that have waited longest first.
	DueMoves(ctx context.Context, limit int) ([]string, error)
}

// A MoveDelay says when a move is due again, and why.
type MoveDelay struct {
	Until   time.Time
	Refused time.Time           // when the registry refused it; zero if it is being made
	Event   lifecycle.EventType // "" for none
}

// ParentTTL is how long resolvers may have records of a parent zone in their caches,
// including the time until the registry publishes a change.
type ParentTTL struct{ DS, NS time.Duration }

// A Delegation is a request to change the name servers of a name.
type Delegation struct {
	Hosts []string       // none: the service's own
	Glue  lifecycle.Glue // of those below the name
	Force bool           // change them at once, even if resolvers treat the name as bogus for a while
}

// Delegate delegates the name to these servers. A name with a DS that the new servers
// do not match waits: first the DS is removed, and the servers change when it has
// left all caches. So does one whose DS was removed since, by whomever. If the
// registry does not answer, a change from our servers or to them is made later. It
// fails with CodeValidation, before anything is changed, when a server below the name
// itself has no addresses, or its registrar cannot publish them.
func (s *Service) Delegate(ctx context.Context, who deed.Wallet, name deed.Name, d Delegation) error {
	return repeat(name, func() error { return s.delegate(ctx, who, name, d) })
}

// repeat repeats a change that found the DS of the name changed by another one.
func repeat(name deed.Name, change func() error) error {
	for range 3 {
		if err := change(); !errors.Is(err, lifecycle.ErrConcurrentAction) {
			return err
		}
	}
	return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("the DS of %s is being changed: try again in a moment", name), Retry: time.Second}
}

func (s *Service) delegate(ctx context.Context, who deed.Wallet, name deed.Name, d Delegation) error {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return err
	}
	if len(d.Hosts) == 0 {
		d.Hosts = s.Nameservers
	}
	d.Hosts = lifecycle.KeepOrder(s.Nameservers, d.Hosts)
	if err := s.checkGlue(ctx, name, d); err != nil {
		return err
	}
	pending, err := s.pendingMove(ctx, r)
	if err != nil {
		return err
	}
	if d.Force || s.Moves == nil {
		return s.force(ctx, r, d, pending)
	}
	if pending != nil {
		return s.replaceMove(ctx, r, d, *pending)
	}
	return s.move(ctx, r, d)
}

// checkGlue fails when a server below the name itself, which resolvers cannot find
// without addresses at the registry, has none, or the registrar does not publish them.
func (s *Service) checkGlue(ctx context.Context, name deed.Name, d Delegation) error {
	needed := false
	for _, host := range d.Hosts {
		if !lifecycle.Below(host, name) {
			continue
		}
		if needed = true; len(d.Glue.Of(host)) == 0 {
			return deed.Invalid("nameservers", `%s is below %s itself, so the registry needs its addresses: {"host": %q, "addresses": ["192.0.2.1"]}`, host, name, host)
		}
	}
	if !needed {
		return nil
	}
	if m, ok := s.Manager.(interface {
		GlueSupported(ctx context.Context, name deed.Name) error
	}); ok {
		return m.GlueSupported(ctx, name)
	}
	_, err := s.glueManager(name)
	return err
}

// checkNewServers fails when a server is below a name that is only ordered: the
// registry accepts addresses for hosts below names that it has.
func checkNewServers(name deed.Name, hosts []string) error {
	for _, host := range hosts {
		if lifecycle.Below(host, name) {
			return deed.Invalid("nameservers", "%s is below %s itself: order the name without it, and then set its name servers with their addresses", host, name)
		}
	}
	return nil
}

func (s *Service) glueManager(name deed.Name) (registrar.GlueManager, error) {
	m, ok := registrar.GlueOf(s.Manager)
	if !ok {
		return nil, deed.Invalid("nameservers", "the registrar of %s cannot publish addresses of name servers below it: use servers with names elsewhere", name)
	}
	return m, nil
}

// setServers sets the name servers at the registry, with their glue; had is the glue
// before.
func (s *Service) setServers(ctx context.Context, r lifecycle.Registration, had lifecycle.Glue) error {
	if len(r.Glue)+len(had) == 0 {
		return s.Manager.SetNameservers(ctx, r.Name, r.Nameservers)
	}
	m, err := s.glueManager(r.Name)
	if err != nil {
		return err
	}
	return m.SetDelegation(ctx, r.Name, r.Nameservers, r.Glue)
}

// crosses reports whether exactly one of the two lists is the service's own, so that
// the keys change with the servers.
func (s *Service) crosses(from, to []string) bool {
	return lifecycle.SameServers(from, s.Nameservers) != lifecycle.SameServers(to, s.Nameservers)
}

// joins reports whether some of our servers are added to servers elsewhere, whose keys ours do
// not have.
func (s *Service) joins(from, to []string) bool {
	return !lifecycle.AnyServer(from, s.Nameservers) && lifecycle.AnyServer(to, s.Nameservers)
}

// hasCachedDS reports whether resolvers may have a DS of the name in their caches: it has
// one, or had one until a move removed it, or its owner, or the registry.
func (s *Service) hasCachedDS(r lifecycle.Registration) bool {
	return len(r.DS) > 0 || r.DSSeen.After(s.RegistryNow().Add(-s.ParentTTL.DS))
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
func (s *Service) withdrawDS(ctx context.Context, r lifecycle.Registration, d Delegation) (m lifecycle.Move, err error) {
	m = s.newMove(r, d, s.ParentTTL.DS)
	if !lifecycle.SameServers(r.Nameservers, s.Nameservers) { // that of our keys is published again in any case
		m.DS = r.DS
	}
	if err := s.Moves.PutMove(ctx, m, nil, lifecycle.EventDSWithdrawn); err != nil {
		return m, err
	}
	err = s.Manager.SetDS(ctx, r.Name, nil)
	if err == nil || !decided(err) { // a registry that refuses has removed nothing, and the owner is told nothing
		_, told := s.Moves.DelayMove(context.WithoutCancel(ctx), m, MoveDelay{Until: m.EffectiveAt, Event: lifecycle.EventDSWithdrawn})
		err = errors.Join(err, told)
	}
	if err != nil {
		return m, fmt.Errorf("remove the DS of %s: %w", r.Name, err)
	}
	a := lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, Detail: "DS removed before " + strings.Join(d.Hosts, " "), HadDS: r.DS}
	r.DS = nil
	return m, s.recordAction(ctx, r, a)
}

// changeServers changes the name servers at once.
func (s *Service) changeServers(ctx context.Context, r lifecycle.Registration, d Delegation) error {
	return s.changeServersOf(ctx, r, d, nil)
}

// changeServersOf is changeServers. If the change is that of a move, the DS of a name that
// comes back is not published before resolvers have forgotten the old servers. This next step
// is stored when the registry has changed the servers: if it does not, the move goes on, which
// keeps the DS from being published until it ends. If the registry has changed them without an
// answer, the name may have been compared since, and have our servers already: it waits all
// the same.
func (s *Service) changeServersOf(ctx context.Context, r lifecycle.Registration, d Delegation, of *lifecycle.Move) error {
	a := lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, HadDS: r.DS, HadServers: r.Nameservers}
	ours := of != nil || lifecycle.AnyServer(r.Nameservers, s.Nameservers)
	a.HadOurServers = ours && !lifecycle.SameServers(d.Hosts, s.Nameservers)
	if len(r.DS) > 0 && (s.crosses(r.Nameservers, d.Hosts) || s.joins(r.Nameservers, d.Hosts)) {
		if err := s.Manager.SetDS(ctx, r.Name, nil); err != nil {
			return s.compareUnanswered(ctx, r.Name, fmt.Errorf("remove the DS of %s: %w", r.Name, err))
		}
		r.DS = nil
	}
	had := r.Glue
	r.Nameservers, r.Glue = d.Hosts, d.Glue
	if err := s.setServers(ctx, r, had); err != nil {
		return s.compareUnanswered(ctx, r.Name, fmt.Errorf("delegate %s: %w", r.Name, err))
	}
	if of != nil && lifecycle.SameServers(d.Hosts, s.Nameservers) {
		// Unless the owner has replaced the move meanwhile.
		if err := s.Moves.PutMove(ctx, s.settling(r, s.RegistryNow()), of, lifecycle.EventDelegated); err != nil {
			return err
		}
	}
	a.Detail = strings.TrimSpace(strings.Join(d.Hosts, " ") + " " + d.Glue.String())
	return s.recordAction(ctx, r, a)
}

// settling returns the last step of a move: the DS of a name that has had its servers since
// then is not published before resolvers have forgotten those that it had before.
func (s *Service) settling(r lifecycle.Registration, since time.Time) lifecycle.Move {
	m := s.newMove(r, Delegation{Hosts: r.Nameservers, Glue: r.Glue}, 0)
	m.Step, m.EffectiveAt = lifecycle.MoveSettling, since.Add(s.ParentTTL.NS)
	return m
}

// Arrived has a name wait for its DS that has become served by us in another way than by a
// move: resolvers may still ask its earlier servers, which do not have its key. A move that it
// has goes on.
func (s *Service) Arrived(ctx context.Context, r lifecycle.Registration) error {
	if s.Moves == nil {
		return nil
	}
	m := s.settling(r, s.RegistryNow())
	if err := s.Moves.PutMove(ctx, m, &m, ""); err != nil { // unless it has one
		return fmt.Errorf("store that %s settles: %w", r.Name, err)
	}
	return nil
}
