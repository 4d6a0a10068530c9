// Package local is the embedded registry: the one that sells names in the
// sandbox, and in every test of the house.
//
// It is durable, in our own database, and behaves as a registry in the world
// does, in the ways that cost money: it refuses reserved names, asks more for
// premium ones, keeps a name with its holder for weeks after it has expired,
// holds fresh names back from transfers and lets the other side stop them, and
// can be told to fail (see Faults).
//
// An order is written down under the caller's reference and brought to its end
// in one transaction, which holds the row of the name. That transaction alone
// decides: a reference has one outcome for ever, and a name one holder.
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
	account   = "deed"      // ours
	stranger  = "stranger"  // whom a wrong_account order ends up with
	elsewhere = "elsewhere" // another registrar's, from which names come and to which they go
)

// A Store keeps the names and the orders. Every method sees the registry as it
// is at the time at: what is due by then is executed before it answers.
type Store interface {
	Orders
	Names
}

// Orders are the half of a Store that is about orders.
type Orders interface {
	// Place writes the order down and returns it as it then is. An order whose
	// reference is known is not placed again: it returns the first one.
	Place(ctx context.Context, p registry.Placement, at time.Time) (registry.Placement, error)

	// Placement returns an order. It fails with CodeNotFound.
	Placement(ctx context.Context, reference string, at time.Time) (registry.Placement, error)

	// Cancel ends an order that is placed or parked, for good; doing it twice is
	// doing it once. It fails with CodeNotFound when the order is unknown, done
	// or refused.
	Cancel(ctx context.Context, reference string, at time.Time) error

	// Decide ends the name's pending transfer now: it is done, or refused. It
	// fails with CodeNotFound when none is pending.
	Decide(ctx context.Context, name deed.Name, approve bool, at time.Time) error
}

// Names are the half of a Store that is about names.
type Names interface {
	// Entry returns who has or last had the name; the zero entry when nobody
	// ever had it.
	Entry(ctx context.Context, name deed.Name, at time.Time) (registry.Entry, error)

	// Change puts what change makes of the name's entry in its place, while
	// nobody else can. An error of change is returned, and nothing is changed.
	Change(ctx context.Context, name deed.Name, at time.Time, change func(registry.Entry) (registry.Entry, error)) error

	// Entries returns at most so many entries that the account holds, after the
	// given name, sorted.
	Entries(ctx context.Context, account string, after deed.Name, most int, at time.Time) ([]registry.Entry, error)
}

// A Registry implements registrar.Registrar, registrar.Manager and registrar.Inventory. Fill the
// fields before its first use.
type Registry struct {
	Store  Store
	Now    func() time.Time     // may jump forward by years
	Own    []deed.Name          // names of the service itself, which nobody can buy
	Rules  func(deed.TLD) Rules // nil for the same everywhere
	Faults *Faults              // nil for none
}

// Rules are what a registry holds the names of one TLD to. The zero Rules are
// 1 to 10 years at once and 45 days of grace.
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
	price, premium := premiumPrice(name)
	a := registrar.Availability{Available: true, Premium: premium, Wholesale: price.first, Renewal: price.further}
	if entry.HeldAt(now) {
		a.Available, a.Reason = false, "taken"
	}
	return a, nil
}

func (r *Registry) reserved(name deed.Name) bool {
	return slices.Contains(r.Own, name) || isReserved(name)
}

// now reads the clock as the rows keep it: in UTC, to the second.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Second) }

// Ping fails when the registry does not answer.
func (r *Registry) Ping(ctx context.Context) error {
	_, err := r.Available(ctx, "nic.com") // reserved for ever, so no name is looked up
	return err
}
