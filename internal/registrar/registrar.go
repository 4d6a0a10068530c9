// Package registrar has the contracts of the backends that sell names: Registrar to
// buy, Manager to manage names in the service's account, Inventory to list them. A
// capability that only some have, such as finding an order by its reference alone,
// is a separate interface that is detected by type assertion.
//
// The backends are in the directories below. Each passes the suite in
// registrartest, and the vendor's types do not leave its package.
package registrar

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A Registrar sells names of a registry: new names, renewals, and transfers from
// another registrar.
//
// Implementations must be safe for concurrent use, by several processes, and
// idempotent, each in its own way: by the caller's reference, or by the state of the
// name, which is why lookups get the whole order. An order that was executed is not
// executed again. An error with a code is final: the order was not executed and
// never will be. An error without a code means that the outcome is unknown, and that
// the order must be looked up before anything else is done: it may not have been
// executed, have been executed, or be executed later. Every implementation passes
// the suite in registrartest.
type Registrar interface {
	// Available reports whether the name can be registered now. It fails without a
	// code when the registry does not respond; that never counts as available.
	Available(ctx context.Context, name deed.Name) (Availability, error)

	// Transferable checks whether the name could be transferred from another
	// registrar with this code. It fails with CodeNotFound when the name is not
	// registered, with CodeDomainUnavailable when it is reserved or already in the
	// account, with CodeValidation when the code is wrong or the name is locked,
	// and without a code when the registry does not respond. It changes nothing.
	Transferable(ctx context.Context, name deed.Name, code deed.Secret) error

	// Place places an order. It fails with CodeDomainUnavailable when the name to
	// register is taken, with CodeNotFound when the name to renew is not in the
	// account, with CodeValidation when the expiry of a renewal is not that of the
	// name or the code of a transfer is wrong, and with CodeRegistrationFailed when
	// the registry refuses permanently.
	Place(ctx context.Context, o Order) error

	// Order returns the state of an order as it was placed: done, absent, pending,
	// or parked. Only a done order means that the name was registered, renewed or
	// transferred.
	Order(ctx context.Context, o Order) (OrderStatus, error)

	// Cancel cancels a parked or pending order permanently. It fails with
	// CodeNotFound when there is none to cancel: it was executed, or never placed.
	Cancel(ctx context.Context, o Order) error
}

// A Manager manages the names in the account at the registry. All calls are free
// and idempotent. They fail with CodeNotFound when the name is not in the account,
// with CodeValidation when the registry does not allow the change in the name's
// current state, and without a code when the outcome is unknown.
type Manager interface {
	// Holding returns the registry's data of the name.
	Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error)

	SetNameservers(ctx context.Context, name deed.Name, hosts []string) error

	// SetLock forbids or allows a transfer to another registrar.
	SetLock(ctx context.Context, name deed.Name, locked bool) error

	// AuthCode generates a new code with which another registrar can request a
	// transfer; it invalidates older codes.
	AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error)

	// SetDS sets the DS records of the zone; an empty list makes it unsigned.
	SetDS(ctx context.Context, name deed.Name, ds []dnssec.DS) error
}

// An Inventory lists every name in the account, for the reconciler.
type Inventory interface {
	// Holdings returns at most limit names after the given one, sorted.
	Holdings(ctx context.Context, after deed.Name, limit int) ([]lifecycle.Holding, error)
}

// An Availability is a registry's answer about a name.
type Availability struct {
	Available bool
	Reason    string // "taken", "reserved"; "" when available
	Premium   bool
	Wholesale deed.USDC // of a premium name, for the first year
	Renewal   deed.USDC // of a premium name, for each further year
}

// An OrderKind is the kind of an order.
type OrderKind string

// The kinds of order.
const (
	OrderRegister OrderKind = "register"
	OrderRenew    OrderKind = "renew"
	OrderTransfer OrderKind = "transfer"
)

// An Order is an order at a registry.
type Order struct {
	Kind        OrderKind
	Reference   string // chosen by the service, unique for each order
	Backend     string // that it is placed at; "" for the one that the name belongs to
	Name        deed.Name
	Years       int
	Nameservers []string    // of a new name
	From        time.Time   // the current expiry, for a renewal
	Restore     bool        // the renewal first restores the name from redemption
	AuthCode    deed.Secret // of a transfer
	MaxCost     deed.USDC   // of a premium name: it is refused when it costs more; 0 if it was not sold as one
	Submitted   time.Time   // when this attempt began, by the service's clock
}

// An OrderStatus is the state of an order at the registry.
type OrderStatus struct {
	State   OrderState
	Refusal deed.Code // why the registry refused an absent order permanently, if it says so
	Created time.Time // of the name, when the order is done
	Expires time.Time // of the name after the order

	// Holding is the name when the order is done, if it was read to look the order up.
	Holding *lifecycle.Holding
}

// An OrderState is the state of an order.
type OrderState string

// The states of an order at the registry.
const (
	OrderAbsent  OrderState = "absent"  // never placed, refused or cancelled
	OrderParked  OrderState = "parked"  // placed, and waiting for manual action
	OrderPending OrderState = "pending" // placed, and will be done or refused automatically: a transfer that the losing registrar may still reject
	OrderDone    OrderState = "done"    // the name was registered, transferred or renewed under this reference
)
