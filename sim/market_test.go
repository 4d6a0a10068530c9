package sim

import (
	"context"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
)

// nameStore is the names we hold, as one process meets them.
type nameStore struct {
	p *process
	s sqldb.Registrations
}

func (s nameStore) Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error) {
	return call(s.p, "Registration", func() (lifecycle.Registration, error) { return s.s.Registration(ctx, name) })
}

func (s nameStore) Taken(ctx context.Context, names []deed.Name, buyer deed.Wallet) ([]deed.Name, error) {
	return call(s.p, "Taken", func() ([]deed.Name, error) { return s.s.Taken(ctx, names, buyer) })
}

func (s nameStore) Events(ctx context.Context, is lifecycle.Registration) ([]lifecycle.Event, error) {
	return call(s.p, "Events", func() ([]lifecycle.Event, error) { return s.s.Events(ctx, is) })
}

func (s nameStore) LastEvent(ctx context.Context, reference string, types ...lifecycle.EventType) (time.Time, error) {
	return call(s.p, "LastEvent", func() (time.Time, error) { return s.s.LastEvent(ctx, reference, types...) })
}

func (s nameStore) CountActions(ctx context.Context, reference string) (int, error) {
	return call(s.p, "CountActions", func() (int, error) { return s.s.CountActions(ctx, reference) })
}

func (s nameStore) CompareSoon(ctx context.Context, name deed.Name) error {
	return act(s.p, "CompareSoon "+string(name), func() error { return s.s.CompareSoon(ctx, name) })
}

func (s nameStore) RecordAction(ctx context.Context, is lifecycle.Registration, a lifecycle.OwnerAction) error {
	return act(s.p, "RecordAction "+string(a.Kind), func() error {
		err := s.s.RecordAction(ctx, is, a)
		if err == nil && a.Kind == lifecycle.ActionHandover {
			s.p.w.handedOver(is)
		}
		return err
	})
}

func (s nameStore) HasOpenOrder(ctx context.Context, name deed.Name) (bool, error) {
	return call(s.p, "HasOpenOrder", func() (bool, error) { return s.s.HasOpenOrder(ctx, name) })
}

func (s nameStore) DueNames(ctx context.Context, backend string, most int) ([]string, error) {
	return call(s.p, "DueNames", func() ([]string, error) { return s.s.DueNames(ctx, backend, most) })
}

func (s nameStore) UpdateRegistration(ctx context.Context, was, is lifecycle.Registration, events []lifecycle.Event, next time.Time) (bool, error) {
	return call(s.p, "UpdateRegistration", func() (bool, error) { return s.s.UpdateRegistration(ctx, was, is, events, next) })
}

func (s nameStore) EndRegistration(ctx context.Context, was lifecycle.Registration, reason string, events []lifecycle.Event) error {
	s.p.w.ends[reason]++
	return act(s.p, "EndRegistration "+reason, func() error { return s.s.EndRegistration(ctx, was, reason, events) })
}

// registrarCalls is the registry that sells, as one process meets it.
type registrarCalls struct {
	p *process
	r *registryModel
}

func (o registrarCalls) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	return call(o.p, "Available", func() (registrar.Availability, error) { return o.r.Available(ctx, name) })
}

func (o registrarCalls) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	return act(o.p, "Transferable", func() error { return o.r.Transferable(ctx, name, code) })
}

// Place is not sent when its process slept past the deadline of the call:
// the context has ended then. Contexts know real time only, so the deadline is
// carried over to the clock of the world.
func (o registrarCalls) Place(ctx context.Context, order registrar.Order) error {
	deadline := o.p.w.now.Add(callTime)
	if d, ok := ctx.Deadline(); ok {
		deadline = o.p.w.now.Add(time.Until(d).Round(time.Second))
	}
	return act(o.p, "Place "+order.Reference, func() error {
		if o.p.w.now.After(deadline) {
			return context.DeadlineExceeded
		}
		return o.r.Place(order, deadline.Sub(o.p.w.now))
	})
}

func (o registrarCalls) Order(ctx context.Context, order registrar.Order) (registrar.OrderStatus, error) {
	return call(o.p, "Order "+order.Reference, func() (registrar.OrderStatus, error) { return o.r.Order(ctx, order) })
}

func (o registrarCalls) FindOrder(ctx context.Context, reference string) (registrar.Order, error) {
	return call(o.p, "FindOrder "+reference, func() (registrar.Order, error) { return o.r.FindOrder(ctx, reference) })
}

func (o registrarCalls) Cancel(ctx context.Context, order registrar.Order) error {
	return act(o.p, "Cancel "+order.Reference, func() error { return o.r.Cancel(ctx, order) })
}

// manager is the registry that keeps our names, as one process meets it.
type manager struct {
	p *process
	r *registryModel
}

func (k manager) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	return call(k.p, "Holding", func() (lifecycle.Holding, error) { return k.r.Holding(ctx, name) })
}
