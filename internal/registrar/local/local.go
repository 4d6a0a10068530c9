// Package local is the embedded registry: the one that sells names in the
// sandbox, and in every test of the house.
//
// It is durable, in our own database, and behaves as a registry in the world
// does, in the ways that cost money: it refuses reserved names, asks more for
// premium ones, keeps a name with its holder for weeks after it has expired, and
// can be told to fail (see Faults).
//
// An order is written down under the caller's reference and brought to its end
// in one transaction, which holds the row of the name. That transaction alone
// decides: a reference has one outcome for ever, and a name one holder.
package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
)

const (
	// account is ours at this registry.
	account = "deed"

	// stranger is the account that a wrong_account order ends up in.
	stranger = "stranger"

	// maxYears is how long a name is sold for at once.
	maxYears = 10
)

// A Store keeps the names and the orders. Every method sees the registry as it
// is at the time at: what is due by then is executed before it answers.
type Store interface {
	// Entry returns who has or last had the name; the zero entry when nobody
	// ever had it.
	Entry(ctx context.Context, name deed.Name, at time.Time) (deed.RegistryEntry, error)

	// Place writes the order down and returns it as it then is. An order whose
	// reference is known is not placed again: it returns the first one.
	Place(ctx context.Context, p deed.Placement, at time.Time) (deed.Placement, error)

	// Placement returns an order. It fails with CodeNotFound.
	Placement(ctx context.Context, reference string, at time.Time) (deed.Placement, error)

	// Cancel ends an order that is placed or parked, for good; doing it twice is
	// doing it once. It fails with CodeNotFound when the order is unknown, done
	// or refused.
	Cancel(ctx context.Context, reference string, at time.Time) error
}

// A Registry implements deed.Registrar. Fill the fields before its first use.
type Registry struct {
	Store  Store
	Now    func() time.Time
	Own    []deed.Name // names of the service itself, which nobody can buy
	Faults *Faults     // nil for none
}

// errLost stands for a reply that never came: the caller cannot know more.
var errLost = errors.New("the registry did not reply")

// Available implements deed.Registrar.
func (r *Registry) Available(ctx context.Context, name deed.Name) (deed.Availability, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return deed.Availability{}, fmt.Errorf("check %s: %w", name, err)
	}
	if r.reserved(name) {
		return deed.Availability{Reason: "reserved"}, nil
	}
	now := r.now()
	entry, err := r.Store.Entry(ctx, name, now)
	if err != nil {
		return deed.Availability{}, fmt.Errorf("check %s: %w", name, err)
	}
	wholesale, premium := premiumPrice(name)
	a := deed.Availability{Available: true, Premium: premium, Wholesale: wholesale}
	if entry.HeldAt(now) {
		a.Available, a.Reason = false, "taken"
	}
	return a, nil
}

// Place implements deed.Registrar.
func (r *Registry) Place(ctx context.Context, o deed.RegistryOrder) error {
	fault, err := r.Faults.meet(ctx, order)
	if err != nil {
		return fmt.Errorf("order %s: %w", o.Name, err)
	}
	if err := checkOrder(o); err != nil {
		return err
	}
	now := r.now()
	p, err := r.Store.Place(ctx, r.placement(o, fault, now), now)
	if err != nil {
		return fmt.Errorf("order %s: %w", o.Name, err)
	}
	switch {
	case fault == FaultLostReply:
		return fmt.Errorf("order %s: %w", o.Name, errLost)
	case p.Name != o.Name || p.Years != o.Years:
		return deed.Errorf(deed.CodeRegistrationFailed, "reference %s is taken by another order, for %s", o.Reference, p.Name)
	case fault == FaultWrongAccount && p.State == deed.PlacementDone:
		return nil // the registry believes that all went well
	}
	return r.outcome(ctx, p, now)
}

// checkOrder fails for an order that this registry can never have taken.
func checkOrder(o deed.RegistryOrder) error {
	if o.Reference == "" {
		return deed.Errorf(deed.CodeRegistrationFailed, "an order needs a reference")
	}
	if o.Years < 1 || o.Years > maxYears {
		return deed.Errorf(deed.CodeRegistrationFailed, "%s is sold for 1 to %d years at once, not for %d", o.Name, maxYears, o.Years)
	}
	return nil
}

// placement returns the order as it is placed. One that was placed before keeps
// the outcome it had, whatever fault is on now and whatever is reserved since.
func (r *Registry) placement(o deed.RegistryOrder, fault Fault, now time.Time) deed.Placement {
	p := deed.Placement{RegistryOrder: o, Account: account, State: deed.PlacementPlaced, Placed: now, Due: now}
	switch fault {
	case FaultRefuse:
		p.State, p.Refusal = deed.PlacementRefused, deed.CodeRegistrationFailed
	case FaultTaken:
		p.State, p.Refusal = deed.PlacementRefused, deed.CodeDomainUnavailable
	case FaultParked:
		p.State = deed.PlacementParked
	case FaultLate:
		p.Due = now.Add(r.Faults.late())
	case FaultWrongAccount:
		p.Account = stranger
	}
	if r.reserved(o.Name) {
		p.State, p.Refusal = deed.PlacementRefused, deed.CodeDomainUnavailable
	}
	return p
}

// outcome says what became of a placed order, in the words of Register.
func (r *Registry) outcome(ctx context.Context, p deed.Placement, now time.Time) error {
	switch p.State {
	case deed.PlacementDone:
		_, ours, err := r.ours(ctx, p, now)
		if err == nil && !ours {
			err = deed.Errorf(deed.CodeDomainUnavailable, "%s is not ours under reference %s", p.Name, p.Reference)
		}
		return err
	case deed.PlacementRefused:
		if p.Refusal == deed.CodeDomainUnavailable {
			return deed.Errorf(p.Refusal, "%s is taken or reserved", p.Name)
		}
		return deed.Errorf(p.Refusal, "the registry refuses to register %s", p.Name)
	case deed.PlacementCancelled:
		return deed.Errorf(deed.CodeRegistrationFailed, "the order for %s was cancelled", p.Name)
	}
	return fmt.Errorf("order %s: %w", p.Name, errLost) // parked, or not yet due
}

// Order implements deed.Registrar.
func (r *Registry) Order(ctx context.Context, reference string, name deed.Name) (deed.OrderStatus, error) {
	absent := deed.OrderStatus{State: deed.OrderAbsent}
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return deed.OrderStatus{}, fmt.Errorf("look up order %s: %w", reference, err)
	}
	now := r.now()
	p, err := r.Store.Placement(ctx, reference, now)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return absent, nil
	case err != nil:
		return deed.OrderStatus{}, fmt.Errorf("look up order %s: %w", reference, err)
	case p.Name != name:
		return absent, nil
	case p.State == deed.PlacementParked:
		return deed.OrderStatus{State: deed.OrderParked}, nil
	case p.State != deed.PlacementDone:
		return absent, nil
	}
	entry, ours, err := r.ours(ctx, p, now)
	if err != nil {
		return deed.OrderStatus{}, err
	}
	if !ours {
		return absent, nil
	}
	return deed.OrderStatus{State: deed.OrderDone, Created: entry.Created, Expires: entry.Expires}, nil
}

// ours says whether the name of a done order is in our account, under its
// reference, today.
func (r *Registry) ours(ctx context.Context, p deed.Placement, now time.Time) (deed.RegistryEntry, bool, error) {
	entry, err := r.Store.Entry(ctx, p.Name, now)
	if err != nil {
		return deed.RegistryEntry{}, false, fmt.Errorf("look up %s: %w", p.Name, err)
	}
	return entry, entry.HeldAt(now) && entry.Reference == p.Reference && entry.Account == account, nil
}

// Cancel implements deed.Registrar. It also takes an order back that would have
// been executed late.
func (r *Registry) Cancel(ctx context.Context, reference string) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("cancel order %s: %w", reference, err)
	}
	return r.Store.Cancel(ctx, reference, r.now())
}

func (r *Registry) reserved(name deed.Name) bool {
	return slices.Contains(r.Own, name) || isReserved(name)
}

// now reads the clock as the rows keep it: in UTC, to the second.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Second) }

// Ping fails when the registry does not answer.
func (r *Registry) Ping(ctx context.Context) error {
	_, err := r.Available(ctx, "nic.com") // reserved for ever, so nothing is looked up
	return err
}
