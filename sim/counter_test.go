package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

var errSilent = errors.New("the registry did not reply")

// lies are what the registry says of an order that it has just executed.
var lies = map[registrar.OrderKind]error{
	registrar.OrderRegister: deed.Errorf(deed.CodeDomainUnavailable, "the name is taken"),
	registrar.OrderRenew:    deed.Invalid("from", "the name has another expiry"),
	registrar.OrderTransfer: deed.Errorf(deed.CodeDomainUnavailable, "the name is taken"),
}

// Available implements registrar.Registrar. What it says may be old.
func (r *registryModel) Available(_ context.Context, name deed.Name) (registrar.Availability, error) {
	if r.w.fault(12) {
		return registrar.Availability{}, errSilent
	}
	if r.entries[name].HeldAt(r.now()) && !r.w.fault(5) {
		return registrar.Availability{Reason: "taken"}, nil
	}
	return registrar.Availability{Available: true}, nil
}

// Transferable implements registrar.Registrar. What it says may be old.
func (r *registryModel) Transferable(_ context.Context, name deed.Name, given deed.Secret) error {
	e := r.entries[name]
	switch {
	case r.w.fault(12):
		return errSilent
	case r.w.fault(5):
		return nil
	case !e.HeldAt(r.now()):
		return deed.Errorf(deed.CodeNotFound, "nobody has %s", name)
	case e.Account == us:
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is ours", name)
	case e.AuthHash != given.Reveal() || e.Locked:
		return deed.Invalid("authCode", "is not the code")
	}
	return nil
}

// Holding implements registrar.Manager.
func (r *registryModel) Holding(_ context.Context, name deed.Name) (lifecycle.Holding, error) {
	if r.w.fault(12) {
		return lifecycle.Holding{}, errSilent
	}
	if !r.ours(name) {
		return lifecycle.Holding{}, deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	return r.entries[name].Holding(r.now()), nil
}

// Place takes an order. The call takes a while, at most as long as is left;
// an order still on its way then arrives within the quiet window.
func (r *registryModel) Place(o registrar.Order, left time.Duration) error {
	if old := r.orders[o.Reference]; old != nil {
		return old.answer()
	}
	n := &sentOrder{Placement: registry.Placement{Order: o, AuthHash: o.AuthCode.Reveal(), Account: us, GraceDays: graceDays}, arrives: r.w.now.Add(left + time.Hour)}
	r.orders[o.Reference], r.sent = n, append(r.sent, o.Reference)
	if r.w.fault(3) {
		r.w.tick(time.Duration(r.w.rng.IntN(int(left/time.Second)+1)) * time.Second)
	}
	fate := r.w.rng.IntN(16)
	switch {
	case r.parking:
		fate = 5
	case !r.w.faulty:
		fate = 0
	}
	r.w.tell("the registry meets %s %s for %s with fate %d", o.Kind, o.Reference, o.Name, fate)
	if r.w.broken == nil {
		r.w.broken = r.begins(o)
	}
	return r.meet(n, fate)
}

// begins says what is wrong with where a renewal begins. Only one of a name is
// under way at a time, so it always begins at the name's expiry. A name whose deletion
// arrived meanwhile has no grace period, and its renewal is refused.
func (r *registryModel) begins(o registrar.Order) error {
	if e := r.entries[o.Name]; o.Kind == registrar.OrderRenew && r.ours(o.Name) && e.GraceDays > 0 && !e.Expires.Equal(o.From) {
		return fmt.Errorf("%s was to begin at %s, and %s expires at %s", o.Reference, o.From, o.Name, e.Expires)
	}
	return nil
}

// meet does with an order what its fate is.
func (r *registryModel) meet(n *sentOrder, fate int) error {
	soon := r.w.now.Add(time.Duration(1+r.w.rng.IntN(int(order.QuietWindow/time.Second)-1)) * time.Second)
	switch fate {
	case 1, 2: // still travelling
		n.arrives = soon
		return errSilent
	case 3, 4: // executed late, and not found before; with fate 4 also after a backup is restored
		n.State, n.Due = registry.PlacementPlaced, r.now().Add(time.Duration(1+r.w.rng.IntN(90+(fate-3)*1800))*time.Second)
		r.w.failing = fate == 4 && r.w.rng.IntN(4) == 0
		return errSilent
	case 5, 6:
		n.State, n.freed = registry.PlacementParked, r.w.now.Add(time.Duration(r.w.rng.IntN(60))*time.Minute)
		return errSilent
	case 7:
		n.Placement = n.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the registry refuses"))
		return n.answer()
	case 8: // never arrives
		delete(r.orders, n.Reference)
		r.sent = slices.DeleteFunc(r.sent, func(ref string) bool { return ref == n.Reference })
		return errSilent
	}
	n.State, n.Due = registry.PlacementPlaced, r.now()
	r.run()
	switch {
	case n.State != registry.PlacementRefused && (fate == 9 || fate == 10):
		return lies[n.Kind]
	case fate == 11: // found later than done
		n.shows = soon
		return errSilent
	}
	return n.answer()
}

// answer is what the registry says of an order that was placed before.
func (o *sentOrder) answer() error {
	switch {
	case o.State == registry.PlacementDone, o.Pending():
		return nil
	case o.State == registry.PlacementRefused:
		return deed.Errorf(o.Refusal, "%s", o.Reason)
	case o.State == registry.PlacementCancelled:
		return deed.Errorf(deed.CodeRegistrationFailed, "the order was cancelled")
	}
	return errSilent
}

// Order implements registrar.Registrar.
func (r *registryModel) Order(_ context.Context, want registrar.Order) (registrar.OrderStatus, error) {
	o := r.orders[want.Reference]
	switch {
	case r.w.fault(10):
		return registrar.OrderStatus{}, errSilent
	case o == nil || o.Name != want.Name || r.w.now.Before(o.shows):
		return registrar.OrderStatus{State: registrar.OrderAbsent}, nil
	case o.State == registry.PlacementParked:
		return registrar.OrderStatus{State: registrar.OrderParked}, nil
	case o.Pending():
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	case o.State == registry.PlacementDone:
		return registrar.OrderStatus{State: registrar.OrderDone, Created: o.Created, Expires: o.Expires}, nil
	case o.State == registry.PlacementRefused && !r.w.fault(2):
		return registrar.OrderStatus{State: registrar.OrderAbsent, Refusal: o.Refusal}, nil
	}
	return registrar.OrderStatus{State: registrar.OrderAbsent}, nil
}

// FindOrder implements registrar.OrderFinder. It knows what has arrived.
func (r *registryModel) FindOrder(_ context.Context, reference string) (registrar.Order, error) {
	o := r.orders[reference]
	switch {
	case r.w.fault(10):
		return registrar.Order{}, errSilent
	case o == nil || o.State == "" || r.w.now.Before(o.shows):
		return registrar.Order{}, deed.Errorf(deed.CodeNotFound, "there is no order %s", reference)
	}
	found := o.Order
	found.AuthCode = ""
	return found, nil
}

// Cancel implements registrar.Registrar. It does not meet an order that has not
// arrived.
func (r *registryModel) Cancel(_ context.Context, want registrar.Order) error {
	o := r.orders[want.Reference]
	switch {
	case o != nil && o.State == registry.PlacementCancelled:
		return nil
	case o == nil || o.State == "" || !o.open():
		return deed.Errorf(deed.CodeNotFound, "there is nothing to take back")
	}
	if e := r.entries[o.Name]; e.Transfer == want.Reference {
		e.Transfer = ""
		r.entries[o.Name] = e
	}
	o.State = registry.PlacementCancelled
	r.w.tell("the registry takes %s back", want.Reference)
	return nil
}
