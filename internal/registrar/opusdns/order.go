package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// maxYears is the longest term of one order.
const maxYears = 10

// termSlackDays is by how much a new name may expire too early: some registries count
// in months.
const termSlackDays = 32

// A period is a number of years.
type period struct {
	Unit  string `json:"unit"`
	Value int    `json:"value"`
}

func years(n int) period { return period{Unit: "y", Value: n} }

// Place implements registrar.Registrar. An order that was executed before is not
// executed again: the state of the domain object decides after each refusal.
func (b *Backend) Place(ctx context.Context, o registrar.Order) error {
	if o.Submitted.IsZero() {
		return fmt.Errorf("order %s: it does not say when it was submitted", o.Name)
	}
	switch o.Kind {
	case registrar.OrderRegister:
		return b.register(ctx, o)
	case registrar.OrderRenew:
		return b.renew(ctx, o)
	case registrar.OrderTransfer:
		return b.transfer(ctx, o)
	}
	return deed.Errorf(deed.CodeRegistrationFailed, "the registrar does not support orders of kind %q", o.Kind)
}

// Order implements registrar.Registrar.
func (b *Backend) Order(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	d, err := b.domain(ctx, orderLane, o.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return registrar.OrderStatus{State: registrar.OrderAbsent}, nil
	case err != nil:
		return registrar.OrderStatus{}, err
	}
	s, err := b.status(d, o)
	if s.State == registrar.OrderDone && o.Kind != registrar.OrderRenew {
		b.protect(ctx, d, o)
	}
	return s, err
}

// protect locks a name that is new in the account, and replaces the code of a transfer: the
// last holder knows it, and could transfer the name away. The order is done whether or not
// that works, and the owner sees the lock as it is.
func (b *Backend) protect(ctx context.Context, d domain, o registrar.Order) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if o.Kind == registrar.OrderTransfer && d.code != "" && d.code == o.AuthCode {
		_, _ = b.AuthCode(ctx, d.name)
	}
	if !d.locked {
		_ = b.setStatus(ctx, d.name, transferLock, true)
	}
}

// status returns the state of the order, by the domain object.
func (b *Backend) status(d domain, o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	if o.Kind == registrar.OrderRenew {
		return renewalStatus(d, o), nil
	}
	made, err := b.madeBy(d, o)
	switch {
	case err != nil:
		return registrar.OrderStatus{}, err
	case !made:
		return absent, nil
	case d.failed():
		absent.Refusal = deed.CodeRegistrationFailed
		return absent, nil
	case d.ending():
		return absent, nil
	case d.has("pendingCreate"), d.has("pendingTransfer"):
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	case d.expires.IsZero():
		return registrar.OrderStatus{}, fmt.Errorf("look up %s: the vendor does not say when it expires", d.name)
	case o.Kind == registrar.OrderRegister && d.expires.Before(d.start().AddDate(o.Years, 0, -termSlackDays)):
		b.warn(warnReplies, "a name was registered for fewer years than were ordered: "+string(d.name))
		return registrar.OrderStatus{}, fmt.Errorf("look up %s: it expires on %s, before %d years are over", d.name, d.expires.Format(time.DateOnly), o.Years)
	}
	return registrar.OrderStatus{State: registrar.OrderDone, Created: d.start(), Expires: d.expires}, nil
}

// madeBy reports whether the order made the domain object: it has the auth code of
// the order, or no code of any order and was created after the order was submitted.
// The clocks of both sides may differ.
func (b *Backend) madeBy(d domain, o registrar.Order) (bool, error) {
	if this, another := b.orderOf(d.code, o); this || another {
		return this, nil
	}
	created := d.created
	if created.IsZero() {
		created = d.registered
	}
	if created.IsZero() || o.Submitted.IsZero() {
		return false, fmt.Errorf("look up %s: it is not known when it was created, or ordered", d.name)
	}
	return !created.Before(o.Submitted.Truncate(time.Second).Add(-b.config.ClockSkew)), nil
}

// executed reports whether the order was executed, or is pending. It is asked after
// a refusal: an order that was placed before is refused the second time.
func (b *Backend) executed(ctx context.Context, o registrar.Order) (bool, error) {
	s, err := b.Order(ctx, o)
	return s.State == registrar.OrderDone || s.State == registrar.OrderPending, err
}

// Cancel implements registrar.Registrar. Only a transfer can be cancelled; one of
// which there is nothing left has been. A registration that is pending at the registry
// cannot, so its outcome stays unknown.
func (b *Backend) Cancel(ctx context.Context, o registrar.Order) error {
	nothing := deed.Errorf(deed.CodeNotFound, "there is no order for %s to cancel", o.Name)
	s, err := b.Order(ctx, o)
	switch {
	case err != nil:
		return err
	case s.State == registrar.OrderAbsent && o.Kind == registrar.OrderTransfer:
		return nil
	case s.State != registrar.OrderPending:
		return nothing
	case o.Kind != registrar.OrderTransfer:
		return fmt.Errorf("cancel the order for %s: the registry is still executing it", o.Name)
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodDelete, path: domainPath(o.Name) + "/transfer"}, nil)
	if p := refusal(err); p != nil && p.is(codeDomainNotFound) {
		return nothing
	}
	if err != nil {
		return b.unknown("cancel the transfer of "+string(o.Name), err)
	}
	return nil
}
