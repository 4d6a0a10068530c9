package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/sqldb"
)

var (
	errDown     = errors.New("the registry cannot be reached")
	errNonsense = errors.New("the reply makes no sense")
)

// An outsideModel is a registry like one that is reached over EPP. It has no references:
// an order is known by the state of its name, and none can be taken back but one that it
// has accepted and not decided. It is down for hours, loses replies, answers nonsense,
// refuses what it did, is out of our money, decides later, and executes an order long
// after we gave it up. Some of them renew names by themselves, and some do not show the
// code that tells two orders of one name apart.
type outsideModel struct {
	*registryModel
	autoRenew  bool
	hidesCodes bool
	deletes    bool // we may delete names that belong to nobody
	slow       bool // many orders are executed late
	down       time.Time
	added      map[deed.Name]int // years that it added by itself
}

func newOutside(w *world) *outsideModel {
	r := &outsideModel{registryModel: w.registry, added: map[deed.Name]int{}}
	r.autoRenew, r.hidesCodes, r.deletes, r.slow = w.rng.IntN(3) == 0, w.rng.IntN(4) == 0, w.rng.IntN(2) == 0, w.rng.IntN(2) == 0
	w.tell("the registry is outside: it renews %t, hides codes %t, is slow %t, and we may delete %t", r.autoRenew, r.hidesCodes, r.slow, r.deletes)
	return r
}

// mayJump says whether the registry's clock may jump: not where orders are known by their
// time, and not while one is under way, since none takes as long as a name lives.
func (r *outsideModel) mayJump() bool {
	jobs, err := sqldb.Jobs{DB: r.w.db}.Unfinished(context.Background())
	busy := slices.ContainsFunc(jobs, func(j order.Job) bool { return j.State != order.JobAwaitingPayment })
	return err == nil && !busy && !r.hidesCodes
}

// owned says whether a name has an owner, who alone can move it to another registrar.
func (w *world) owned(name deed.Name) bool {
	_, err := w.registration(name)
	return err == nil
}

// silent says why the registry does not answer now, if it does not.
func (r *outsideModel) silent() error {
	switch {
	case r.w.faulty && r.w.now.Before(r.down):
		return errDown
	case r.w.fault(25):
		return errSilent
	case r.w.fault(40):
		return errNonsense
	case r.w.fault(300):
		r.goDown()
		return errDown
	}
	return nil
}

// goDown begins an outage.
func (r *outsideModel) goDown() {
	if r.w.faulty {
		r.down = r.w.now.Add(time.Duration(5+r.w.rng.IntN(120)) * time.Minute)
		r.w.tell("the registry is down for %s", r.down.Sub(r.w.now))
	}
}

// renewExpired renews names of ours that have expired, where the registry does that.
func (r *outsideModel) renewExpired() {
	if !r.autoRenew {
		return
	}
	for _, name := range slices.Concat(r.w.names, r.w.away) {
		for e := r.entries[name]; e.Account == us && e.Reference != "" && e.Transfer == "" && !r.now().Before(e.Expires); {
			e.Expires = e.Expires.AddDate(1, 0, 0)
			r.entries[name] = e
			r.added[name]++
			r.w.ends["renewed by the registry"]++
			r.w.tell("the registry renews %s until %s", name, e.Expires)
		}
	}
}

func (r *outsideModel) available(name deed.Name) (registrar.Availability, error) {
	if err := r.silent(); err != nil {
		return registrar.Availability{}, err
	}
	return r.Available(context.Background(), name)
}

func (r *outsideModel) transferable(name deed.Name, code deed.Secret) error {
	if err := r.silent(); err != nil {
		return err
	}
	return r.Transferable(context.Background(), name, code)
}

// holding is what the registry has. Where it renews by itself, the years that it added
// are not the owner's.
func (r *outsideModel) holding(name deed.Name) (lifecycle.Holding, error) {
	if err := r.silent(); err != nil {
		return lifecycle.Holding{}, err
	}
	if !r.ours(name) {
		return lifecycle.Holding{}, deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	h := r.entries[name].Holding(r.now())
	h.Reference = ""
	row, err := r.w.registration(name)
	if !r.autoRenew || err != nil || !h.Expires.After(row.Expires) {
		return h, nil
	}
	h.Expires, h.Phase = row.Expires, lifecycle.PhaseActive
	if !r.now().Before(h.Expires) {
		h.Phase = lifecycle.PhaseGrace
	}
	return h, nil
}

// delete deletes a name: in its add grace period at once, later it begins redemption.
func (r *outsideModel) delete(name deed.Name) error {
	if err := r.silent(); err != nil {
		return err
	}
	if !r.ours(name) {
		return deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
	}
	e := r.entries[name]
	if r.now().Before(e.Created.AddDate(0, 0, registry.AddGraceDays)) {
		delete(r.entries, name)
		r.w.ends["deleted in add grace"]++
	} else {
		e.Expires, e.GraceDays = r.now(), 0
		r.entries[name] = e
	}
	r.w.tell("the registry deletes %s", name)
	r.w.dirty = true
	return nil
}

// status is the state of an order, by the state of its name.
func (r *outsideModel) status(o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	if err := r.silent(); err != nil {
		return absent, err
	}
	if r.undecided(o) != nil {
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	}
	e := r.entries[o.Name]
	done := registrar.OrderStatus{State: registrar.OrderDone, Created: e.Created, Expires: e.Expires}
	switch {
	case o.Kind == registrar.OrderTransfer && r.rejected(o):
		absent.Refusal = deed.CodeRegistrationFailed
		return absent, nil
	case !r.ours(o.Name):
		return absent, nil
	case o.Kind == registrar.OrderRenew:
		return r.renewalStatus(o, e)
	case o.Kind == registrar.OrderTransfer && !e.Moved.Before(o.Submitted.Add(-15*time.Minute)):
		return done, nil
	case o.Kind == registrar.OrderRegister && r.madeBy(o, e):
		done.Expires = e.Created.AddDate(o.Years, 0, 0) // without what it added by itself
		return done, nil
	}
	return absent, nil
}

// madeBy says whether a name of ours was registered with the order: it has the code that
// was set for it, or, where codes are not shown, is young enough.
func (r *outsideModel) madeBy(o registrar.Order, e registry.Entry) bool {
	if r.hidesCodes {
		return e.Moved.IsZero() && !e.Created.Before(o.Submitted.Add(-15*time.Minute))
	}
	return e.AuthHash == "" && order.JobOfReference(e.Reference) == order.JobOfReference(o.Reference)
}

func (r *outsideModel) renewalStatus(o registrar.Order, e registry.Entry) (registrar.OrderStatus, error) {
	want, phase := o.From.AddDate(o.Years, 0, 0), e.Phase(r.now())
	ending := phase == lifecycle.PhaseRedemption || phase == lifecycle.PhasePendingDelete
	if o.From.IsZero() || ending || !e.Expires.Equal(want) && !(r.autoRenew && e.Expires.After(want)) {
		return registrar.OrderStatus{State: registrar.OrderAbsent}, nil
	}
	return registrar.OrderStatus{State: registrar.OrderDone, Created: e.Created, Expires: want}, nil
}

// undecided returns an order of ours for the name that the registry has accepted and not
// decided yet.
func (r *outsideModel) undecided(o registrar.Order) *sentOrder {
	for _, ref := range r.sent {
		s := r.orders[ref]
		if s.Account == us && s.Name == o.Name && s.Kind == o.Kind && (s.Pending() || s.State == registry.PlacementParked) {
			return s
		}
	}
	return nil
}

// rejected says whether the other side has objected to this transfer.
func (r *outsideModel) rejected(o registrar.Order) bool {
	s := r.orders[o.Reference]
	return s != nil && s.objected && s.State == registry.PlacementRefused
}

// cancel takes back what the registry has not decided.
func (r *outsideModel) cancel(o registrar.Order) error {
	if err := r.silent(); err != nil {
		return err
	}
	s := r.undecided(o)
	if s == nil {
		return deed.Errorf(deed.CodeNotFound, "there is nothing to take back")
	}
	return r.Cancel(context.Background(), s.Order)
}
