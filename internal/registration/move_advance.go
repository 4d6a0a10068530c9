package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// AdvanceMove takes the next step of a move whose step has ended, or cancels that of a former
// owner. It is idempotent. Meanwhile and after an error the move is not due, so that no other
// node takes the same step, and it does not delay others.
func (s *Service) AdvanceMove(ctx context.Context, id string) error {
	m, err := s.Moves.Move(ctx, deed.Name(id))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // it was canceled, or another node has ended it
	}
	if err != nil {
		return err
	}
	if s.RegistryNow().Before(m.EffectiveAt) {
		if left, err := s.leftByFormerOwner(ctx, m); err != nil || !left {
			return err
		}
	}
	first := m.Refused.IsZero()
	begun, err := s.Moves.DelayMove(ctx, m, MoveDelay{Until: s.RegistryNow().Add(registryRetryDelay)})
	if err != nil || !begun {
		return err
	}
	m.Refused = time.Time{}
	err = s.advanceMove(ctx, m)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled): // the node stops, and another one goes on
		return s.delayMove(ctx, m, MoveDelay{Until: earlier(m.EffectiveAt, s.RegistryNow())}, err)
	case refused(err):
		return s.delayMove(ctx, m, s.afterRefusal(m, first), err)
	}
	return err
}

// leftByFormerOwner reports whether the name was handed over before its servers changed: the
// new owner did not ask for that, and does not wait for it to be canceled.
func (s *Service) leftByFormerOwner(ctx context.Context, m lifecycle.Move) (bool, error) {
	r, err := s.Names.Registration(ctx, m.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil
	}
	return err == nil && m.OfFormerOwner(r), err
}

// refused reports whether the registry refuses a change, and has not made it.
func refused(err error) bool {
	code := deed.CodeOf(err)
	return err != nil && (code == deed.CodeValidation || code == deed.CodeNotFound)
}

// maxRefusedInterval is the longest time between two attempts to make a move that the registry
// refuses.
const maxRefusedInterval = 24 * time.Hour

// afterRefusal returns when a move that the registry has refused is tried again: the longer it
// does, the later. Its owner is told the first time.
func (s *Service) afterRefusal(m lifecycle.Move, first bool) MoveDelay {
	now := s.RegistryNow()
	d := MoveDelay{Until: now.Add(min(max(now.Sub(m.EffectiveAt), registryRetryDelay), maxRefusedInterval)), Refused: now}
	if first {
		d.Event = lifecycle.EventMoveRefused
	}
	return d
}

// delayMove delays a move that was not made, and returns why it was not.
func (s *Service) delayMove(ctx context.Context, m lifecycle.Move, d MoveDelay, why error) error {
	_, err := s.Moves.DelayMove(context.WithoutCancel(ctx), m, d)
	return errors.Join(why, err)
}

func (s *Service) advanceMove(ctx context.Context, m lifecycle.Move) error {
	r, err := s.Names.Registration(ctx, m.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound || err == nil && r.Reference != m.Reference:
		return s.Moves.EndMove(ctx, m, "") // the name ended
	case err != nil:
		return err
	case r.Owner != m.Wallet:
		return s.cancelMove(ctx, r, m)
	case m.Step == lifecycle.MoveSettling:
		return s.Moves.EndMove(ctx, m, "")
	}
	return s.executeMove(ctx, r, m)
}

// cancelMove ends the move of a former owner: the new one decides. One that the registry has
// made without an answer goes on, because a name that came back waits for the caches. Else
// the DS that was removed for it is set again, as if the owner had canceled it.
func (s *Service) cancelMove(ctx context.Context, r lifecycle.Registration, m lifecycle.Move) error {
	if m.Step == lifecycle.MoveSettling {
		return s.Moves.EndMove(ctx, m, "")
	}
	h, err := s.Manager.Holding(ctx, m.Name)
	switch {
	case err != nil:
		return fmt.Errorf("read the name servers of %s: %w", m.Name, err)
	case lifecycle.SameServers(h.Nameservers, m.Hosts):
		return s.executeMove(ctx, r, m)
	case len(h.DS) > 0 || !lifecycle.SameServers(h.Nameservers, r.Nameservers):
		return s.dropMove(ctx, r, m) // the registry has what it is to have, or the record is corrected first
	}
	return s.undoMove(ctx, r, m)
}

// dropMove ends a move that was not made. If it took the place of the last step of a return,
// that goes on: resolvers may still ask the servers elsewhere.
func (s *Service) dropMove(ctx context.Context, r lifecycle.Registration, m lifecycle.Move) error {
	if !lifecycle.SameServers(r.Nameservers, s.Nameservers) {
		return s.Moves.EndMove(ctx, m, "")
	}
	came, err := s.Names.LastEvent(ctx, r.Reference, lifecycle.EventDelegated, lifecycle.EventTransferredIn, lifecycle.EventCorrected)
	if err != nil {
		return err
	}
	settling := s.settling(r, came)
	if !s.RegistryNow().Before(settling.EffectiveAt) {
		return s.Moves.EndMove(ctx, m, "")
	}
	return s.Moves.PutMove(ctx, settling, &m, "")
}

// executeMove changes the name servers at the end of a move, if the registry has no DS. If
// the move did not wait, no cache may have one, either.
func (s *Service) executeMove(ctx context.Context, r lifecycle.Registration, m lifecycle.Move) error {
	h, err := s.Manager.Holding(ctx, m.Name)
	if err != nil {
		return fmt.Errorf("read the DS of %s: %w", m.Name, err)
	}
	if m.AtOnce() && s.delegatedElsewhere(r, m, h) {
		return s.Moves.EndMove(ctx, m, "") // the DS is that of the keys there, and stays
	}
	if len(h.DS) > 0 || m.AtOnce() && s.hasCachedDS(r) { // it crashed before the DS was removed, or the DS was set meanwhile
		longer, err := s.withdrawDS(ctx, r, Delegation{Hosts: m.Hosts, Glue: m.Glue})
		if refused(err) { // it is as it was
			err = errors.Join(err, s.Moves.PutMove(ctx, m, &longer, ""))
		}
		return err
	}
	if seen := r.DSSeen.Add(s.ParentTTL.DS); !m.AtOnce() && s.RegistryNow().Before(seen) && !lifecycle.SameServers(h.Nameservers, m.Hosts) {
		longer := m // a DS was removed since the move began
		longer.EffectiveAt = seen
		return s.Moves.PutMove(ctx, longer, &m, "")
	}
	if err := s.changeServersOf(ctx, r, Delegation{Hosts: m.Hosts, Glue: m.Glue}, &m); err != nil {
		return err
	}
	event := lifecycle.EventDelegated
	if m.AtOnce() {
		event = ""
	}
	return s.Moves.EndMove(ctx, m, event) // of a name that comes back, it was replaced by the next step
}

// delegatedElsewhere reports whether the name has the servers of the move, elsewhere and
// signed, in our record, too: its buyer named those that it had before its transfer.
func (s *Service) delegatedElsewhere(r lifecycle.Registration, m lifecycle.Move, h lifecycle.Holding) bool {
	return len(h.DS) > 0 && len(m.Glue) == 0 && !lifecycle.SameServers(m.Hosts, s.Nameservers) &&
		lifecycle.SameServers(h.Nameservers, m.Hosts) && lifecycle.SameServers(r.Nameservers, m.Hosts)
}
