package epp

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// Order implements registrar.Registrar, by the state of the name.
func (b *Backend) Order(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	o.From = o.From.UTC().Truncate(time.Second)
	st, err := b.lookUp(ctx, o)
	if err != nil {
		return registrar.OrderStatus{}, fmt.Errorf("look up order %s: %w", o.Reference, err)
	}
	return st, nil
}

func (b *Backend) lookUp(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	if o.Kind == registrar.OrderTransfer {
		return b.lookUpTransfer(ctx, o)
	}
	d, err := b.held(ctx, o.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return registrar.OrderStatus{State: registrar.OrderAbsent}, nil
	case err != nil:
		return registrar.OrderStatus{}, uncoded(err)
	case o.Kind == registrar.OrderRenew:
		return b.renewalStatus(d, o)
	}
	st, err := b.registrationStatus(d, o)
	if err == nil && st.State == registrar.OrderDone {
		d = b.lockNew(ctx, d) // the registry may have executed the order late
		if h, err := b.holding(ctx, o.Name, d); err == nil {
			st.Holding = &h
		}
	}
	return st, err
}

// uncoded hides the code of an error that says nothing final about an order.
func uncoded(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s", err.Error())
}

// maxSkew is how far the registry's clock may be behind ours.
const maxSkew = 15 * time.Minute

// registrationStatus returns the state of a registration of a name in our account.
func (b *Backend) registrationStatus(d domain, o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	switch {
	case d.authInfo != "" && d.authInfo != b.authInfo(o):
		return absent, nil // it was bought with another order
	case d.authInfo == "" && (d.creator != "" && !b.isUs(d.creator) || !d.created.IsZero() && d.created.Before(o.Submitted.Add(-maxSkew))):
		return absent, nil // it was in our account before, or came from elsewhere
	case d.has("pendingCreate"):
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	case d.created.IsZero() || !near(d.expires, d.created.AddDate(o.Years, 0, 0)):
		return absent, b.invalidReply("%s was ordered for %d years, created %s and expires %s", d.name, o.Years, d.created, d.expires)
	}
	return registrar.OrderStatus{State: registrar.OrderDone, Created: d.created, Expires: d.expires}, nil
}

// Cancel implements registrar.Registrar. Only a transfer that is pending, and a
// registration that the registry has not decided yet, can be cancelled. A renewal that it
// has not decided yet cannot, so its outcome stays unknown.
func (b *Backend) Cancel(ctx context.Context, o registrar.Order) error {
	if o.Kind == registrar.OrderTransfer {
		return b.cancelTransfer(ctx, o)
	}
	st, err := b.Order(ctx, o)
	if err != nil {
		return err
	}
	switch {
	case st.State != registrar.OrderPending:
		return deed.Errorf(deed.CodeNotFound, "there is no order for %s to cancel", o.Name)
	case o.Kind != registrar.OrderRegister:
		return fmt.Errorf("cancel order %s: the registry has not decided it yet", o.Reference)
	}
	return b.Delete(ctx, o.Name)
}
