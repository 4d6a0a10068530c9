package registration

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// LateOrderStore stores orders that were refunded and may still be executed.
type LateOrderStore interface {
	// DueLateOrders returns the jobs whose order Advance should be called for now.
	DueLateOrders(ctx context.Context, limit int) ([]string, error)

	// LateOrder returns the order of a failed job, or CodeNotFound.
	LateOrder(ctx context.Context, jobID string) (order.LateOrder, error)

	// MoveLateOrder stores the result of a check, and when to check again; never when
	// next is zero. A name that is being deleted is claimed until it no longer is. It
	// returns false when another process was faster, or when the name to delete is
	// owned or being bought.
	MoveLateOrder(ctx context.Context, l order.LateOrder, to order.LateOrderState, next time.Time) (moved bool, err error)

	// Owned reports whether the name belongs to somebody, or is being bought. For a
	// renewal: whether another order accounts for it.
	Owned(ctx context.Context, l order.LateOrder) (bool, error)
}

// LateOrders looks for orders that a registry executed after their refund. EPP has no
// list of names, so it looks up the names of refunded orders, for order.LateWindow. A
// name that the registry then holds for nobody is reported, and deleted in its add grace
// period if the operator allows that. Fill every field.
type LateOrders struct {
	Store       LateOrderStore
	Backend     func(name string) (registrar.Backend, error)
	Now         func() time.Time // shared by all nodes
	RegistryNow func() time.Time // the registry's clock
	Log         *slog.Logger
}

const (
	addGrace         = 5 * 24 * time.Hour // in which registries return the price of a deleted name (RFC 3915)
	addGraceMargin   = time.Hour          // for the difference of two clocks
	lateRetryDelay   = 10 * time.Minute   // after the registry did not answer
	orphanInterval   = 24 * time.Hour     // between two checks of a name that is not deleted
	deletionInterval = time.Minute        // between two attempts to delete a name
)

// Due returns the orders that Advance should be called for now.
func (o *LateOrders) Due(ctx context.Context, limit int) ([]string, error) {
	return o.Store.DueLateOrders(ctx, limit)
}

// Advance checks one order. It is idempotent and safe for concurrent use. It fails with
// order.Pending while the registry cannot be asked.
func (o *LateOrders) Advance(ctx context.Context, jobID string) error {
	l, err := o.Store.LateOrder(ctx, jobID)
	if err != nil {
		return fmt.Errorf("read the late order of %s: %w", jobID, err)
	}
	b, err := o.Backend(l.Job.Backend)
	if err == nil {
		err = o.advance(ctx, b, l)
	}
	if err == nil {
		return nil
	}
	if _, stored := o.Store.MoveLateOrder(context.WithoutCancel(ctx), l, l.State, o.Now().Add(lateRetryDelay)); stored != nil {
		return fmt.Errorf("postpone the late order of %s: %w", jobID, stored)
	}
	return order.Pending(fmt.Errorf("look for a late order at registrar %s: %w", l.Job.Backend, err))
}

func (o *LateOrders) advance(ctx context.Context, b registrar.Backend, l order.LateOrder) error {
	if l.State == order.LateDeleting {
		return o.remove(ctx, b, l)
	}
	h, held, err := o.executed(ctx, b, l)
	switch {
	case err != nil:
		return err
	case !held && l.State == order.LateHeld:
		l.Detail = "it is no longer held for nobody"
		return o.move(ctx, l, order.LateEnded, time.Time{})
	case !held:
		to, next := order.LateWatching, l.NextCheck(o.Now())
		if next.IsZero() {
			to = order.LateEnded
		}
		return o.move(ctx, l, to, next)
	case l.Job.Purchase.Kind == order.PurchaseRenewal:
		l.Detail = "it expires on " + h.Expires.UTC().Format(time.RFC3339)
		return o.found(ctx, l, order.LateUnpaid, time.Time{})
	}
	deletable, why, err := o.deletable(ctx, b, l, h)
	switch {
	case err != nil:
		return err
	case deletable && l.State == order.LateHeld:
		l.Detail = "it is being deleted"
		return o.move(ctx, l, order.LateDeleting, o.Now())
	}
	l.Detail = why
	next := o.Now().Add(orphanInterval)
	if deletable {
		next = o.Now()
	}
	if l.State == order.LateHeld {
		return o.move(ctx, l, order.LateHeld, next)
	}
	return o.found(ctx, l, order.LateHeld, next)
}

// executed reports whether the registry executed the order and nobody owns the result.
// The registry is asked first: what an order of ours does between the two steps is
// owned or being bought then.
func (o *LateOrders) executed(ctx context.Context, b registrar.Backend, l order.LateOrder) (h lifecycle.Holding, held bool, err error) {
	h, err = b.Manager.Holding(ctx, l.Job.Purchase.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return h, false, nil
	case err != nil:
		return h, false, err
	case ending(h):
		return h, false, nil // somebody has deleted it
	case l.Job.Purchase.Kind == order.PurchaseRenewal && !renewedSince(h, l.Job):
		return h, false, nil
	}
	owned, err := o.Store.Owned(ctx, l)
	return h, !owned, err
}

// ending reports whether the name was deleted, and the registry only keeps it for a
// while.
func ending(h lifecycle.Holding) bool {
	return h.Phase == lifecycle.PhaseRedemption || h.Phase == lifecycle.PhasePendingDelete || h.Phase == lifecycle.PhaseGone
}

// renewedSince reports whether the name has years that the failed renewal would have
// added. Where the registry renews by itself, those do not count.
func renewedSince(h lifecycle.Holding, j order.Job) bool {
	return !j.From.IsZero() && h.Expires.After(j.From.AddDate(j.Purchase.Years, 0, -2))
}

// deletable reports whether the name may be deleted, or why not. Only a name that this
// very order registered is: one that was transferred to us had an owner before.
func (o *LateOrders) deletable(ctx context.Context, b registrar.Backend, l order.LateOrder, h lifecycle.Holding) (bool, string, error) {
	_, deletes := b.Manager.(registrar.Deleter)
	switch {
	case l.Job.Purchase.Kind != order.PurchaseRegistration:
		return false, "it was transferred to us, so it is not deleted: return it to its holder", nil
	case !b.DeleteOrphans:
		return false, "delete_orphans is not set for its registrar, so it is not deleted", nil
	case !deletes:
		return false, "its registrar cannot delete names", nil
	case !o.RegistryNow().Before(h.Created.Add(addGrace - addGraceMargin)):
		return false, "its add grace period is over, so it is not deleted", nil
	}
	s, err := b.Registrar.Order(ctx, orderOf(l.Job, nil))
	if err != nil {
		return false, "", err
	}
	if s.State != registrar.OrderDone {
		return false, "it was not registered with this order, so it is not deleted", nil
	}
	return true, "it can be deleted", nil
}

// remove deletes a name, and looks whether it is gone.
func (o *LateOrders) remove(ctx context.Context, b registrar.Backend, l order.LateOrder) error {
	h, err := b.Manager.Holding(ctx, l.Job.Purchase.Name)
	if deed.CodeOf(err) == deed.CodeNotFound || err == nil && ending(h) {
		l.Detail = "it was deleted in its add grace period"
		o.Log.Info("a name that was held for nobody was deleted", "domain", string(l.Job.Purchase.Name), "registrar", l.Job.Backend)
		return o.move(ctx, l, order.LateDeleted, time.Time{})
	}
	if err != nil {
		return err
	}
	deletable, why, err := o.deletable(ctx, b, l, h)
	if err != nil {
		return err
	}
	if !deletable {
		l.Detail = why
		return o.move(ctx, l, order.LateHeld, o.Now().Add(orphanInterval))
	}
	if err := b.Manager.(registrar.Deleter).Delete(ctx, l.Job.Purchase.Name); err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		o.Log.Warn("a name that is held for nobody could not be deleted", "domain", string(l.Job.Purchase.Name), "registrar", l.Job.Backend, "err", err.Error())
	}
	return o.move(ctx, l, order.LateDeleting, o.Now().Add(deletionInterval)) // the next check tells whether it is gone
}

// found stores that an order was executed after its refund, and reports it once.
func (o *LateOrders) found(ctx context.Context, l order.LateOrder, to order.LateOrderState, next time.Time) error {
	l.Found = o.Now()
	moved, err := o.Store.MoveLateOrder(ctx, l, to, next)
	if err != nil || !moved {
		return err
	}
	o.Log.Error("an order was executed after its refund", "domain", string(l.Job.Purchase.Name), "registrar", l.Job.Backend,
		"kind", string(l.Job.Purchase.Kind), "job", l.Job.PublicID, "refunded", l.Failed.UTC().Format(time.RFC3339), "cause", l.Detail)
	return nil
}

func (o *LateOrders) move(ctx context.Context, l order.LateOrder, to order.LateOrderState, next time.Time) error {
	_, err := o.Store.MoveLateOrder(ctx, l, to, next)
	return err
}
