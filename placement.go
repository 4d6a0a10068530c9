package deed

import (
	"errors"
	"time"
)

// A Placement is an order as the embedded registry keeps it.
type Placement struct {
	RegistryOrder
	AuthHash  string // of the order's AuthCode, which itself is not kept
	Account   string // who gets the name
	GraceDays int    // of the name, once the order is done
	State     PlacementState
	Refusal   Code      // why a refused order was refused
	Reason    string    // the same, in a sentence
	Placed    time.Time // when it came in
	Due       time.Time // when a placed order is executed, or a pending transfer done
	Accepted  time.Time // when a transfer became pending; zero before
	Created   time.Time // of the name, as a done order left it
	Expires   time.Time // likewise
}

// A PlacementState says how far the registry is with an order:
//
//	placed ─► done | refused
//	   └────► cancelled ◄─ parked
//
// Placed: it will be executed when it is due; a transfer is then accepted, and
// stays placed until it is due a second time. Parked: it waits for a person, and
// is never executed by itself. All other states are ends.
type PlacementState string

// The states of a placement.
const (
	PlacementPlaced    PlacementState = "placed"
	PlacementParked    PlacementState = "parked"
	PlacementDone      PlacementState = "done"
	PlacementRefused   PlacementState = "refused"
	PlacementCancelled PlacementState = "cancelled"
)

// Pending says whether the placement is a transfer that the other side may
// still stop.
func (p Placement) Pending() bool { return p.State == PlacementPlaced && !p.Accepted.IsZero() }

// Execute returns the placement after it was due, and the entry of its name
// after that. What happens, happens as of the time it was due, however late that
// is noticed. The order is then at its end, but for a transfer that is accepted:
// it is due again when the other side's time is over.
func (p Placement) Execute(held RegistryEntry) (Placement, RegistryEntry) {
	execute := p.register
	switch {
	case p.Kind == OrderRenew:
		execute = p.renew
	case p.Kind == OrderTransfer && p.Accepted.IsZero():
		execute = p.accept
	case p.Kind == OrderTransfer:
		execute = p.move
	}
	next, err := execute(held)
	if err != nil {
		return p.Refuse(err), held
	}
	if next.Transfer == p.Reference {
		p.Accepted, p.Due = p.Due, p.Due.AddDate(0, 0, TransferDays)
		return p, next
	}
	p.State, p.Created, p.Expires = PlacementDone, next.Created, next.Expires
	return p, next
}

// Refuse returns the placement refused for good, with the code and the sentence
// of err.
func (p Placement) Refuse(err error) Placement {
	p.State, p.Refusal, p.Reason = PlacementRefused, CodeOf(err), err.Error()
	if e, ok := errors.AsType[*Error](err); ok {
		p.Reason = e.Message
	}
	return p
}

// register returns the entry of a new name.
func (p Placement) register(held RegistryEntry) (RegistryEntry, error) {
	if held.HeldAt(p.Due) {
		return held, Errorf(CodeDomainUnavailable, "%s is taken", p.Name)
	}
	return RegistryEntry{
		Name:        p.Name,
		Reference:   p.Reference,
		Account:     p.Account,
		Created:     p.Due,
		Expires:     p.Due.AddDate(p.Years, 0, 0),
		GraceDays:   p.GraceDays,
		Locked:      true,
		Nameservers: p.Nameservers,
	}, nil
}

// renew returns the entry with more years.
func (p Placement) renew(held RegistryEntry) (RegistryEntry, error) {
	phase := held.Phase(p.Due)
	expires := held.Expires.AddDate(p.Years, 0, 0)
	switch {
	case !held.HeldBy(p.Account, p.Due):
		return held, Errorf(CodeNotFound, "%s is not in our account", p.Name)
	case phase == PhasePendingDelete:
		return held, Errorf(CodeRegistrationFailed, "%s is about to be deleted and can no longer be renewed", p.Name)
	case phase == PhaseRedemption && !p.Restore:
		return held, Errorf(CodeRegistrationFailed, "%s is in redemption: only an order that restores it brings it back", p.Name)
	case phase != PhaseRedemption && p.Restore:
		return held, Errorf(CodeRegistrationFailed, "%s is not in redemption: renew it without restoring it", p.Name)
	case held.Transfer != "":
		return held, Errorf(CodeRegistrationFailed, "%s is being transferred and cannot be renewed meanwhile", p.Name)
	case !p.From.Equal(held.Expires):
		return held, Invalid("from", "%s expires on %s, not on %s", p.Name, held.Expires.UTC().Format(time.RFC3339), p.From.UTC().Format(time.RFC3339))
	case expires.After(p.Due.AddDate(RegistryMostYears, 0, 0)):
		return held, Errorf(CodeRegistrationFailed, "%s would expire more than %d years ahead", p.Name, RegistryMostYears)
	}
	held.Expires, held.GraceDays = expires, p.GraceDays
	return held, nil
}

// accept returns the entry with the transfer pending. One that is accepted is
// done in the end unless somebody stops it, so it is not accepted when the name
// would not work any more by then.
func (p Placement) accept(held RegistryEntry) (RegistryEntry, error) {
	refuse := func(format string) (RegistryEntry, error) {
		return held, Errorf(CodeRegistrationFailed, format, p.Name)
	}
	switch {
	case !held.HeldAt(p.Due):
		return held, Errorf(CodeNotFound, "nobody has %s: register it instead", p.Name)
	case held.Account == p.Account:
		return refuse("%s is in this account already")
	case held.AuthHash == "" || p.AuthHash != held.AuthHash:
		return held, Invalid("authCode", "is not the code of %s", p.Name)
	case held.Locked:
		return refuse("%s is locked: its holder must unlock it first")
	case p.Due.Before(held.MovableAt()):
		return held, Errorf(CodeRegistrationFailed, "%s may not be transferred within %d days of its creation or last transfer", p.Name, TransferLockDays)
	case held.Transfer != "":
		return refuse("another transfer of %s is pending")
	}
	if last := held.Phase(p.Due.AddDate(0, 0, TransferDays)); last != PhaseActive && last != PhaseGrace {
		return refuse("%s has expired: its holder must renew or restore it first")
	}
	held.Transfer = p.Reference
	return held, nil
}

// move returns the entry in its new account, with a year more if there is room
// for one.
func (p Placement) move(held RegistryEntry) (RegistryEntry, error) {
	expires, most := held.Expires.AddDate(1, 0, 0), p.Due.AddDate(RegistryMostYears, 0, 0)
	if expires.After(most) {
		expires = most
	}
	if expires.After(held.Expires) {
		held.Expires = expires
	}
	held.Reference, held.Account, held.Moved = p.Reference, p.Account, p.Due
	held.Locked, held.AuthHash, held.Transfer = true, "", ""
	held.GraceDays = p.GraceDays
	return held, nil
}
