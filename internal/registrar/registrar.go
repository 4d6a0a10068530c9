// Package registrar has the contracts of those who sell names to us: Registrar to
// buy, Manager to look after what is ours, Inventory to list it. What only some can
// do, such as finding an order by our reference alone, is an interface of its own
// that is found by type assertion.
//
// The backends are in the folders below, each passes the suite in registrartest,
// and the vendor's types do not leave them.
package registrar

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A Registrar sells us names of a registry: new ones, more years, and names that
// come from another registrar.
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
	Available(ctx context.Context, name deed.Name) (Availability, error)

	// Transferable says whether the name could come to us from another
	// registrar with this code. It fails with CodeNotFound when nobody has the
	// name, with CodeDomainUnavailable when it is reserved or ours already, with
	// CodeValidation when the code is wrong or the name is locked, and without a
	// code when the registry does not say. It changes nothing.
	Transferable(ctx context.Context, name deed.Name, code deed.Secret) error

	// Place places an order. It fails with CodeDomainUnavailable when somebody
	// has the name that is to be registered, with CodeNotFound when the name to
	// renew is not ours, with CodeValidation when a renewal begins at another
	// expiry than the name has or the code of a transfer is wrong, and with
	// CodeRegistrationFailed when the registry refuses for good.
	Place(ctx context.Context, o Order) error

	// Order says what became of the order with our reference: done, absent,
	// pending, or parked. Only a done order makes a name ours, or longer ours.
	Order(ctx context.Context, reference string, name deed.Name) (OrderStatus, error)

	// Cancel takes a parked or pending order back, for good. It fails with
	// CodeNotFound when there is none to take back: it was executed, or never
	// placed.
	Cancel(ctx context.Context, reference string) error
}

// A Manager looks after the names that are ours at the registry. All of it is
// free, and doing it twice equals doing it once. It fails with CodeNotFound when
// the name is not in our account, with CodeValidation when the registry does
// not allow it in the name's present state, and without a code when nobody
// knows.
type Manager interface {
	// Holding returns the name as the registry has it.
	Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error)

	SetNameservers(ctx context.Context, name deed.Name, hosts []string) error

	// SetLock forbids or allows a transfer to another registrar.
	SetLock(ctx context.Context, name deed.Name, locked bool) error

	// AuthCode makes a new code with which another registrar can ask for the
	// name; older codes end.
	AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error)

	// SetDS says which keys sign the zone; none is an unsigned zone.
	SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error
}

// An Inventory lists every name in our account, for the reconciler.
type Inventory interface {
	// Holdings returns at most so many names after the given one, sorted.
	Holdings(ctx context.Context, after deed.Name, most int) ([]lifecycle.Holding, error)
}

// An OrderFinder finds what was ordered under a reference, after we forgot it. A
// Registrar may be one.
type OrderFinder interface {
	// FindOrder returns the order, without its auth code, or CodeNotFound.
	FindOrder(ctx context.Context, reference string) (Order, error)
}

// An Availability is what a registry says of a name.
type Availability struct {
	Available bool
	Reason    string // "taken", "reserved"; "" when available
	Premium   bool
	Wholesale deed.USDC // of a premium name, for the first year
	Renewal   deed.USDC // of a premium name, for each further year
}

// An OrderKind says what an order asks of a registry.
type OrderKind string

// The kinds of order.
const (
	OrderRegister OrderKind = "register"
	OrderRenew    OrderKind = "renew"
	OrderTransfer OrderKind = "transfer"
)

// A RegistryOrder is an order at a registry.
type Order struct {
	Kind        OrderKind
	Reference   string // ours, unique for each order
	Name        deed.Name
	Years       int
	Nameservers []string    // of a new name
	From        time.Time   // the expiry that a renewal begins at
	Restore     bool        // a renewal takes the name out of redemption first
	AuthCode    deed.Secret // of a transfer
}

// An OrderStatus is what became of an order at the registry.
type OrderStatus struct {
	State   OrderState
	Refusal deed.Code // why the registry refused it for good, when it is absent and the registry says so
	Created time.Time // of the name, when the order is done
	Expires time.Time // likewise, as the order left it
}

// An OrderState says how far an order is.
type OrderState string

// The states of an order at the registry.
const (
	OrderAbsent  OrderState = "absent"  // never placed, refused or cancelled, as far as the registry knows
	OrderParked  OrderState = "parked"  // placed, and waiting for a person
	OrderPending OrderState = "pending" // placed, and will be done or refused by itself: a transfer that the other side may still stop
	OrderDone    OrderState = "done"    // the name is ours under this reference, or longer ours
)
