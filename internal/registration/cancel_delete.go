package registration

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// A deletion is the outcome of an attempt to delete a name.
type deletion int

const (
	deletionUnknown deletion = iota // a deletion was sent, and may still be executed
	deletionOpen                    // the registry could not be asked
	deletionDone                    // the name is no longer ours
	deletionRefused                 // the name is not deleted by us; the reason is stored
	deletionReady                   // the name can be deleted now
)

// deleteName has the name deleted, and returns what the state of the name then says,
// whatever the registry answered.
func (s *Service) deleteName(ctx context.Context, c *lifecycle.Cancellation, began time.Time) deletion {
	if !c.Secured {
		if outcome := s.secureDeletion(ctx, c); outcome != deletionReady {
			return outcome
		}
	}
	h, err := s.Manager.Holding(ctx, c.Name)
	switch {
	case isDeleted(*c, h, err):
		return deletionDone
	case err != nil:
		return deletionOpen
	case !slices.Contains(h.EPPStatus, addPeriod):
		c.Reason = fmt.Sprintf("the days in which %s could be cancelled are over: it stays yours, and nothing is refunded", c.Name)
		return deletionRefused
	case s.Now().Sub(began) > registrarTimeout/2:
		return deletionOpen // this process was suspended: the lease may end before the deletion is answered
	}
	deleter, ok := s.Manager.(registrar.Deleter)
	if !ok {
		c.Reason = fmt.Sprintf("the registry of %s does not delete names: it stays yours, and nothing is refunded", c.Name)
		return deletionRefused
	}
	answer := deleter.Delete(ctx, c.Name)
	h, err = s.Manager.Holding(ctx, c.Name)
	switch {
	case !decided(answer):
		return deletionUnknown
	case isDeleted(*c, h, err):
		return deletionDone
	case err != nil || answer == nil || deed.CodeOf(answer) == deed.CodeNotFound:
		return deletionUnknown // it is being deleted, or the registry contradicts itself
	}
	c.Reason = fmt.Sprintf("the registry does not delete %s now: it stays yours, and nothing is refunded", c.Name)
	return deletionRefused
}

// secureDeletion makes sure that the name cannot leave our account by a transfer. One
// that has left or is leaving is not refunded. Where the registry has no lock or no code
// to replace, a pending transfer is still noticed.
func (s *Service) secureDeletion(ctx context.Context, c *lifecycle.Cancellation) deletion {
	h, err := s.Manager.Holding(ctx, c.Name)
	if outcome := mayDelete(c, h, err); outcome != deletionReady {
		return outcome
	}
	if !h.Locked && !decided(s.Manager.SetLock(ctx, c.Name, true)) {
		return deletionOpen
	}
	if _, err := s.Manager.AuthCode(ctx, c.Name); !decided(err) {
		return deletionOpen
	}
	h, err = s.Manager.Holding(ctx, c.Name)
	if outcome := mayDelete(c, h, err); outcome != deletionReady {
		return outcome
	}
	if err := s.Cancels.SecureCancellation(ctx, *c); err != nil {
		return deletionOpen // the next attempt secures it again
	}
	c.Secured = true
	return deletionReady
}

// mayDelete returns deletionReady for a name that is ours and stays so. No deletion was
// sent yet, so a name that is not ours was not deleted by us.
func mayDelete(c *lifecycle.Cancellation, h lifecycle.Holding, err error) deletion {
	switch {
	case isDeleted(*c, h, err):
		c.Reason = fmt.Sprintf("%s left our account at the registry before it was deleted: nothing is refunded", c.Name)
		return deletionRefused
	case err != nil:
		return deletionOpen
	case h.PendingTransfer():
		c.Reason = fmt.Sprintf("%s is on its way to another registrar: it is not deleted, and nothing is refunded", c.Name)
		return deletionRefused
	}
	return deletionReady
}

// decided reports whether the registry has answered, with yes or no.
func decided(err error) bool { return err == nil || deed.CodeOf(err) != deed.CodeUnavailable }

// isDeleted reports whether the registry's answer says that the name is deleted. In
// redemption it is, although it can be restored.
func isDeleted(c lifecycle.Cancellation, h lifecycle.Holding, err error) bool {
	if err != nil {
		return deed.CodeOf(err) == deed.CodeNotFound
	}
	return h.Reference != "" && h.Reference != c.Reference || h.Phase == lifecycle.PhaseRedemption || h.Phase == lifecycle.PhasePendingDelete || h.Phase == lifecycle.PhaseGone
}
