package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A life is what a registry knows of the name of a delegations world, by the rules of the
// embedded one, and what was paid for it.
type life struct {
	d        *delegations
	jobs     sqldb.Jobs
	rows     sqldb.Payments
	entry    registry.Entry
	orders   map[string]registry.Placement
	held     bool // by the registry
	keep     bool // another registrar changes nothing, and nobody objects to a transfer
	paid     int  // payments that were begun
	asked    int  // transfers that others asked for
	payments []string
	known    string // the reference of the record, as it was last seen
}

// newLife gives the name of the world a life.
func newLife(d *delegations) {
	now := func() time.Time { return d.now }
	l := &life{d: d, orders: map[string]registry.Placement{}, known: signedOrder}
	l.jobs, l.rows = sqldb.Jobs{DB: d.db, Now: now, Zones: d.zones}, sqldb.Payments{DB: d.db, ChainID: chainID, Asset: asset, Now: now}
	r, err := d.names.Registration(context.Background(), signedName)
	if err != nil {
		d.broken = err
	}
	years := 1 + d.rng.IntN(2)
	l.entry = registry.Entry{
		Name: signedName, Reference: signedOrder, Account: us, Created: r.Created, Expires: r.Created.AddDate(years, 0, 0), GraceDays: graceDays,
		Locked: d.locked, Nameservers: d.hosts.last().hosts, DS: d.parent.last().ds,
	}
	d.life, d.service.Registrar, d.service.Store = l, l, l.jobs
	d.rows = append(d.rows, dueRow{"advance the orders", func(ctx context.Context) ([]string, error) { return l.jobs.DueJobs(ctx, 4) }, func(ctx context.Context, id string) error {
		j, err := l.jobs.Job(ctx, id)
		if err != nil || j.State.Ended() {
			return err
		}
		return d.service.Advance(ctx, j)
	}})
}

// pay makes a payment and settles it.
func (l *life) pay(ctx context.Context, payer deed.Wallet, p order.Purchase) (order.Payment, error) {
	auth := settle.Authorization{Payer: payer, PayTo: payer, Amount: deed.Cent, Nonce: fmt.Sprint(l.paid + 1)}
	paid, err := l.rows.AuthorizePayment(ctx, order.Payment{ID: auth.PaymentID(chainID, asset), Source: order.SourceX402Exact, Auth: auth, Purchase: p}, sqldbtest.AdmitAll)
	for _, to := range []order.PaymentState{order.PaymentSettling, order.PaymentSettled} {
		if err == nil {
			paid, err = l.rows.MovePayment(ctx, paid, to, "0xfeed")
		}
	}
	return paid, err
}

// executed returns how often the orders of a job were executed.
func (l *life) executed(j order.Job) (n int) {
	for attempt := range j.Attempts {
		if l.orders[order.OrderReference(j.ID, attempt+1)].State == registry.PlacementDone {
			n++
		}
	}
	if n > 0 && j.Purchase.Kind == order.PurchaseRenewal {
		l.d.ends[map[bool]string{true: "restored", false: "renewed"}[j.Purchase.Facts.Restore]]++
	} else if n > 0 {
		l.d.ends[map[order.PurchaseKind]string{order.PurchaseTransfer: "transferred in", order.PurchaseRegistration: "bought again"}[j.Purchase.Kind]]++
	}
	return n
}

// run executes the transfers that are due, and publishes the name.
func (l *life) run() {
	for _, ref := range l.references() {
		if o := l.orders[ref]; o.State == registry.PlacementPlaced && !l.d.now.Before(o.Due) {
			l.execute(o)
		}
	}
	l.publish()
}

// references returns those of all orders, in the order of the transfers among them.
func (l *life) references() (all []string) {
	for ref := range l.orders {
		all = append(all, ref)
	}
	slices.Sort(all)
	return all
}

func (l *life) execute(o registry.Placement) {
	was := l.entry
	o, l.entry = o.Execute(l.entry)
	l.orders[o.Reference] = o
	l.d.tell("the registry makes %s of %s: %s %s", o.Kind, o.Account, o.State, o.Reason)
	switch {
	case l.entry.Account == was.Account || o.State != registry.PlacementDone:
		return
	case o.Account == them:
		l.left()
	case len(l.entry.DS) > 0 && placeOf(l.entry.Nameservers) == "home":
		l.d.forced = l.d.now.Add(forcedFor) // nobody knows what its keys were
	}
	l.publish()
}

// left is what the owner has another registrar do as soon as the name is there.
func (l *life) left() {
	l.d.ends["left"]++
	l.entry.AuthHash, l.entry.Locked = code, false
	if l.keep || l.d.rng.IntN(3) == 0 {
		return
	}
	l.entry.Nameservers, l.entry.DS, l.entry.Glue = places["a"], nil, nil
	if l.d.rng.IntN(2) == 0 {
		l.entry.DS = []dnssec.DS{foreignDS}
	}
	l.d.forced = l.d.now.Add(forcedFor) // it does not wait for the caches
}

// publish publishes the name in the parent zone, as long as it may be.
func (l *life) publish() {
	d := l.d
	p := published{at: d.now}
	if phase := l.entry.Phase(d.now); !l.held && (phase == lifecycle.PhaseActive || phase == lifecycle.PhaseGrace) {
		p.hosts, p.ds = l.entry.Nameservers, l.entry.DS
	}
	if !slices.Equal(p.hosts, d.hosts.last().hosts) {
		d.hosts = append(d.hosts, p)
	}
	if !dnssec.SameDS(p.ds, d.parent.last().ds) {
		d.parent = append(d.parent, p)
	}
}

// hold puts the name on hold, or ends that.
func (l *life) hold() {
	l.held = !l.held
	l.d.tell("on hold: %t", l.held)
	l.run()
}

// askedFor is another registrar that asks for the name. Its holder may object, or approve.
func (l *life) askedFor() {
	l.asked++
	o := registry.Placement{
		Order:   registrar.Order{Kind: registrar.OrderTransfer, Reference: fmt.Sprintf("%s-%d", them, l.asked), Name: signedName, Years: 1},
		Account: them, GraceDays: graceDays, AuthHash: code, State: registry.PlacementPlaced, Due: l.d.now,
	}
	l.execute(o)
	if o = l.orders[o.Reference]; o.Pending() && !l.keep {
		switch l.d.rng.IntN(4) {
		case 0:
			l.orders[o.Reference], l.entry.Transfer = o.Refuse(deed.Errorf(deed.CodeRegistrationFailed, "the holder objects")), ""
		case 1:
			o.Due = l.d.now.Add(time.Duration(l.d.rng.IntN(60)) * time.Second)
			l.orders[o.Reference] = o
		}
	}
}

// noteRecord fails if the record of a name ended that the registry has for us.
func (l *life) noteRecord() {
	r, err := l.d.names.Registration(context.Background(), signedName)
	if deed.CodeOf(err) == deed.CodeNotFound && l.known != "" && l.entry.HeldBy(us, l.d.now) && l.entry.Reference == l.known && l.d.broken == nil {
		l.d.broken = fmt.Errorf("the record of %s ended, and the registry has it for us", l.known)
	}
	if l.known = r.Reference; err == nil {
		l.d.owner = r.Owner
	}
}

// change changes the entry by the rules of the registry.
func (l *life) change(method, what string, f func(registry.Entry, time.Time) (registry.Entry, error)) error {
	var refused error
	err := l.d.ask(method, what, func() {
		l.run()
		if !l.entry.HeldBy(us, l.d.now) {
			refused = l.gone()
			return
		}
		var next registry.Entry
		if next, refused = f(l.entry, l.d.now); refused == nil {
			l.entry = next
		}
		l.publish()
	})
	if err == nil {
		err = refused
	}
	return err
}

// gone is what the registry says of a name that is not ours.
func (l *life) gone() error {
	err := &deed.Error{Code: deed.CodeNotFound, Message: fmt.Sprintf("%s is not in our account", signedName)}
	if l.entry.HeldBy(them, l.d.now) {
		err.Err = registrar.ErrElsewhere
	}
	return err
}

func (l *life) holding() (h lifecycle.Holding, err error) {
	err = l.change("Holding", "it is looked up", func(e registry.Entry, at time.Time) (registry.Entry, error) {
		if h = e.Holding(at); l.held {
			h.EPPStatus = append(h.EPPStatus, "serverHold")
		}
		return e, nil
	})
	return h, err
}
