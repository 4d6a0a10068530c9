package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// TestCancelSimulation runs many seeds with owners who cancel registrations in their add
// grace period.
func TestCancelSimulation(t *testing.T) { simulateSeeds(t, runCancels, cancelEnds, usualSeeds/6) }

// runCancels runs the seed with cancellations.
func runCancels(seed uint64, loud bool) (w *world, err error) {
	return runWorld(seed, loud, func(w *world) { w.cancels = newCancels(w) })
}

// cancelsPerWallet is how many registrations a wallet may cancel in 30 days.
const cancelsPerWallet = 4

// A cancelModel is a registry that deletes names for us, and what owners have asked for.
type cancelModel struct {
	w       *world
	terms   lifecycle.CancelTerms
	silent  bool                // it does not say that another registrar has a name
	sent    []*sentDeletion     // that may still be executed
	asked   map[string]bool     // by registration: its owner wanted to cancel it
	deleted map[string]deletion // by registration
}

// A sentDeletion is one that was sent to the registry, which knows only the name.
type sentDeletion struct {
	name      deed.Name
	reference string    // of the registration that was meant
	arrives   time.Time // by the world's time
}

// A deletion is one that the registry has executed.
type deletion struct {
	name deed.Name
	at   time.Time // by the world's time
}

func newCancels(w *world) *cancelModel {
	m := &cancelModel{w: w, asked: map[string]bool{}, deleted: map[string]deletion{}}
	m.terms = lifecycle.CancelTerms{Fee: []deed.USDC{0, 0, 200_000, 200_000, 200_000, price / 2, price - 1, price}[w.rng.IntN(8)], Monthly: 50}
	if w.rng.IntN(4) == 0 {
		m.terms.Monthly, m.terms.Percent = 1, 30*w.rng.IntN(3)
	}
	m.silent = w.rng.IntN(2) == 0
	w.tell("the registry keeps %s of a cancelled registration, takes %d and %d %% back a month, and hides where names are: %t", m.terms.Fee, m.terms.Monthly, m.terms.Percent, m.silent)
	return m
}

// useCancels makes the process cancel registrations.
func (p *process) useCancels(now, registryNow func() time.Time) {
	names := sqldb.Registrations{DB: p.w.db, Now: registryNow, Zones: sqldbtest.Zones(p.w.db, now)}
	p.names.Cancels = cancelStore{p, sqldb.Cancellations{DB: p.w.db, Now: now, Names: names}}
	p.names.Route, p.names.CancelsPerWallet = cancelRoute{m: p.w.cancels}, cancelsPerWallet
	keeps := cancelManager{manager{p: p, r: p.w.registry}, p.w.cancels}
	p.names.Manager, p.life.Manager = keeps, keeps
}

// cancelRoute sends every order to the one registry.
type cancelRoute struct{ m *cancelModel }

func (cancelRoute) BackendOf(context.Context, deed.Name) (string, error) { return "", nil }
func (cancelRoute) SellerOf(deed.TLD) (string, error)                    { return "", nil }
func (cancelRoute) Affords(context.Context, deed.Name, deed.USDC) error  { return nil }
func (cancelRoute) Deadline(string) time.Duration                        { return 0 }
func (r cancelRoute) CancelTerms(string) lifecycle.CancelTerms           { return r.m.terms }

// cancelStep is something that concerns cancellations.
func (w *world) cancelStep(p *process) {
	switch n := w.rng.IntN(20); {
	case n < 9:
		w.cancel(p)
	case n < 13:
		w.advanceCancellations(p)
	case n < 16:
		w.buyAgain(p)
	case n < 17:
		w.unlockAndLeave(p)
	case n < 18:
		w.handOverWhileCancelling(p)
	default:
		w.renewWhileCancelling(p)
	}
}

// cancel is an owner who cancels a registration, asks what that would bring, or repeats
// it; or somebody else who tries to.
func (w *world) cancel(p *process) {
	name, who := w.anyName(), w.buyers[w.rng.IntN(len(w.buyers))]
	r, err := w.registration(name)
	if err == nil && w.rng.IntN(8) > 0 {
		who = r.Owner
	}
	dry := w.rng.IntN(6) == 0
	if err == nil && who == r.Owner && !dry {
		w.cancels.asked[r.Reference] = true
	}
	p.do(fmt.Sprintf("%s cancels %s, only to see: %t", who, name, dry), func(ctx context.Context) {
		c, err := p.names.Cancel(ctx, who, name, dry)
		w.dirty = true
		w.tell("%d: answer: %s, %s goes back, %v", p.id, c.State, c.Refund(), err)
		if err == nil && !dry && w.broken == nil {
			w.broken = w.cancels.answered(c, who)
		}
	})
}

// answered checks what a client is told of its cancellation.
func (m *cancelModel) answered(c lifecycle.Cancellation, who deed.Wallet) error {
	p, err := m.w.payment(c.PaymentID)
	switch {
	case err != nil:
		return err
	case c.Wallet != who || p.Auth.Payer != who:
		return fmt.Errorf("%s is told of the cancellation of %s", who, c.Wallet)
	case c.Refund() != p.Auth.Amount-c.Fee || c.Refund() <= 0:
		return fmt.Errorf("%s is told that %s goes back of %s", who, c.Refund(), p.Auth.Amount)
	case c.State == lifecycle.CancelDone && p.Part.Label != order.RefundUndo:
		return fmt.Errorf("%s is told that %s is cancelled, and its payment is %s", who, c.Name, p.State)
	}
	return nil
}

// advanceCancellations is what the worker does.
func (w *world) advanceCancellations(p *process) {
	p.do("due cancellations", func(ctx context.Context) {
		due, _ := p.names.Cancels.DueCancellations(ctx, 8) // a worker that cannot read tries again
		for _, reference := range due {
			p.do("advance the cancellation of "+reference, func(ctx context.Context) {
				err := p.names.AdvanceCancellation(ctx, reference)
				w.tell("%d: the cancellation of %s was advanced, %v", p.id, reference, err)
			})
		}
	})
}

// cancelling returns a name that is being cancelled, or sometimes any.
func (w *world) cancelling() (lifecycle.Registration, bool) {
	var all []lifecycle.Registration
	for _, name := range w.names {
		r, err := w.registration(name)
		if err == nil && r.Cancelling {
			return r, true
		}
		if err == nil {
			all = append(all, r)
		}
	}
	if len(all) == 0 || w.rng.IntN(3) > 0 {
		return lifecycle.Registration{}, false
	}
	return all[w.rng.IntN(len(all))], true
}

// buyAgain is somebody who buys a name, perhaps one that was cancelled just now.
func (w *world) buyAgain(p *process) {
	who, name := w.buyers[w.rng.IntN(len(w.buyers))], w.names[w.rng.IntN(len(w.names))]
	if w.chain.head().balance[who] < 2*price {
		w.chain.strange(transaction{kind: move, from: faucet, to: who, amount: 4 * price})
		w.tick(2 * time.Second)
		w.chain.mine()
	}
	r := w.sign(who, order.Request{Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1}})
	w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
	w.send(p, r, who)
}

// renewWhileCancelling is anybody who renews a name while it is being cancelled.
func (w *world) renewWhileCancelling(p *process) {
	held, found := w.cancelling()
	if !found {
		return
	}
	who := w.buyers[w.rng.IntN(len(w.buyers))]
	r := w.sign(who, order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: held.Name, Years: 1}})
	w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
	w.send(p, r, who)
}

// handOverWhileCancelling is an owner who gives a name away while it is being cancelled.
func (w *world) handOverWhileCancelling(p *process) {
	held, found := w.cancelling()
	if !found {
		return
	}
	to := w.buyers[w.rng.IntN(len(w.buyers))]
	p.do(fmt.Sprintf("%s hands %s over to %s", held.Owner, held.Name, to), func(ctx context.Context) {
		err := p.names.HandOver(ctx, held.Owner, held.Name, to)
		w.dirty = true
		w.tell("%d: answer: %v", p.id, err)
	})
}

// unlockAndLeave is an owner who moves a name to another registrar and cancels it at the
// same time. This registry does not make anybody wait after a registration.
func (w *world) unlockAndLeave(p *process) {
	held, found := w.cancelling()
	if !found {
		return
	}
	p.do(fmt.Sprintf("%s unlocks %s", held.Owner, held.Name), func(ctx context.Context) {
		code, err := p.names.AuthCode(ctx, held.Owner, held.Name)
		if err == nil {
			w.codes = append(w.codes, moving{who: held.Owner, name: held.Name, code: code.Reveal()})
		}
		w.dirty = true
		w.tell("%d: answer: %v", p.id, err)
	})
	w.registry.leave(held.Name)
	if w.rng.IntN(2) == 0 {
		w.cancel(p)
	}
}

// cancelStore is the cancellations, as one process meets them.
type cancelStore struct {
	p *process
	s sqldb.Cancellations
}

var _ registration.Cancellations = cancelStore{}

func (s cancelStore) Payment(ctx context.Context, id string) (order.Payment, error) {
	return call(s.p, "Payment", func() (order.Payment, error) { return s.s.Payment(ctx, id) })
}

func (s cancelStore) Cancellation(ctx context.Context, reference string) (lifecycle.Cancellation, error) {
	return call(s.p, "Cancellation", func() (lifecycle.Cancellation, error) { return s.s.Cancellation(ctx, reference) })
}

func (s cancelStore) LastCancellation(ctx context.Context, name deed.Name, who deed.Wallet) (lifecycle.Cancellation, error) {
	return call(s.p, "LastCancellation", func() (lifecycle.Cancellation, error) { return s.s.LastCancellation(ctx, name, who) })
}

func (s cancelStore) DueCancellations(ctx context.Context, limit int) ([]string, error) {
	return call(s.p, "DueCancellations", func() ([]string, error) { return s.s.DueCancellations(ctx, limit) })
}

func (s cancelStore) BeginCancellation(ctx context.Context, c lifecycle.Cancellation, r lifecycle.Registration, limit lifecycle.CancelLimit) error {
	return act(s.p, "BeginCancellation "+c.Reference, func() error { return s.s.BeginCancellation(ctx, c, r, limit) })
}

func (s cancelStore) LeaseCancellation(ctx context.Context, c lifecycle.Cancellation, lease, quiet time.Time) (bool, error) {
	return call(s.p, "LeaseCancellation", func() (bool, error) { return s.s.LeaseCancellation(ctx, c, lease, quiet) })
}

func (s cancelStore) SecureCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return act(s.p, "SecureCancellation", func() error { return s.s.SecureCancellation(ctx, c) })
}

func (s cancelStore) DelayCancellation(ctx context.Context, c lifecycle.Cancellation, next time.Time) error {
	return act(s.p, "DelayCancellation", func() error { return s.s.DelayCancellation(ctx, c, next) })
}

func (s cancelStore) FinishCancellation(ctx context.Context, c lifecycle.Cancellation) error {
	return act(s.p, "FinishCancellation "+c.Reference, func() error { return s.s.FinishCancellation(ctx, c) })
}

func (s cancelStore) KeepName(ctx context.Context, c lifecycle.Cancellation) error {
	return act(s.p, "KeepName "+c.Reference, func() error { return s.s.KeepName(ctx, c) })
}
