package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// errLost is the error of a lost reply: the outcome is unknown to the caller.
var errLost = errors.New("the registry did not reply")

// Place implements registrar.Registrar. An accepted transfer is placed: it is done
// days later, or rejected.
func (r *Registry) Place(ctx context.Context, o registrar.Order) error {
	fault, err := r.Faults.meet(ctx, order)
	if err != nil {
		return fmt.Errorf("order %s: %w", o.Name, err)
	}
	if o, err = r.checkOrder(o); err != nil {
		return err
	}
	now := r.now()
	p, err := r.Store.Place(ctx, r.placement(o, fault, now), now)
	switch {
	case err != nil:
		return fmt.Errorf("order %s: %w", o.Name, err)
	case fault == FaultLostReply:
		return fmt.Errorf("order %s: %w", o.Name, errLost)
	case !sameOrder(p.Order, o):
		return deed.Errorf(deed.CodeRegistrationFailed, "reference %s is taken by another order, for %s", o.Reference, p.Name)
	case fault == FaultWrongAccount && p.Account != account && p.State != registry.PlacementRefused:
		return nil // the registry reports success
	}
	return r.outcome(ctx, p, now)
}

// checkOrder returns the normalized order. It fails for an order that this registry
// can never have accepted.
func (r *Registry) checkOrder(o registrar.Order) (registrar.Order, error) {
	rules := r.rules(o.Name.TLD())
	o.From = o.From.UTC().Truncate(time.Second)
	switch o.Kind {
	case registrar.OrderRegister:
		o.From, o.Restore, o.AuthCode = time.Time{}, false, ""
		if len(o.Nameservers) > 0 {
			hosts, err := deed.ParseNameservers(o.Nameservers)
			if err != nil {
				return o, err
			}
			o.Nameservers = hosts
		}
	case registrar.OrderRenew:
		o.AuthCode, o.Nameservers = "", nil
	case registrar.OrderTransfer:
		o.Years, o.From, o.Restore, o.Nameservers = 1, time.Time{}, false, nil
		rules.MinYears = 1 // a transfer adds one year everywhere
	default:
		return o, deed.Errorf(deed.CodeRegistrationFailed, "the registry does not support orders of kind %q", o.Kind)
	}
	if o.Reference == "" {
		return o, deed.Errorf(deed.CodeRegistrationFailed, "an order needs a reference")
	}
	if o.Years < rules.MinYears || o.Years > rules.MaxYears {
		return o, deed.Errorf(deed.CodeRegistrationFailed, "%s is sold for %d to %d years at once, not for %d", o.Name, rules.MinYears, rules.MaxYears, o.Years)
	}
	return o, nil
}

// sameOrder reports whether two orders under one reference are the same.
func sameOrder(a, b registrar.Order) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Years == b.Years && a.From.Equal(b.From) && a.Restore == b.Restore
}

// placement returns the placement of the order. An order that was placed before
// keeps its outcome, whatever fault is active now and whatever names were reserved
// since.
func (r *Registry) placement(o registrar.Order, fault Fault, now time.Time) registry.Placement {
	p := registry.Placement{
		Order:     o,
		AuthHash:  hashCode(o.AuthCode),
		Account:   account,
		GraceDays: r.rules(o.Name.TLD()).GraceDays,
		State:     registry.PlacementPlaced,
		Placed:    now,
		Due:       now,
	}
	p.AuthCode = ""
	switch fault {
	case FaultRefuse:
		p = p.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the registry refuses the order for %s", p.Name))
	case FaultTaken:
		p = p.Refuse(taken(p))
	case FaultParked:
		p.State = registry.PlacementParked
	case FaultLate:
		p.Due = now.Add(r.Faults.late())
	case FaultWrongAccount:
		p.Account = otherAccount
		if p.Kind == registrar.OrderRenew {
			p.State = registry.PlacementDone // the years were added to a name in another account
		}
	}
	if p.Kind == registrar.OrderRegister && r.reserved(o.Name) {
		p = p.Refuse(deed.Errorf(deed.CodeDomainUnavailable, "%s is reserved", p.Name))
	}
	return p
}

// taken is the registry's error when the name is taken, or another order was
// faster.
func taken(p registry.Placement) error {
	switch p.Kind {
	case registrar.OrderRenew:
		return deed.Errorf(deed.CodeNotFound, "%s is not in our account", p.Name)
	case registrar.OrderTransfer:
		return deed.Errorf(deed.CodeRegistrationFailed, "another transfer of %s is pending", p.Name)
	}
	return deed.Errorf(deed.CodeDomainUnavailable, "%s is taken", p.Name)
}

// outcome returns the outcome of a placed order as the error of Place.
func (r *Registry) outcome(ctx context.Context, p registry.Placement, now time.Time) error {
	switch {
	case p.State == registry.PlacementRefused:
		return deed.Errorf(p.Refusal, "%s", p.Reason)
	case p.State == registry.PlacementCancelled:
		return deed.Errorf(deed.CodeRegistrationFailed, "the order for %s was cancelled", p.Name)
	case p.State == registry.PlacementDone && p.Executed && p.Account == account:
		return nil
	case p.State == registry.PlacementDone, p.Pending():
		entry, err := r.Store.Entry(ctx, p.Name, now)
		if err != nil {
			return fmt.Errorf("look up %s: %w", p.Name, err)
		}
		if inAccount(p, entry, now) {
			return nil
		}
		code := deed.CodeRegistrationFailed
		if p.Kind == registrar.OrderRegister {
			code = deed.CodeDomainUnavailable
		}
		return deed.Errorf(code, "%s is not in the account under reference %s", p.Name, p.Reference)
	}
	return fmt.Errorf("order %s: %w", p.Name, errLost) // parked, or not yet due
}

// Order implements registrar.Registrar. A registration or transfer is absent again
// when the name has been deleted or transferred away; a renewal stays done forever.
func (r *Registry) Order(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return registrar.OrderStatus{}, fmt.Errorf("look up order %s: %w", o.Reference, err)
	}
	now := r.now()
	p, entry, err := r.Store.Placement(ctx, o.Reference, now)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return absent, nil
	case err != nil:
		return registrar.OrderStatus{}, fmt.Errorf("look up order %s: %w", o.Reference, err)
	case p.Name != o.Name:
		return absent, nil
	case p.State == registry.PlacementParked:
		return registrar.OrderStatus{State: registrar.OrderParked}, nil
	case p.State == registry.PlacementRefused:
		absent.Refusal = p.Refusal
		return absent, nil
	case p.State != registry.PlacementDone && !p.Pending(), !inAccount(p, entry, now):
		return absent, nil
	case p.Pending():
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	}
	done := registrar.OrderStatus{State: registrar.OrderDone, Created: p.Created, Expires: p.Expires}
	if entry.HeldBy(account, now) {
		h := entry.Holding(now)
		done.Holding = &h
	}
	return done, nil
}

// FindOrder implements registrar.OrderFinder.
func (r *Registry) FindOrder(ctx context.Context, reference string) (registrar.Order, error) {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return registrar.Order{}, fmt.Errorf("find order %s: %w", reference, err)
	}
	p, _, err := r.Store.Placement(ctx, reference, r.now())
	if err != nil {
		return registrar.Order{}, err
	}
	return p.Order, nil
}

// inAccount reports whether a pending or done order is for the service's account
// and, for a registration or transfer, whether the account still has the name, whose
// entry it is, under its reference.
func inAccount(p registry.Placement, entry registry.Entry, now time.Time) bool {
	if p.Kind == registrar.OrderRenew || p.Pending() {
		return p.Account == account
	}
	return p.Account == account && entry.HeldBy(account, now) && entry.Reference == p.Reference
}

// Cancel implements registrar.Registrar. It also cancels an order that would have
// been executed late.
func (r *Registry) Cancel(ctx context.Context, o registrar.Order) error {
	if _, err := r.Faults.meet(ctx, check); err != nil {
		return fmt.Errorf("cancel order %s: %w", o.Reference, err)
	}
	return r.Store.Cancel(ctx, o.Reference, r.now())
}
