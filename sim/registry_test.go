package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"deed.example/deed"
)

// outsider is who buys a name elsewhere.
const outsider = "outsider"

// An order is one that was sent to the registry.
type order struct {
	deed.RegistryOrder
	state   string    // "sending", "travelling", "late", "parked", "done", "refused", "cancelled"
	due     time.Time // when it arrives, is executed, or is released by a person
	visible time.Time // when a look-up finds it, once it is done
	done    time.Time
}

// A registry is behind a deed.Registrar with every fault that a registrar may
// have by its contract, and one more: it says that a name is taken which it has
// just given us. It survives every crash of ours.
type registry struct {
	w      *world
	holder map[deed.Name]string // a reference, or outsider
	orders map[string]*order
	sent   []string // references, in the order they came
	bought map[deed.Name]int
}

func newRegistry(w *world) *registry {
	return &registry{w: w, holder: map[deed.Name]string{}, orders: map[string]*order{}, bought: map[deed.Name]int{}}
}

var errSilent = errors.New("the registry did not reply")

// now is the registry's own clock.
func (r *registry) now() time.Time { return r.w.now }

// Holding implements deed.Keeper.
func (r *registry) Holding(_ context.Context, name deed.Name) (deed.Holding, error) {
	ref := r.holder[name]
	switch {
	case r.w.fault(12):
		return deed.Holding{}, errSilent
	case ref == "" || ref == outsider:
		return deed.Holding{}, deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	o := r.orders[ref]
	return deed.Holding{Name: name, Reference: ref, Created: o.done, Expires: o.done.AddDate(o.Years, 0, 0), Locked: true, Nameservers: o.Nameservers}, nil
}

// Transferable implements deed.Registrar.
func (r *registry) Transferable(context.Context, deed.Name, deed.Secret) error {
	return errSilent
}

// run executes what is due.
func (r *registry) run() {
	for _, ref := range r.sent {
		o := r.orders[ref]
		if r.w.now.Before(o.due) {
			continue
		}
		switch o.state {
		case "travelling", "late", "parked":
			r.execute(o)
		}
	}
}

func (r *registry) execute(o *order) {
	if r.holder[o.Name] != "" {
		o.state = "refused"
		return
	}
	o.state, o.done = "done", r.w.now
	r.holder[o.Name] = o.Reference
	r.bought[o.Name]++
	r.w.dirty = true
	r.w.tell("the registry executes %s for %s", o.Reference, o.Name)
}

// Available implements deed.Registrar. What it says may be old.
func (r *registry) Available(_ context.Context, name deed.Name) (deed.Availability, error) {
	if r.w.fault(12) {
		return deed.Availability{}, errSilent
	}
	if r.holder[name] != "" && !r.w.fault(5) {
		return deed.Availability{Reason: "taken"}, nil
	}
	return deed.Availability{Available: true}, nil
}

// Place takes an order. The call takes a while, at most as long as is left;
// an order still on its way then arrives within the quiet window.
func (r *registry) Place(o deed.RegistryOrder, left time.Duration) error {
	if old := r.orders[o.Reference]; old != nil {
		return r.outcome(old)
	}
	n := &order{RegistryOrder: o, state: "sending"}
	r.orders[o.Reference], r.sent = n, append(r.sent, o.Reference)
	if r.w.fault(3) {
		r.w.tick(time.Duration(r.w.rng.IntN(int(left/time.Second)+1)) * time.Second)
	}
	fate := r.w.rng.IntN(16)
	if !r.w.faulty {
		fate = 0
	}
	soon := time.Duration(1+r.w.rng.IntN(int(deed.QuietWindow/time.Second)-1)) * time.Second
	r.w.tell("the registry meets %s for %s with fate %d", o.Reference, o.Name, fate)
	switch fate {
	case 1, 2:
		n.state, n.due = "travelling", r.w.now.Add(soon)
		return errSilent
	case 3, 4:
		n.state, n.due = "late", r.w.now.Add(time.Duration(1+r.w.rng.IntN(90))*time.Second)
		return errSilent
	case 5, 6:
		n.state, n.due = "parked", r.w.now.Add(time.Duration(r.w.rng.IntN(60))*time.Minute)
		return errSilent
	case 7:
		n.state = "refused"
		return deed.Errorf(deed.CodeRegistrationFailed, "the registry refuses")
	case 8: // never arrives
		delete(r.orders, o.Reference)
		r.sent = slices.DeleteFunc(r.sent, func(ref string) bool { return ref == o.Reference })
		return errSilent
	case 9, 10: // a lie
		r.execute(n)
		return deed.Errorf(deed.CodeDomainUnavailable, "the name is taken")
	case 11: // found later than done
		r.execute(n)
		n.visible = r.w.now.Add(soon)
		return errSilent
	}
	r.execute(n)
	return r.outcome(n)
}

func (r *registry) outcome(o *order) error {
	switch o.state {
	case "done":
		return nil
	case "refused":
		return deed.Errorf(deed.CodeDomainUnavailable, "the name is taken")
	case "cancelled":
		return deed.Errorf(deed.CodeRegistrationFailed, "the order was cancelled")
	}
	return errSilent
}

// Order implements deed.Registrar.
func (r *registry) Order(_ context.Context, reference string, name deed.Name) (deed.OrderStatus, error) {
	o := r.orders[reference]
	switch {
	case r.w.fault(10):
		return deed.OrderStatus{}, errSilent
	case o == nil || o.Name != name || o.state == "done" && r.w.now.Before(o.visible):
		return deed.OrderStatus{State: deed.OrderAbsent}, nil
	case o.state == "parked":
		return deed.OrderStatus{State: deed.OrderParked}, nil
	case o.state == "done":
		return deed.OrderStatus{State: deed.OrderDone, Created: o.done, Expires: o.done.AddDate(o.Years, 0, 0)}, nil
	}
	return deed.OrderStatus{State: deed.OrderAbsent}, nil
}

// Cancel implements deed.Registrar. It does not meet an order that has not
// arrived.
func (r *registry) Cancel(_ context.Context, reference string) error {
	o := r.orders[reference]
	if o == nil || o.state != "late" && o.state != "parked" && o.state != "cancelled" {
		return deed.Errorf(deed.CodeNotFound, "there is nothing to take back")
	}
	o.state = "cancelled"
	return nil
}
