package sim

import (
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// us is our account at the registry, and them the account of all others.
const (
	us   = "us"
	them = "them"
)

// code is what moves a name that is elsewhere.
const code = "open sesame"

// A sentOrder is one that was sent to the registry. Until it arrives it has no
// state there.
type sentOrder struct {
	registry.Placement
	arrives  time.Time // by the world's time
	freed    time.Time // likewise: when a person lets a parked order go on
	shows    time.Time // likewise: a look-up finds it from then on
	objected bool      // a transfer that the other side stops when it is due
	late     bool      // an outside registry may execute it after we gave it up
}

// open says whether the order may still be executed.
func (o *sentOrder) open() bool {
	return o.State == "" || o.State == registry.PlacementPlaced || o.State == registry.PlacementParked
}

// A registryModel keeps names by the rules of the ground floor, and is behind a
// registrar.Registrar with every fault that one may have by its contract, and one
// more: it refuses what it has just done. It survives every crash of ours. Its
// own clock jumps.
type registryModel struct {
	w       *world
	ahead   time.Duration // of the world's time
	entries map[deed.Name]registry.Entry
	orders  map[string]*sentOrder
	sent    []string     // references, in the order they came
	done    []*sentOrder // in the order they were executed
	leaving int          // transfers that others asked for
	codes   int          // that were made for moving names
	parking bool         // every order waits for a person
}

func newRegistry(w *world) *registryModel {
	r := &registryModel{w: w, entries: map[deed.Name]registry.Entry{}, orders: map[string]*sentOrder{}}
	for _, name := range w.away {
		r.entries[name] = registry.Entry{
			Name: name, Reference: them, Account: them, Created: w.now.AddDate(-1, 0, 0), Expires: w.now.AddDate(0, 2+w.rng.IntN(20), 0),
			GraceDays: graceDays, AuthHash: code, Nameservers: ourServers,
		}
	}
	return r
}

// now is the registry's own clock.
func (r *registryModel) now() time.Time { return r.w.now.Add(r.ahead) }

// jump moves the registry's own clock. An operator finishes a restore before days
// have passed, and nobody waits years for a cancellation.
func (r *registryModel) jump() {
	if lost, err := r.w.lost(); err != nil || r.w.restored && lost > 0 {
		r.w.finish(r.w.procs[0])
		return
	}
	days := 1 + r.w.rng.IntN(6)
	switch long := r.w.rng.IntN(6); {
	case long == 0:
		days = 25 + r.w.rng.IntN(40)
	case long == 1 && !r.w.cancels.waiting():
		days = 300 + r.w.rng.IntN(100)
	}
	r.ahead += time.Duration(days) * 24 * time.Hour
	r.w.tell("the registry's clock jumps by %d days", days)
	r.w.dirty = true
	r.run()
}

// run executes what is due, in the order it became due.
func (r *registryModel) run() {
	for _, ref := range r.sent {
		o := r.orders[ref]
		arrived := o.State == "" && !r.w.now.Before(o.arrives)
		if arrived || o.State == registry.PlacementParked && !r.w.now.Before(o.freed) {
			o.State, o.Due = registry.PlacementPlaced, r.now()
		}
	}
	for o := r.next(); o != nil; o = r.next() {
		r.execute(o)
	}
	if r.w.outside != nil {
		r.w.outside.renewExpired()
	}
	if r.w.cancels != nil {
		r.w.cancels.run()
	}
}

// next returns the order that is due first.
func (r *registryModel) next() (first *sentOrder) {
	for _, ref := range r.sent {
		o := r.orders[ref]
		if o.State == registry.PlacementPlaced && !r.now().Before(o.Due) && (first == nil || o.Due.Before(first.Due)) {
			first = o
		}
	}
	return first
}

func (r *registryModel) execute(o *sentOrder) {
	r.w.dirty = true
	accepted, e := o.Pending(), r.entries[o.Name]
	if accepted && o.objected {
		o.Placement, e.Transfer = o.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the holder objects")), ""
	} else {
		o.Placement, e = o.Execute(e)
	}
	if o.State == registry.PlacementDone {
		r.done = append(r.done, o)
		if o.Account == them {
			e.AuthHash, e.Locked = code, false
		}
	}
	r.entries[o.Name] = e
	r.w.tell("the registry makes %s %s of %s: %s %s", o.Kind, o.Reference, o.Name, o.State, o.Reason)
	if !accepted && o.Pending() {
		r.decide(o)
	}
}

// decide says what the other side makes of a transfer.
func (r *registryModel) decide(o *sentOrder) {
	switch r.w.rng.IntN(5) {
	case 0:
		o.objected, o.Due = true, o.Accepted.AddDate(0, 0, 1+r.w.rng.IntN(4))
	case 1:
		o.Due = o.Due.AddDate(0, 0, 5) // later than we wait
	}
}

// ours says whether the name is in our account.
func (r *registryModel) ours(name deed.Name) bool { return r.entries[name].HeldBy(us, r.now()) }

// outbuy lets somebody else buy a name elsewhere.
func (r *registryModel) outbuy(name deed.Name) {
	if r.entries[name].HeldAt(r.now()) {
		return
	}
	r.entries[name] = registry.Entry{Name: name, Reference: them, Account: them, Created: r.now(), Expires: r.now().AddDate(1, 0, 0), GraceDays: graceDays, AuthHash: code}
	r.w.tell("an outsider buys %s", name)
}

// leave begins to move a name of ours to another registrar.
func (r *registryModel) leave(name deed.Name) {
	e := r.entries[name]
	if !r.ours(name) || e.Transfer != "" || r.w.cancels != nil && e.Locked || r.now().AddDate(0, 0, registry.TransferDays).After(e.Expires) {
		return
	}
	r.leaving++
	o := &sentOrder{Placement: registry.Placement{
		Order:   registrar.Order{Kind: registrar.OrderTransfer, Reference: fmt.Sprintf("%s-%d", them, r.leaving), Name: name, Years: 1},
		Account: them, GraceDays: graceDays, State: registry.PlacementPlaced, Accepted: r.now(), Due: r.now().AddDate(0, 0, registry.TransferDays),
	}}
	if r.w.cancels != nil && r.w.rng.IntN(2) == 0 { // some registries let nobody wait
		o.Due = r.now().Add(time.Duration(r.w.rng.IntN(40)) * time.Second)
	}
	e.Transfer = o.Reference
	r.entries[name], r.orders[o.Reference], r.sent = e, o, append(r.sent, o.Reference)
	r.w.tell("%s begins to leave us", name)
}

// pending counts the transfers to us that wait for the other side.
func (r *registryModel) pending() (n int) {
	for _, o := range r.orders {
		if o.Account == us && o.Pending() {
			n++
		}
	}
	return n
}

// idle says whether no order of ours is under way.
func (r *registryModel) idle() bool {
	return !slices.ContainsFunc(r.sent, func(ref string) bool { return r.orders[ref].Account == us && r.orders[ref].open() })
}
