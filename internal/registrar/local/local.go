// Package local is the embedded registry: it sells names in the sandbox and in
// tests.
//
// It is persistent, in the service's own database, and behaves like a real registry
// where that affects money: it refuses reserved names, charges more for premium
// ones, keeps a name with its holder for weeks after its expiry, forbids transfers
// of new names and lets the losing registrar reject them, and can simulate failures
// (see Faults).
//
// An order is stored under the caller's reference and executed in one transaction,
// which locks the row of the name. That transaction alone decides: a reference has
// exactly one outcome, and a name one holder.
package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// The accounts at this registry.
const (
	account      = "deed"      // the account of this service
	otherAccount = "stranger"  // gets the name of a wrong_account order
	elsewhere    = "elsewhere" // another registrar, for transfers in and out
)

// A Store stores the names and the orders. Every method sees the registry at the
// time at: what is due by then is executed first.
type Store interface {
	Orders
	Names
}

// Orders are the methods of a Store for orders.
type Orders interface {
	// Place stores the order and returns its resulting state. An order with a known
	// reference is not placed again: it returns the first one.
	Place(ctx context.Context, p registry.Placement, at time.Time) (registry.Placement, error)

	// Placement returns an order, and the entry of its name as Entry does. It fails
	// with CodeNotFound.
	Placement(ctx context.Context, reference string, at time.Time) (registry.Placement, registry.Entry, error)

	// Cancel cancels an order that is placed or parked, permanently and
	// idempotently. It fails with CodeNotFound when the order is unknown, done or
	// refused.
	Cancel(ctx context.Context, reference string, at time.Time) error

	// Decide ends the name's pending transfer now: it is done, or refused. It fails
	// with CodeNotFound when none is pending.
	Decide(ctx context.Context, name deed.Name, approve bool, at time.Time) error
}

// Names are the methods of a Store for names.
type Names interface {
	// Entry returns the entry of the current or last holder of the name; the zero
	// entry when it was never registered.
	Entry(ctx context.Context, name deed.Name, at time.Time) (registry.Entry, error)

	// Ordered returns those of the names that were ever ordered. The others have the
	// zero entry.
	Ordered(ctx context.Context, names []deed.Name) ([]deed.Name, error)

	// Change replaces the name's entry by the result of change, while the entry is
	// locked. An error of change is returned, and nothing is changed.
	Change(ctx context.Context, name deed.Name, at time.Time, change func(registry.Entry) (registry.Entry, error)) error

	// Entries returns at most limit entries of the account after the given name,
	// sorted.
	Entries(ctx context.Context, account string, after deed.Name, limit int, at time.Time) ([]registry.Entry, error)
}

// A Registry implements registrar.Registrar, registrar.BulkChecker, registrar.Manager,
// registrar.TransferDecider and registrar.Inventory. Set the fields before its first use.
type Registry struct {
	Store  Store
	Now    func() time.Time     // may jump forward by years
	Own    []deed.Name          // names of the service itself, which cannot be bought
	Rules  func(deed.TLD) Rules // nil for the defaults
	Faults *Faults              // nil for none
}

// Rules are the registry's rules for the names of one TLD. The zero Rules are 1 to
// 10 years per order and 45 days of grace.
type Rules struct {
	MinYears  int
	MaxYears  int
	GraceDays int // to renew after expiry
}

func (r *Registry) rules(tld deed.TLD) Rules {
	var rules Rules
	if r.Rules != nil {
		rules = r.Rules(tld)
	}
	if rules == (Rules{}) {
		return Rules{MinYears: 1, MaxYears: registry.MaxYears, GraceDays: 45}
	}
	return rules
}

// Available implements registrar.Registrar.
func (r *Registry) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return registrar.Availability{}, fmt.Errorf("check %s: %w", name, err)
	}
	if r.reserved(name) {
		return registrar.Availability{Reason: "reserved"}, nil
	}
	now := r.now()
	entry, err := r.Store.Entry(ctx, name, now)
	if err != nil {
		return registrar.Availability{}, fmt.Errorf("check %s: %w", name, err)
	}
	return availability(name, entry.HeldAt(now)), nil
}

// AvailableAll implements registrar.BulkChecker. Most names were never ordered, and one
// query finds those that were.
func (r *Registry) AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return nil, fmt.Errorf("check %d names: %w", len(names), err)
	}
	ordered, err := r.Store.Ordered(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("check %d names: %w", len(names), err)
	}
	out := make(map[deed.Name]registrar.Availability, len(names))
	for _, name := range names {
		out[name] = availability(name, false)
		if r.reserved(name) {
			out[name] = registrar.Availability{Reason: "reserved"}
		}
	}
	now := r.now()
	for _, name := range ordered {
		entry, err := r.Store.Entry(ctx, name, now)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", name, err)
		}
		if !r.reserved(name) {
			out[name] = availability(name, entry.HeldAt(now))
		}
	}
	return out, nil
}

func availability(name deed.Name, held bool) registrar.Availability {
	price, premium := premiumPrice(name)
	a := registrar.Availability{Available: !held, Premium: premium, Wholesale: price.first, Renewal: price.further}
	if held {
		a.Reason = "taken"
	}
	return a
}

func (r *Registry) reserved(name deed.Name) bool {
	return slices.Contains(r.Own, name) || isReserved(name)
}

// now returns the time in the resolution of the database: in UTC, to the second.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Second) }

// Ping fails when the registry does not respond.
func (r *Registry) Ping(ctx context.Context) error {
	_, err := r.Available(ctx, "nic.com") // always reserved, so no name is looked up
	return err
}
