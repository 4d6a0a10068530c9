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
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// outsideEnds are the ends that a run of many seeds with an outside registry must meet.
// Names that are deleted at the end of their life are not among them: the registry's clock
// jumps too seldom here (see mayJump). TestSimulation has them.
var outsideEnds = []string{
	"registration consumed", "registration refunded", "renewal consumed", "renewal refunded", "transfer consumed", "transfer refunded",
	"handed over", "late order held", "late order deleting", "late order unpaid", "deleted in add grace", "renewed by the registry",
}

// checkOutside compares what the outside registry did with what we were paid for.
// Whatever it executed in time has the money of one payer, which does not go back. What
// it executed after we gave it up is watched.
func (w *world) checkOutside(paid paid) error {
	for _, o := range w.registry.done {
		if o.Account != us {
			continue
		}
		p := paid.of(o.Reference)
		if u := w.chain.final().used[keyOf(p.Auth)]; !u.paid || u.amount != cost(p.Purchase) {
			return fmt.Errorf("%s of %s was ordered unpaid, for %s", o.Kind, o.Name, p.ID)
		}
		if !p.State.Refunds() {
			continue
		}
		if !o.late {
			return fmt.Errorf("%s of %s was delivered under %s, and %s is %s", o.Kind, o.Name, o.Reference, p.ID, p.State)
		}
		if _, err := w.lateOrder(order.JobID(p.ID)); err != nil {
			return fmt.Errorf("%s was executed after its refund, and nobody looks for it: %w", o.Reference, err)
		}
	}
	for _, a := range w.signed {
		if p := paid[order.JobID(id(a))]; p.State == order.PaymentConsumed && p.Purchase.Kind != order.PurchaseRenewal && !w.delivered(p) {
			return fmt.Errorf("%s is consumed, and the registry never made %s of %s", p.ID, p.Purchase.Kind, p.Purchase.Name)
		}
	}
	renewals := w.completedRenewals(paid)
	for _, name := range slices.Concat(w.names, w.away) {
		if r, err := w.registration(name); err == nil && w.registry.ours(name) {
			if err := w.checkYears(r, renewals[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) lateOrder(job string) (order.LateOrder, error) {
	return sqldb.LateOrders{DB: w.db, Now: func() time.Time { return w.now }}.LateOrder(context.Background(), job)
}

// delivered says whether the registry made what the payment bought. Where codes are not
// shown, a name may come from another order of ours that was refunded.
func (w *world) delivered(p order.Payment) bool {
	return slices.ContainsFunc(w.registry.done, func(o *sentOrder) bool {
		same := order.JobOfReference(o.Reference) == order.JobID(p.ID)
		other := w.outside.hidesCodes && o.late || o.Kind == registrar.OrderTransfer
		return o.Account == us && o.Kind != registrar.OrderRenew && o.Name == p.Purchase.Name && (same || other)
	})
}

// checkYears says whether a name has more years than were paid for, or fewer. Each
// renewal begins where the one before it ends: one that was delivered, one that was
// executed and is being looked up, or one that was executed after its refund, whose owner
// keeps the years unless the registry renews by itself.
func (w *world) checkYears(r lifecycle.Registration, paid map[time.Time]time.Time) error {
	life := w.life(r.Name)
	if life == nil {
		return fmt.Errorf("%s is ours, and nothing was executed for it", r.Name)
	}
	until, executed := life.Expires.UTC(), w.registry.done[slices.Index(w.registry.done, life)+1:]
	if life.Kind == registrar.OrderRegister {
		until = life.Created.UTC().AddDate(life.Years, 0, 0)
	}
	told := until
	for range 20 {
		next, delivered := paid[until]
		if !delivered && !w.outside.autoRenew {
			for _, o := range executed {
				if o.Kind == registrar.OrderRenew && o.Name == r.Name && o.Account == us && o.From.Equal(until) {
					next = until.AddDate(o.Years, 0, 0)
				}
			}
		}
		if next.IsZero() {
			break
		}
		if until = next; delivered {
			told = until
		}
	}
	if r.Expires.Before(told) || r.Expires.After(until) {
		return fmt.Errorf("we say that %s expires at %s: %s was paid for, and %s was executed", r.Name, r.Expires, told, until)
	}
	return nil
}

// life returns the order that brought us a name that is ours.
func (w *world) life(name deed.Name) (last *sentOrder) {
	for _, o := range w.registry.done {
		if o.Name == name && o.Kind != registrar.OrderRenew {
			last = o
		}
	}
	return last
}

// completedRenewals returns the renewals that were delivered: when each began and ended,
// by name.
func (w *world) completedRenewals(paid paid) map[deed.Name]map[time.Time]time.Time {
	all := map[deed.Name]map[time.Time]time.Time{}
	for id, p := range paid {
		if p.Purchase.Kind != order.PurchaseRenewal || p.State != order.PaymentConsumed {
			continue
		}
		j, err := sqldb.Jobs{DB: w.db}.Job(context.Background(), id)
		if err != nil {
			continue // it is checked again at the end
		}
		if all[j.Purchase.Name] == nil {
			all[j.Purchase.Name] = map[time.Time]time.Time{}
		}
		all[j.Purchase.Name][j.From.UTC()] = j.Until.UTC()
	}
	return all
}

// mayDelete says what is wrong with the deletion of a name.
func (w *world) mayDelete(name deed.Name) error {
	r, err := w.registration(name)
	switch {
	case err == nil && w.registry.now().Before(r.Expires.AddDate(0, 0, graceDays)):
		return fmt.Errorf("%s of %s is deleted", name, r.Owner)
	case err != nil && !w.outside.deletes:
		return fmt.Errorf("%s is deleted, which is not allowed", name)
	case err != nil && w.life(name) != nil && w.life(name).Kind == registrar.OrderTransfer && w.registry.ours(name):
		return fmt.Errorf("%s is deleted, and was transferred to us", name)
	case err != nil && !w.registry.now().Before(w.registry.entries[name].Created.AddDate(0, 0, registry.AddGraceDays)) && w.registry.ours(name):
		return fmt.Errorf("%s is deleted after its add grace period", name)
	}
	return nil
}

// checkOutsideRest compares the names we say we hold with those that the outside
// registry holds for us: one that belongs to nobody was reported.
func (w *world) checkOutsideRest() error {
	for _, name := range slices.Concat(w.names, w.away) {
		e := w.registry.entries[name]
		r, err := w.registration(name)
		switch ours := w.registry.ours(name); {
		case ours && err != nil && !w.reported(name) && !w.doneBefore(e.Reference) && e.Phase(w.registry.now()) != lifecycle.PhaseRedemption && e.Phase(w.registry.now()) != lifecycle.PhasePendingDelete:
			return fmt.Errorf("%s is ours under %s and belongs to nobody, and nobody was told: %w", name, e.Reference, err)
		case ours && err == nil && !w.outside.autoRenew && !r.Expires.Equal(e.Expires):
			return fmt.Errorf("we say that %s expires at %s, the registry says %s", name, r.Expires, e.Expires)
		case !ours && err == nil && r.Status != lifecycle.StatusSuspended:
			return fmt.Errorf("%s is %s in our books, and not ours", name, r.Status)
		case ours && err == nil:
			if err := checkSame(r, e); err != nil {
				return err
			}
		}
	}
	return errors.Join(w.checkUnpaid(), w.checkReports())
}

// doneBefore says whether another attempt of the order was executed before: the name has
// ended since, because the registry's clock jumped by years while this attempt was under
// way.
func (w *world) doneBefore(reference string) bool {
	return slices.ContainsFunc(w.registry.done, func(o *sentOrder) bool {
		return o.Reference != reference && order.JobOfReference(o.Reference) == order.JobOfReference(reference)
	})
}

// checkReports says what an operator was told without need: of a name that has an owner,
// or of a renewal that was never executed. Renewals from the same expiry cannot be told
// apart by the name's state: one of them is reported.
func (w *world) checkReports() error {
	renewals := map[string]int{} // by name and expiry: how many are reported
	for _, a := range w.signed {
		l, err := w.lateOrder(order.JobID(id(a)))
		if deed.CodeOf(err) == deed.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if l.State == order.LateUnpaid {
			renewals[fmt.Sprint(l.Job.Purchase.Name, l.Job.From.Unix())]++
		}
		executed := slices.ContainsFunc(w.registry.done, func(o *sentOrder) bool {
			return o.Account == us && o.Kind == registrar.OrderRenew && o.Name == l.Job.Purchase.Name && o.From.Equal(l.Job.From)
		})
		switch name := l.Job.Purchase.Name; {
		case l.Orphan() && w.owned(name):
			return fmt.Errorf("%s has an owner, and is reported as held for nobody", name)
		case l.State == order.LateUnpaid && !executed:
			return fmt.Errorf("the renewal of %s is reported as executed after its refund, and never was", name)
		case renewals[fmt.Sprint(name, l.Job.From.Unix())] > 1:
			return fmt.Errorf("the renewal of %s from %s is reported twice", name, l.Job.From)
		}
	}
	return nil
}

// reported says whether an operator knows of a name that belongs to nobody.
func (w *world) reported(name deed.Name) bool {
	all, err := sqldb.LateOrders{DB: w.db, Now: func() time.Time { return w.now.AddDate(1, 0, 0) }}.Orphans(context.Background())
	return err == nil && slices.ContainsFunc(all, func(l order.LateOrder) bool { return l.Job.Purchase.Name == name })
}

// reportedRenewal says whether an operator knows of a renewal from the same expiry that
// was executed after its refund.
func (w *world) reportedRenewal(o *sentOrder) bool {
	return slices.ContainsFunc(w.signed, func(a settle.Authorization) bool {
		l, err := w.lateOrder(order.JobID(id(a)))
		return err == nil && l.State == order.LateUnpaid && l.Job.Purchase.Name == o.Name && l.Job.From.Equal(o.From)
	})
}

// checkUnpaid says which renewal was executed after its refund without a report, while
// its years are the owner's.
func (w *world) checkUnpaid() error {
	if w.outside.autoRenew {
		return nil
	}
	paid := paid{}
	for _, a := range w.signed {
		if p, err := w.payment(id(a)); err == nil {
			paid[order.JobID(p.ID)] = p
		}
	}
	renewals := w.completedRenewals(paid)
	for i, o := range w.registry.done {
		job := order.JobOfReference(o.Reference)
		l, err := w.lateOrder(job)
		if o.Account != us || o.Kind != registrar.OrderRenew || deed.CodeOf(err) == deed.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		_, accounted := renewals[o.Name][o.From.UTC()]
		living := w.registry.ours(o.Name) && w.life(o.Name) != nil && slices.Index(w.registry.done, w.life(o.Name)) < i
		if living && !accounted && !w.reportedRenewal(o) {
			return fmt.Errorf("%s was executed after its refund, and is %s", o.Reference, l.State)
		}
	}
	return nil
}
