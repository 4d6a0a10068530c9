package registration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// A View is a registration with everything shown about it.
type View struct {
	lifecycle.Registration
	Lifecycle lifecycle.State
	Events    []lifecycle.Event
	Renewal   order.Quote        // for one year, at the current price; zero when it is too late
	Move      *lifecycle.Move    // of its name servers; nil when there is none
	KeyRoll   *lifecycle.KeyRoll // of its zone; nil when there is none
	Stopped   bool               // an operator has stopped serving its zone

	Registrant RegistrantView // without what the owner gave, where its registrar allows that
}

// Name returns a registration with its events, or CodeNotFound.
func (s *Service) Name(ctx context.Context, name deed.Name) (View, error) {
	r, err := s.Names.Registration(ctx, name)
	if err != nil {
		return View{}, err
	}
	v := View{Registration: r, Lifecycle: r.StateAt(s.RegistryNow(), s.Prices.GraceDays(name.TLD()))}
	if v.Events, err = s.Names.Events(ctx, r); err != nil {
		return v, fmt.Errorf("read the events of %s: %w", name, err)
	}
	if v.Move, err = s.pendingMove(ctx, r); err != nil {
		return v, fmt.Errorf("read the move of %s: %w", name, err)
	}
	if v.KeyRoll, err = s.keyRoll(ctx, name); err != nil {
		return v, fmt.Errorf("read the key roll of %s: %w", name, err)
	}
	if s.Suspensions != nil {
		if v.Stopped, err = s.Suspensions.Suspended(ctx, name); err != nil {
			return v, fmt.Errorf("read whether %s is suspended: %w", name, err)
		}
	}
	if v.Registrant, err = s.publicRegistrant(ctx, r); err != nil {
		return v, err
	}
	if r.Status == lifecycle.StatusActive || r.Status == lifecycle.StatusExpired || r.Status == lifecycle.StatusRedemption || r.Status == lifecycle.StatusSuspended {
		v.Renewal, _ = s.Prices.Renewal(r, 1, v.Lifecycle.Phase == lifecycle.PhaseRedemption) // a TLD that is no longer sold has no price
	}
	return v, nil
}

// Suspensions reads which names operators have suspended.
type Suspensions interface {
	// Suspended reports whether an operator has stopped serving the zone of a name.
	Suspended(ctx context.Context, name deed.Name) (bool, error)
}

// KeyRolls reads which keys of zones are being replaced.
type KeyRolls interface {
	// KeyRoll returns the roll of a name's zone, or CodeNotFound.
	KeyRoll(ctx context.Context, name deed.Name) (lifecycle.KeyRoll, error)
}

func (s *Service) keyRoll(ctx context.Context, name deed.Name) (*lifecycle.KeyRoll, error) {
	if s.KeyRolls == nil {
		return nil, nil
	}
	r, err := s.KeyRolls.KeyRoll(ctx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil, nil
	}
	return &r, err
}

// owned returns a registration that the wallet owns.
func (s *Service) owned(ctx context.Context, who deed.Wallet, name deed.Name) (lifecycle.Registration, error) {
	r, err := s.Names.Registration(ctx, name)
	if err != nil {
		return r, err
	}
	if err := r.OwnedBy(who); err != nil {
		return r, err
	}
	if r.Cancelling {
		return r, deed.Invalid("domain", "%s is being cancelled", name)
	}
	return r, nil
}

// compareUnanswered returns why the registry did not make a change. If it did not answer, it may have
// made it: the name is compared with it soon.
func (s *Service) compareUnanswered(ctx context.Context, name deed.Name, err error) error {
	if decided(err) {
		return err
	}
	return errors.Join(err, s.Names.CompareSoon(context.WithoutCancel(ctx), name))
}

// AuthCode unlocks the name and returns the code that authorizes a transfer to
// another registrar.
func (s *Service) AuthCode(ctx context.Context, who deed.Wallet, name deed.Name) (deed.Secret, error) {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return "", err
	}
	if err := s.Manager.SetLock(ctx, name, false); err != nil {
		return "", s.compareUnanswered(ctx, name, fmt.Errorf("unlock %s: %w", name, err))
	}
	code, err := s.Manager.AuthCode(ctx, name)
	if err != nil {
		err = fmt.Errorf("read the auth code of %s: %w", name, err)
		return "", errors.Join(err, s.Names.CompareSoon(context.WithoutCancel(ctx), name)) // it is unlocked
	}
	r.Locked = false
	return code, s.recordAction(ctx, r, lifecycle.OwnerAction{Wallet: who, Kind: lifecycle.ActionAuthCode})
}

// SetLock forbids or allows a transfer to another registrar. The lock rejects a transfer that
// is pending.
func (s *Service) SetLock(ctx context.Context, who deed.Wallet, name deed.Name, locked bool) error {
	r, err := s.owned(ctx, who, name)
	if err != nil {
		return err
	}
	err = s.Manager.SetLock(ctx, name, locked)
	if locked && deed.CodeOf(err) == deed.CodeValidation {
		err = s.rejectTransfer(ctx, name, err)
	}
	if err != nil {
		return s.compareUnanswered(ctx, name, fmt.Errorf("lock %s: %w", name, err))
	}
	r.Locked = locked
	action := lifecycle.OwnerAction{Wallet: who, Kind: lifecycle.ActionUnlock}
	if locked {
		action.Kind = lifecycle.ActionLock
	}
	return s.recordAction(ctx, r, action)
}

// rejectTransfer rejects the transfer because of which the name cannot be locked, and locks it.
// If none is pending, it returns why the name was not locked.
func (s *Service) rejectTransfer(ctx context.Context, name deed.Name, refused error) error {
	decider, ok := s.Manager.(registrar.TransferDecider)
	if !ok {
		return refused
	}
	switch err := decider.DecideTransfer(ctx, name, false); {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return refused
	case err != nil:
		return err
	}
	return s.Manager.SetLock(ctx, name, true)
}

// HandOver transfers the name to another wallet, which then counts as the one that
// registered it. The name is locked first and gets a new auth code, which is not
// disclosed: with an old code the previous owner could transfer it away.
func (s *Service) HandOver(ctx context.Context, who deed.Wallet, name deed.Name, to deed.Wallet) error {
	for range 3 {
		r, err := s.owned(ctx, who, name)
		if err != nil {
			return err
		}
		if to == who {
			return deed.Invalid("walletAddress", "%s has the name already", who)
		}
		if to == deed.ZeroWallet {
			return deed.Invalid("walletAddress", "nobody has the key of %s: the name would be lost", to)
		}
		actions, err := s.Names.CountActions(ctx, r.Reference)
		if err != nil {
			return fmt.Errorf("count the actions on %s: %w", name, err)
		}
		if err := s.secure(ctx, r); err != nil {
			return err
		}
		r.Owner, r.Locked = to, true
		err = s.Names.RecordAction(ctx, r, lifecycle.OwnerAction{Wallet: who, Kind: lifecycle.ActionHandover, Detail: string(to), After: actions})
		if !errors.Is(err, lifecycle.ErrConcurrentAction) {
			return err
		}
	}
	return &deed.Error{Code: deed.CodeUnavailable, Message: fmt.Sprintf("%s is being changed by its owner: try again in a moment", name), Retry: time.Second}
}

// secure makes sure that the name cannot be transferred to another registrar.
func (s *Service) secure(ctx context.Context, r lifecycle.Registration) error {
	if r.Status == lifecycle.StatusTransferring {
		return deed.Invalid("domain", "%s is on its way to another registrar", r.Name)
	}
	if err := s.Manager.SetLock(ctx, r.Name, true); err != nil {
		return s.compareUnanswered(ctx, r.Name, fmt.Errorf("lock %s: %w", r.Name, err))
	}
	if _, err := s.Manager.AuthCode(ctx, r.Name); err != nil {
		err = fmt.Errorf("make a new auth code for %s: %w", r.Name, err)
		return errors.Join(err, s.Names.CompareSoon(context.WithoutCancel(ctx), r.Name)) // it is locked
	}
	return nil
}

// recordAction stores what an owner did at the registry. When the name was handed
// over concurrently, the new owner's settings are restored at the registry.
func (s *Service) recordAction(ctx context.Context, r lifecycle.Registration, a lifecycle.OwnerAction) error {
	err := s.Names.RecordAction(ctx, r, a)
	if deed.CodeOf(err) != deed.CodeOwnershipDenied {
		return err
	}
	is, readErr := s.Names.Registration(ctx, r.Name)
	if readErr != nil || is.Reference != r.Reference {
		return err // it has ended, or was registered again
	}
	restoreErr := errors.Join(s.Manager.SetLock(ctx, is.Name, is.Locked), s.setServers(ctx, is, r.Glue), s.Manager.SetDS(ctx, is.Name, is.DS))
	if restoreErr != nil {
		return fmt.Errorf("%s was handed over while its previous owner changed it, and the registry has the previous owner's settings: %w", is.Name, restoreErr)
	}
	return err
}
