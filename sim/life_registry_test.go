package sim

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// Available implements registrar.Registrar.
func (l *life) Available(context.Context, deed.Name) (a registrar.Availability, err error) {
	err = l.d.ask("Holding", "it is checked", func() {
		if a = (registrar.Availability{Available: true}); l.entry.HeldAt(l.d.now) {
			a = registrar.Availability{Reason: "taken"}
		}
	})
	return a, err
}

// Transferable implements registrar.Registrar.
func (l *life) Transferable(context.Context, deed.Name, deed.Secret) (err error) {
	var refused error
	err = l.d.ask("Holding", "its transfer is checked", func() {
		l.run()
		if !l.entry.HeldAt(l.d.now) || l.entry.Account == us {
			refused = deed.Errorf(deed.CodeNotFound, "%s is not elsewhere", signedName)
		}
	})
	if err == nil {
		err = refused
	}
	return err
}

// Place implements registrar.Registrar.
func (l *life) Place(_ context.Context, o registrar.Order) error {
	var refused error
	err := l.d.ask("Place", fmt.Sprintf("the registry takes %s %s", o.Kind, o.Reference), func() {
		l.run()
		if _, known := l.orders[o.Reference]; !known {
			l.execute(registry.Placement{Order: o, AuthHash: o.AuthCode.Reveal(), Account: us, GraceDays: graceDays, State: registry.PlacementPlaced, Due: l.d.now})
		}
		if p := l.orders[o.Reference]; p.State == registry.PlacementRefused {
			refused = deed.Errorf(p.Refusal, "%s", p.Reason)
		}
	})
	if err == nil {
		err = refused
	}
	return err
}

// Order implements registrar.Registrar.
func (l *life) Order(_ context.Context, o registrar.Order) (s registrar.OrderStatus, err error) {
	err = l.d.ask("Holding", "the order is looked up", func() {
		l.run()
		switch p, known := l.orders[o.Reference]; {
		case !known:
			s.State = registrar.OrderAbsent
		case p.State == registry.PlacementDone:
			s = registrar.OrderStatus{State: registrar.OrderDone, Created: p.Created, Expires: p.Expires}
		case p.State == registry.PlacementPlaced:
			s.State = registrar.OrderPending
		default:
			s.State, s.Refusal = registrar.OrderAbsent, p.Refusal
		}
	})
	return s, err
}

// Cancel implements registrar.Registrar.
func (l *life) Cancel(_ context.Context, o registrar.Order) error {
	none := false
	err := l.d.ask("Holding", "the order is cancelled", func() {
		l.run()
		p := l.orders[o.Reference]
		if none = p.State != registry.PlacementPlaced; !none {
			p.State, l.entry.Transfer = registry.PlacementCancelled, ""
			l.orders[o.Reference] = p
		}
	})
	if err == nil && none {
		err = deed.Errorf(deed.CodeNotFound, "there is no order %s", o.Reference)
	}
	return err
}
