package registry

import (
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

// A Placement is an order in the embedded registry.
type Placement struct {
	registrar.Order
	AuthHash  string // of the order's AuthCode, which itself is not stored
	Account   string // the account that gets the name
	GraceDays int    // of the name, once the order is done
	State     PlacementState
	Refusal   deed.Code // why a refused order was refused
	Reason    string    // the refusal's message
	Placed    time.Time // time of the order
	Due       time.Time // when a placed order is executed, or a pending transfer done
	Accepted  time.Time // when a transfer became pending; zero before
	Created   time.Time // of the name, as a done order left it
	Expires   time.Time // of the name, as a done order left it
	Executed  bool      // by the call that returned it; not stored
}

// A PlacementState is the state of an order at the registry:
//
//	placed ─► done | refused
//	   └────► cancelled ◄─ parked
//
// Placed: it will be executed when it is due; a transfer is then accepted, and
// stays placed until it is due a second time. Parked: it waits for manual action,
// and is never executed automatically. All other states are final.
type PlacementState string

// The states of a placement.
const (
	PlacementPlaced    PlacementState = "placed"
	PlacementParked    PlacementState = "parked"
	PlacementDone      PlacementState = "done"
	PlacementRefused   PlacementState = "refused"
	PlacementCancelled PlacementState = "cancelled"
)

// Pending reports whether the placement is a transfer that the losing registrar may
// still reject.
func (p Placement) Pending() bool { return p.State == PlacementPlaced && !p.Accepted.IsZero() }

// Execute returns the placement and the entry of its name after the execution of a
// due order. Its effects have the time at which it was due, however late it is
// executed. The order is then final, except for an accepted transfer: it is due
// again when the time to reject it is over.
func (p Placement) Execute(held Entry) (Placement, Entry) {
	execute := p.register
	switch {
	case p.Kind == registrar.OrderRenew:
		execute = p.renew
	case p.Kind == registrar.OrderTransfer && p.Accepted.IsZero():
		execute = p.accept
	case p.Kind == registrar.OrderTransfer:
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

// Refuse returns the placement as permanently refused, with the code and the
// message of err.
func (p Placement) Refuse(err error) Placement {
	p.State, p.Refusal, p.Reason = PlacementRefused, deed.CodeOf(err), err.Error()
	if e, ok := errors.AsType[*deed.Error](err); ok {
		p.Reason = e.Message
	}
	return p
}

// register returns the entry of a new name.
func (p Placement) register(held Entry) (Entry, error) {
	if held.HeldAt(p.Due) {
		return held, deed.Errorf(deed.CodeDomainUnavailable, "%s is taken", p.Name)
	}
	return Entry{
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
func (p Placement) renew(held Entry) (Entry, error) {
	phase := held.Phase(p.Due)
	expires := held.Expires.AddDate(p.Years, 0, 0)
	switch {
	case !held.HeldBy(p.Account, p.Due):
		return held, deed.Errorf(deed.CodeNotFound, "%s is not in our account", p.Name)
	case phase == lifecycle.PhasePendingDelete:
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s is about to be deleted and can no longer be renewed", p.Name)
	case phase == lifecycle.PhaseRedemption && !p.Restore:
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s is in redemption: only an order that restores it can renew it", p.Name)
	case phase != lifecycle.PhaseRedemption && p.Restore:
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s is not in redemption: renew it without restoring it", p.Name)
	case held.Transfer != "":
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s is being transferred and cannot be renewed until then", p.Name)
	case !p.From.Equal(held.Expires):
		return held, deed.Invalid("from", "%s expires on %s, not on %s", p.Name, held.Expires.UTC().Format(time.RFC3339), p.From.UTC().Format(time.RFC3339))
	case expires.After(p.Due.AddDate(MaxYears, 0, 0)):
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s would expire more than %d years ahead", p.Name, MaxYears)
	}
	held.Expires, held.GraceDays = expires, p.GraceDays
	return held, nil
}

// accept returns the entry with the transfer pending. An accepted transfer is done
// in the end unless it is rejected, so it is not accepted when the name will have
// expired by then.
func (p Placement) accept(held Entry) (Entry, error) {
	refuse := func(format string) (Entry, error) {
		return held, deed.Errorf(deed.CodeRegistrationFailed, format, p.Name)
	}
	switch {
	case !held.HeldAt(p.Due):
		return held, deed.Errorf(deed.CodeNotFound, "%s is not registered: register it instead", p.Name)
	case held.Account == p.Account:
		return refuse("%s is in this account already")
	case held.AuthHash == "" || p.AuthHash != held.AuthHash:
		return held, deed.Invalid("authCode", "is not the code of %s", p.Name)
	case held.Locked:
		return refuse("%s is locked: its holder must unlock it first")
	case p.Due.Before(held.MovableAt()):
		return held, deed.Errorf(deed.CodeRegistrationFailed, "%s may not be transferred within %d days of its creation or last transfer", p.Name, TransferLockDays)
	case held.Transfer != "":
		return refuse("another transfer of %s is pending")
	}
	if last := held.Phase(p.Due.AddDate(0, 0, TransferDays)); last != lifecycle.PhaseActive && last != lifecycle.PhaseGrace {
		return refuse("%s has expired: its holder must renew or restore it first")
	}
	held.Transfer = p.Reference
	return held, nil
}

// move returns the entry in its new account, with another year if the maximum term
// allows it.
func (p Placement) move(held Entry) (Entry, error) {
	expires, most := held.Expires.AddDate(1, 0, 0), p.Due.AddDate(MaxYears, 0, 0)
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
