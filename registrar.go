package deed

import (
	"context"
	"time"
)

// A Registrar buys names at a registry.
//
// Implementations must be safe for concurrent use, by several processes, and
// idempotent by our reference: an order that was placed before under the same
// reference is not placed again. A coded error is final: the order was not
// executed and never will be. An error without a code means that nobody knows,
// and that the order must be looked up before anything else is done: it may not
// have been executed, have been executed, or be executed later.
// Every implementation passes the suite in registrartest.
type Registrar interface {
	// Available says whether the name can be bought now. It fails without a
	// code when the registry does not say; that is never a yes.
	Available(ctx context.Context, name Name) (Availability, error)

	// Register orders the name. It fails with CodeDomainUnavailable when
	// somebody has it, and with CodeRegistrationFailed when the registry
	// refuses for good.
	Register(ctx context.Context, o RegistryOrder) error

	// Order says what became of the order with our reference: done, absent, or
	// parked. Only a done order makes a name ours.
	Order(ctx context.Context, reference string, name Name) (OrderStatus, error)

	// Cancel takes a parked order back, for good. It fails with CodeNotFound
	// when there is none to take back: it was executed, or never placed.
	Cancel(ctx context.Context, reference string) error
}

// An Availability is what a registry says of a name.
type Availability struct {
	Available bool
	Reason    string // "taken", "reserved"; "" when available
	Premium   bool
	Wholesale USDC // of a premium name, for the first year
}

// A RegistryOrder is an order for a new name.
type RegistryOrder struct {
	Reference string // ours, unique for each order
	Name      Name
	Years     int
}

// An OrderStatus is what became of an order at the registry.
type OrderStatus struct {
	State   OrderState
	Created time.Time // of the name, when the order is done
	Expires time.Time // likewise
}

// An OrderState says how far an order is.
type OrderState string

// The states of an order at the registry.
const (
	OrderAbsent OrderState = "absent" // never placed, refused or cancelled, as far as the registry knows
	OrderParked OrderState = "parked" // placed, and waiting for a person
	OrderDone   OrderState = "done"   // the name is ours under this reference
)
