package deed

import "time"

// A RegistryEntry is a name as the embedded registry keeps it. The zero entry
// is a name that nobody ever had.
type RegistryEntry struct {
	Name      Name
	Reference string // of the order that made it
	Account   string // who has it
	Created   time.Time
	Expires   time.Time
}

// The days a name stays with its holder after it has expired: it can be
// renewed, then only restored, and then it waits to be deleted.
const (
	RegistryGraceDays         = 45
	RegistryRedemptionDays    = 30
	RegistryPendingDeleteDays = 5
)

// FreeAt returns when anybody may have the name again.
func (e RegistryEntry) FreeAt() time.Time {
	return e.Expires.AddDate(0, 0, RegistryGraceDays+RegistryRedemptionDays+RegistryPendingDeleteDays)
}

// HeldAt says whether somebody has the name at that time.
func (e RegistryEntry) HeldAt(at time.Time) bool {
	return e.Reference != "" && at.Before(e.FreeAt())
}

// A Placement is an order as the embedded registry keeps it.
type Placement struct {
	RegistryOrder
	Account string // who gets the name
	State   PlacementState
	Refusal Code      // why a refused order was refused
	Placed  time.Time // when it came in
	Due     time.Time // when a placed order is executed
}

// A PlacementState says how far the registry is with an order:
//
//	placed ─► done | refused
//	   └────► cancelled ◄─ parked
//
// Placed: it will be executed when it is due. Parked: it waits for a person,
// and is never executed by itself. All other states are ends.
type PlacementState string

// The states of a placement.
const (
	PlacementPlaced    PlacementState = "placed"
	PlacementParked    PlacementState = "parked"
	PlacementDone      PlacementState = "done"
	PlacementRefused   PlacementState = "refused"
	PlacementCancelled PlacementState = "cancelled"
)

// Execute returns the placement at its end, and the entry of its name after it.
// The order is done as of the time it was due, however late that is noticed,
// and refused when somebody had the name then.
func (p Placement) Execute(held RegistryEntry) (Placement, RegistryEntry) {
	if held.HeldAt(p.Due) {
		p.State, p.Refusal = PlacementRefused, CodeDomainUnavailable
		return p, held
	}
	p.State = PlacementDone
	return p, RegistryEntry{
		Name:      p.Name,
		Reference: p.Reference,
		Account:   p.Account,
		Created:   p.Due,
		Expires:   p.Due.AddDate(p.Years, 0, 0),
	}
}
