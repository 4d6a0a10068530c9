package lifecycle

import (
	"time"

	"deed.example/deed"
)

// A Cancellation undoes a registration in its add grace period: the name is deleted at
// the registry, and what was paid for it, less what the registry keeps, is refunded to
// the payer, who owns the name.
type Cancellation struct {
	Name      deed.Name
	Reference string      // of the registration
	Backend   string      // the registrar that holds the name
	PaymentID string      // of the registration
	Wallet    deed.Wallet // its owner and payer
	Paid      deed.USDC
	Fee       deed.USDC // that the registry keeps
	State     CancelState
	Reason    string    // why the name was kept
	Created   time.Time // by the clock of all nodes, like the times below
	Secured   bool      // the name cannot be transferred away, and a deletion may have been sent
	Tries     int       // how often the registry was asked
	Lease     time.Time // until then a process may still be working on it
	Quiet     time.Time // until then a deletion without an answer may still be executed
}

// Refund returns what goes back to the payer.
func (c Cancellation) Refund() deed.USDC { return c.Paid - c.Fee }

// A CancelState is the state of a cancellation:
//
//	deleting ─► done
//	    └─────► kept
//
// Deleting: the registry is being asked to delete the name. Done: it has, and the
// refund is due, in the same transaction. Kept: it has not and will not, and the name
// stays with its owner.
type CancelState string

// The states of a cancellation.
const (
	CancelDeleting CancelState = "deleting"
	CancelDone     CancelState = "done"
	CancelKept     CancelState = "kept"
)

// CancelTerms are the conditions of one registrar for cancellations. The zero terms
// forbid them.
type CancelTerms struct {
	Fee     deed.USDC // that the registry keeps
	Monthly int       // cancellations per TLD and month that are always allowed
	Percent int       // or so many of each 100 registrations of the month in the TLD that remain
	Premium bool      // the registry also credits premium names
}

// Allows reports whether one more cancellation is within the allowance of the month, of which
// so many were used. What remains are the registrations of the month that are not cancelled,
// without this one: a registry that limits cancellations counts net registrations.
func (t CancelTerms) Allows(used, remaining int) bool {
	return used < t.Monthly || (used+1)*100 <= remaining*t.Percent
}

// A CancelLimit bounds cancellations.
type CancelLimit struct {
	Terms  CancelTerms
	Wallet int // cancellations of one wallet in a period
	Period time.Duration
}
