package sim

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// errFunds is the reply of a registry where our account is empty.
var errFunds = fmt.Errorf("2104: %w", registrar.ErrFunds)

// place sends an order, as a backend does that knows it by the state of the name.
func (r *outsideModel) place(o registrar.Order, left time.Duration) error {
	if r.w.fault(3) {
		r.w.tick(time.Duration(r.w.rng.IntN(int(left/time.Second)+1)) * time.Second)
	}
	if err := r.silent(); err != nil {
		return err
	}
	if o.Kind == registrar.OrderRenew {
		e := r.entries[o.Name]
		if !r.ours(o.Name) {
			return deed.Errorf(deed.CodeNotFound, "%s is not in our account", o.Name)
		}
		if st, err := r.renewalStatus(o, e); err != nil || st.State == registrar.OrderDone {
			return err // it is done, or the registry has added the years by itself
		}
		for o.Years > 1 && r.autoRenew && !e.Expires.Equal(o.From) {
			o.From, o.Years = o.From.AddDate(1, 0, 0), o.Years-1
		}
	}
	n := &sentOrder{Placement: registry.Placement{Order: o, AuthHash: o.AuthCode.Reveal(), Account: us, GraceDays: graceDays}}
	if r.orders[o.Reference] != nil {
		r.w.broken = fmt.Errorf("%s was sent twice", o.Reference)
		return errSilent
	}
	r.orders[o.Reference], r.sent = n, append(r.sent, o.Reference)
	fate := 0
	if r.w.faulty {
		fate = r.w.rng.IntN(20)
	}
	if r.w.faulty && r.slow && fate < 7 {
		fate = 12
	}
	r.w.tell("the outside registry meets %s %s for %s with fate %d", o.Kind, o.Reference, o.Name, fate)
	return r.meetOutside(n, fate)
}

// meetOutside does with an order what its fate is.
func (r *outsideModel) meetOutside(n *sentOrder, fate int) error {
	switch fate {
	case 7:
		n.Placement = n.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the registry refuses"))
		return n.answer()
	case 8, 17: // never arrives, or there is no money for it
		n.State = registry.PlacementCancelled
		return map[bool]error{true: errSilent, false: errFunds}[fate == 8]
	case 11: // still travelling
		n.arrives = r.w.now.Add(time.Duration(1+r.w.rng.IntN(int(order.QuietWindow/time.Second)-1)) * time.Second)
		return errSilent
	case 12, 13: // executed long after we gave it up
		n.late, n.arrives = true, r.w.now.Add(time.Duration(2+r.w.rng.IntN(240))*time.Minute)
		return errSilent
	case 14, 15: // accepted, and decided later: 1001
		if n.Kind != registrar.OrderRegister {
			break
		}
		n.State, n.freed = registry.PlacementParked, r.w.now.Add(time.Duration(1+r.w.rng.IntN(90))*time.Minute)
		if r.w.rng.IntN(4) == 0 {
			n.freed = r.w.now.AddDate(0, 0, 30) // nobody ever decides
		}
		return nil
	case 19:
		n.State = registry.PlacementCancelled
		r.goDown()
		return errDown
	}
	n.State, n.Due = registry.PlacementPlaced, r.now()
	r.run()
	switch {
	case fate == 9:
		return errSilent
	case fate == 10:
		return errNonsense
	case fate == 18:
		r.goDown()
		return errSilent
	case fate == 16 && n.State != registry.PlacementRefused:
		return r.afterDenial(n.Order)
	}
	return n.answer()
}

// afterDenial is what a backend does when the registry refuses what it did: the state of
// the name counts.
func (r *outsideModel) afterDenial(o registrar.Order) error {
	st, err := r.status(o)
	if err != nil {
		return err
	}
	if st.State == registrar.OrderAbsent {
		return lies[o.Kind]
	}
	return nil
}

// outsideCalls is the outside registry, as one process meets it. It implements
// registrar.Registrar.
type outsideCalls struct {
	p *process
	r *outsideModel
}

func (o outsideCalls) Available(_ context.Context, name deed.Name) (registrar.Availability, error) {
	return call(o.p, "Available", func() (registrar.Availability, error) { return o.r.available(name) })
}

func (o outsideCalls) Transferable(_ context.Context, name deed.Name, code deed.Secret) error {
	return act(o.p, "Transferable", func() error { return o.r.transferable(name, code) })
}

func (o outsideCalls) Place(ctx context.Context, order registrar.Order) error {
	deadline := o.p.w.now.Add(callTime)
	if d, ok := ctx.Deadline(); ok {
		deadline = o.p.w.now.Add(time.Until(d).Round(time.Second))
	}
	return act(o.p, "Place "+order.Reference, func() error {
		if o.p.w.now.After(deadline) {
			return context.DeadlineExceeded
		}
		return o.r.place(order, deadline.Sub(o.p.w.now))
	})
}

func (o outsideCalls) Order(_ context.Context, order registrar.Order) (registrar.OrderStatus, error) {
	return call(o.p, "Order "+order.Reference, func() (registrar.OrderStatus, error) { return o.r.status(order) })
}

func (o outsideCalls) Cancel(_ context.Context, order registrar.Order) error {
	return act(o.p, "Cancel "+order.Reference, func() error { return o.r.cancel(order) })
}
