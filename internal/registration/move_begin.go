package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed/internal/lifecycle"
)

// move changes the name servers of a name that has no move. If the keys change with them,
// this is stored before the registry is asked: until it is known which servers the name has,
// its DS is not published.
func (s *Service) move(ctx context.Context, r lifecycle.Registration, d Delegation) error {
	changes := s.crosses(r.Nameservers, d.Hosts) || s.joins(r.Nameservers, d.Hosts)
	if !changes && lifecycle.SameServers(d.Hosts, s.Nameservers) {
		h, err := s.Manager.Holding(ctx, r.Name)
		if err != nil {
			return s.compareUnanswered(ctx, r.Name, fmt.Errorf("read the name servers of %s: %w", r.Name, err))
		}
		changes = s.crosses(h.Nameservers, d.Hosts) // since it was compared, or it was not compared yet
	}
	if !changes {
		return s.changeServers(ctx, r, d)
	}
	return s.beginMove(ctx, r, d, nil)
}

// force changes the name servers at once, in place of a move if there is one. That is not made
// meanwhile, and goes on if the registry refuses the servers or does not answer.
func (s *Service) force(ctx context.Context, r lifecycle.Registration, d Delegation, pending *lifecycle.Move) error {
	if pending == nil {
		return s.changeServers(ctx, r, d)
	}
	until := s.RegistryNow().Add(registryRetryDelay)
	if pending.EffectiveAt.After(until) {
		until = pending.EffectiveAt
	}
	delayed, err := s.Moves.DelayMove(ctx, *pending, MoveDelay{Until: until, Refused: pending.Refused})
	if err == nil && !delayed {
		err = lifecycle.ErrConcurrentAction
	}
	if err == nil {
		err = s.changeServers(ctx, r, d)
	}
	if err != nil {
		return err
	}
	return s.Moves.EndMove(context.WithoutCancel(ctx), *pending, "")
}

// replaceMove changes the name servers of a name that has a move.
func (s *Service) replaceMove(ctx context.Context, r lifecycle.Registration, d Delegation, pending lifecycle.Move) error {
	waits := pending.Step == lifecycle.MoveWithdrawing
	sameHosts, sameGlue := lifecycle.SameServers(d.Hosts, r.Nameservers), d.Glue.String() == r.Glue.String()
	again := lifecycle.SameServers(d.Hosts, pending.Hosts)
	made, err := s.mayBeMade(ctx, pending)
	switch {
	case err != nil:
		return err
	case again && sameHosts && sameGlue:
		return nil // it settles; or the registry has changed them without an answer, and the move goes on
	case !waits && again && sameHosts:
		return s.changeServers(ctx, r, d) // only their addresses change
	case !waits:
		return s.beginMove(ctx, r, d, &pending)
	case sameHosts && !made:
		if err := s.undoMove(ctx, r, pending); err != nil || sameGlue {
			return err
		}
		if r, err = s.owned(ctx, r.Owner, r.Name); err != nil { // it may have its DS again
			return err
		}
		return s.changeServers(ctx, r, d)
	}
	pending.Hosts, pending.Glue, pending.Wallet, pending.Refused = d.Hosts, d.Glue, r.Owner, time.Time{}
	return s.Moves.PutMove(ctx, pending, nil, "")
}

// mayBeMade reports whether the registry may have changed the servers without an answer. If it
// has refused to, it has not, and nobody makes the move during the next minute.
func (s *Service) mayBeMade(ctx context.Context, m lifecycle.Move) (bool, error) {
	if s.RegistryNow().Before(m.EffectiveAt) {
		return false, nil
	}
	if m.Refused.IsZero() {
		return true, nil
	}
	delayed, err := s.Moves.DelayMove(ctx, m, MoveDelay{Until: s.RegistryNow().Add(registryRetryDelay), Refused: m.Refused})
	return !delayed, err
}

// undoMove cancels a move before the servers have changed. Our DS is published again when it has
// ended; that of other keys is set again before, so that it is not lost if this fails.
func (s *Service) undoMove(ctx context.Context, r lifecycle.Registration, m lifecycle.Move) error {
	if len(m.DS) > 0 && !s.serversChanged(r, m) {
		if err := s.Manager.SetDS(ctx, r.Name, m.DS); err != nil {
			return fmt.Errorf("set the DS of %s again: %w", r.Name, err)
		}
		a := lifecycle.OwnerAction{Wallet: r.Owner, Kind: lifecycle.ActionNameservers, Detail: fmt.Sprintf("DS set again: %v", m.DS), HadDS: r.DS}
		r.DS = m.DS
		if err := s.recordAction(ctx, r, a); err != nil {
			return err
		}
	}
	return s.dropMove(ctx, r, m)
}

// serversChanged reports whether the servers have changed to some of ours since the move began,
// because its owner chose others while they did: the DS that was removed for it is not theirs.
func (s *Service) serversChanged(r lifecycle.Registration, m lifecycle.Move) bool {
	return lifecycle.SameServers(r.Nameservers, s.Nameservers) || r.OurServersUntil.After(m.Created)
}

// beginMove begins a move in place of an earlier one, if there is one. A name whose DS no
// resolver has moves at once; if the registry does not answer, it moves when it does. If the
// registry refuses the servers, everything is as it was.
func (s *Service) beginMove(ctx context.Context, r lifecycle.Registration, d Delegation, earlier *lifecycle.Move) error {
	if s.hasCachedDS(r) {
		m, err := s.withdrawDS(ctx, r, d)
		return s.restoreEarlier(ctx, m, earlier, err)
	}
	m := s.newMove(r, d, 0)
	if err := s.Moves.PutMove(ctx, m, nil, ""); err != nil {
		return err
	}
	// Who publishes a DS has stored that before, and it is read here, or finds the move.
	r, err := s.owned(ctx, r.Owner, r.Name)
	if err == nil {
		err = s.executeMove(ctx, r, m)
	}
	return s.restoreEarlier(ctx, m, earlier, err)
}

// restoreEarlier returns err. If the registry has refused the first step of a move, it ends
// the move, and stores the earlier one again if there was one.
func (s *Service) restoreEarlier(ctx context.Context, m lifecycle.Move, earlier *lifecycle.Move, err error) error {
	switch {
	case err == nil || !decided(err):
		return err
	case earlier != nil:
		return errors.Join(err, s.Moves.PutMove(ctx, *earlier, &m, ""))
	}
	return errors.Join(err, s.Moves.EndMove(ctx, m, ""))
}

// newMove returns a move to other servers that waits for so long.
func (s *Service) newMove(r lifecycle.Registration, d Delegation, wait time.Duration) lifecycle.Move {
	now := s.RegistryNow().UTC().Truncate(time.Second)
	return lifecycle.Move{
		Name: r.Name, Reference: r.Reference, Wallet: r.Owner, Step: lifecycle.MoveWithdrawing, Hosts: d.Hosts, Glue: d.Glue,
		EffectiveAt: now.Add(wait), Created: now,
	}
}
