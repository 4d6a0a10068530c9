package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// TestMandateSimulation runs many seeds with owners who sign renewals in advance, and
// with a chain whose clock jumps like the registry's.
func TestMandateSimulation(t *testing.T) { simulateSeeds(t, runMandates, mandateEnds, usualSeeds/6) }

// runMandates runs the seed with mandates.
func runMandates(seed uint64, loud bool) (w *world, err error) {
	return runWorld(seed, loud, func(w *world) {
		w.mandates = &mandateModel{w: w, given: map[string]order.Mandate{}, charged: map[string]deed.USDC{}, raises: []deed.USDC{0}}
	})
}

// maxCost is the most that any order may cost.
const maxCost = 20 * price

// A mandateModel is what owners have signed in advance, and what it may cost them.
type mandateModel struct {
	w       *world
	given   map[string]order.Mandate // by payment: what the owner meant
	charged map[string]deed.USDC     // by payment: the price of the day on which it was taken
	raises  []deed.USDC              // of the price of a renewal, the present one last
}

// raise is how much a year of renewal costs more than at the beginning.
func (m *mandateModel) raise() deed.USDC { return m.raises[len(m.raises)-1] }

// risingPrices are prices of renewals that change.
type risingPrices struct {
	prices
	m *mandateModel
}

func (p risingPrices) Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error) {
	q, err := p.prices.Renewal(r, years, restore)
	q.Amount += p.m.raise() * deed.USDC(years)
	return q, err
}

// useMandates makes the process take mandates.
func (p *process) useMandates(registryNow func() time.Time) {
	of := network.Asset{ChainID: chainID, Token: asset}
	p.names.Prices = risingPrices{m: p.w.mandates}
	p.mandates = &mandate.Service{
		Store: mandateStore{p, sqldb.Mandates{DB: p.w.db, Asset: of, Now: registryNow}}, Names: p.names.Names, Prices: risingPrices{m: p.w.mandates},
		Engine: p.pay, Asset: of, PayTo: p.payTo, Ceiling: maxCost, Now: registryNow,
	}
}

// sellNames sells every name, before anything fails.
func (w *world) sellNames() {
	w.faulty = false
	for i, name := range w.names {
		who := w.buyers[i%len(w.buyers)]
		w.chain.strange(transaction{kind: move, from: faucet, to: who, amount: 4 * price})
		w.work(w.procs[0])
		r := w.sign(who, order.Request{Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1}})
		w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
		w.send(w.procs[0], r, who)
	}
	for range 4 * depth {
		w.tick(5 * time.Second)
		w.work(w.procs[0])
	}
	w.faulty = true
}

// mandateStep is something that concerns mandates.
func (w *world) mandateStep(p *process) {
	switch n := w.rng.IntN(20); {
	case n < 5:
		w.giveMandates(p)
	case n < 14:
		w.advanceMandates(p)
	case n < 15:
		w.mandates.jump()
	case n < 16:
		w.revokeMandates(p)
	case n < 18:
		w.interfereWithMandate(p)
	case n < 19:
		w.chain.strange(transaction{kind: move, from: faucet, to: w.buyers[w.rng.IntN(len(w.buyers))], amount: 3 * price})
	case w.nested == 0: // no process has read the price and not used it yet
		raise := deed.USDC(w.rng.IntN(5)) * price / 5
		w.mandates.raises = append(w.mandates.raises, raise)
		w.tell("a year of renewal costs %s more than once", raise)
	}
}

// advanceMandates is what the worker does.
func (w *world) advanceMandates(p *process) {
	p.ahead = w.registry.ahead // it learns of a jump only now
	p.do("due mandates", func(ctx context.Context) {
		ids, _ := p.mandates.Due(ctx, 8) // a worker that cannot read tries again
		for i, id := range ids {
			p.do(fmt.Sprintf("advance mandate %d of %d", i+1, len(ids)), func(ctx context.Context) {
				err := p.mandates.Advance(ctx, id)
				w.tell("%d: the mandate was advanced, %v", p.id, err)
			})
		}
	})
}

// giveMandates is an owner who signs the coming renewals of a name, or somebody who is
// not its owner, or one who signs what is not asked for.
func (w *world) giveMandates(p *process) {
	name := w.anyName()
	r, err := w.registration(name)
	if err != nil {
		return
	}
	who, limit := r.Owner, deed.USDC(0)
	if w.rng.IntN(8) == 0 {
		who = w.buyers[w.rng.IntN(len(w.buyers))]
	}
	if w.rng.IntN(3) == 0 {
		limit = w.yearOf(r) + deed.USDC(w.rng.IntN(3))*price/5
	}
	p.do(fmt.Sprintf("%s signs renewals of %s", who, name), func(ctx context.Context) {
		plan, err := p.mandates.Plan(ctx, who, name, 1+w.rng.IntN(3), limit)
		if err != nil {
			w.tell("%d: no plan: %v", p.id, err)
			return
		}
		var all []mandate.Signed
		for _, slot := range plan.Slots {
			if !slot.Taken || w.rng.IntN(6) == 0 {
				all = append(all, w.signMandate(who, r, plan.Cap, slot.MandateSlot, p.payTo))
			}
		}
		_, err = p.mandates.Create(ctx, who, name, all)
		w.tell("%d: %d mandates were given: %v", p.id, len(all), err)
	})
}

// yearOf is what a year of renewal costs now.
func (w *world) yearOf(r lifecycle.Registration) deed.USDC {
	q, _ := risingPrices{m: w.mandates}.Renewal(r, 1, false) // it does not fail
	return q.Amount
}

// signMandate signs one renewal. What is signed wrong must not be used.
func (w *world) signMandate(who deed.Wallet, r lifecycle.Registration, limit deed.USDC, slot order.MandateSlot, payTo deed.Wallet) mandate.Signed {
	a := settle.Authorization{Payer: who, PayTo: payTo, Amount: limit, ValidAfter: slot.ValidAfter.Unix(), ValidBefore: slot.ValidBefore.Unix(), Nonce: w.nonce(), Signature: []byte{1}}
	wrong := w.fault(12)
	if wrong {
		switch w.rng.IntN(4) {
		case 0:
			a.ValidAfter = 0
		case 1:
			a.ValidBefore += 1000
		case 2:
			a.Amount = w.yearOf(r) - 1
		case 3:
			a.Payer = w.buyers[(slices.Index(w.buyers, who)+1)%len(w.buyers)]
		}
	}
	w.signed = append(w.signed, a)
	if !wrong {
		w.mandates.given[id(a)] = order.Mandate{Name: r.Name, Owner: who, Reference: r.Reference, Expires: slot.Expires, Auth: a}
		w.wishes[id(a)] = append(w.wishes[id(a)], wish(order.PurchaseRenewal, r.Name))
	}
	w.tell("%s signs %s of %s at %s for %s, wrong: %t", who, id(a), a.Amount, slot.Expires.Format(time.DateOnly), r.Name, wrong)
	return mandate.Signed{Expires: slot.Expires, Auth: a}
}

// revokeMandates is an owner, or a former one, who does not want it any more.
func (w *world) revokeMandates(p *process) {
	name, who := w.anyName(), w.buyers[w.rng.IntN(len(w.buyers))]
	p.do(fmt.Sprintf("%s revokes the mandates of %s", who, name), func(ctx context.Context) {
		ended, err := p.mandates.Revoke(ctx, who, name, "")
		w.tell("%d: %d mandates were revoked: %v", p.id, len(ended), err)
	})
}

// interfereWithMandate is an owner who cancels an authorization on the chain, sends it,
// pays for something else with it, or spends the money.
func (w *world) interfereWithMandate(p *process) {
	m, found := w.mandates.any()
	if !found {
		return
	}
	switch w.rng.IntN(5) {
	case 0:
		w.chain.strange(transaction{kind: cancel, auth: m.Auth})
	case 1:
		w.chain.strange(transaction{kind: transfer, auth: m.Auth})
	case 2:
		w.chain.strange(transaction{kind: move, from: m.Owner, to: elsewhere, amount: w.chain.head().balance[m.Owner]})
	case 3:
		r := &request{Request: order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: m.Name, Years: 1}}, auth: m.Auth}
		w.send(p, r, m.Owner)
	case 4:
		p.do("hand over "+string(m.Name), func(ctx context.Context) {
			err := p.names.HandOver(ctx, m.Owner, m.Name, w.buyers[w.rng.IntN(len(w.buyers))])
			w.dirty = true
			w.tell("%d: answer: %v", p.id, err)
		})
	}
}

// any returns a mandate that an owner meant to give, of the last ones.
func (m *mandateModel) any() (order.Mandate, bool) {
	var all []order.Mandate
	for _, a := range m.w.signed {
		if g, ok := m.given[id(a)]; ok {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return order.Mandate{}, false
	}
	last := all[max(0, len(all)-6):]
	return last[m.w.rng.IntN(len(last))], true
}

// nextDue returns when the next mandate is or was due that can still be paid, or zero.
func (m *mandateModel) nextDue() (next time.Time) {
	for _, a := range m.w.signed {
		due := time.Unix(a.ValidAfter, 0)
		_, meant := m.given[id(a)]
		_, used := m.w.chain.head().used[keyOf(a)]
		if meant && !used && m.w.registry.now().Unix() < a.ValidBefore && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// jump moves the registry's clock, mostly to the days in which a mandate is due. The
// chain's clock follows, or stays behind until the next jump.
func (m *mandateModel) jump() {
	w := m.w
	d := time.Duration(1+w.rng.IntN(10)) * 24 * time.Hour
	if next := m.nextDue(); !next.IsZero() && w.rng.IntN(4) > 0 {
		due := next.Add(time.Duration(w.rng.IntN(20*24)-24) * time.Hour)
		d = max(d/10, due.Sub(w.registry.now()))
	}
	w.registry.ahead += d
	if w.rng.IntN(4) > 0 {
		w.chain.ahead = w.registry.ahead
	}
	w.tell("the registry's clock jumps by %s, it is %s there, and %s on the chain", d, w.registry.now().Format(time.DateTime), w.chain.now().Format(time.DateTime))
	w.dirty = true
	w.registry.run()
}

// mandateStore is the mandates, as one process meets them.
type mandateStore struct {
	p *process
	s sqldb.Mandates
}

func (s mandateStore) Create(ctx context.Context, name deed.Name, all []order.Mandate) ([]order.Mandate, error) {
	return call(s.p, "CreateMandates", func() ([]order.Mandate, error) { return s.s.Create(ctx, name, all) })
}

func (s mandateStore) List(ctx context.Context, owner deed.Wallet, name deed.Name) ([]order.Mandate, error) {
	return call(s.p, "ListMandates", func() ([]order.Mandate, error) { return s.s.List(ctx, owner, name) })
}

func (s mandateStore) Active(ctx context.Context, name deed.Name) ([]order.Mandate, error) {
	return call(s.p, "ActiveMandates", func() ([]order.Mandate, error) { return s.s.Active(ctx, name) })
}

func (s mandateStore) Revoke(ctx context.Context, owner deed.Wallet, name deed.Name, id string) ([]order.Mandate, error) {
	return call(s.p, "RevokeMandates", func() ([]order.Mandate, error) { return s.s.Revoke(ctx, owner, name, id) })
}

func (s mandateStore) Mandate(ctx context.Context, id string) (order.Mandate, error) {
	return call(s.p, "Mandate", func() (order.Mandate, error) { return s.s.Mandate(ctx, id) })
}

func (s mandateStore) Due(ctx context.Context, limit int) ([]string, error) {
	return call(s.p, "DueMandates", func() ([]string, error) { return s.s.Due(ctx, limit) })
}

func (s mandateStore) Delay(ctx context.Context, m order.Mandate, next time.Time, tell bool) error {
	return act(s.p, "DelayMandate", func() error { return s.s.Delay(ctx, m, next, tell) })
}

func (s mandateStore) End(ctx context.Context, m order.Mandate, to order.MandateState, reason string) error {
	return act(s.p, "EndMandate "+string(to), func() error { return s.s.End(ctx, m, to, reason) })
}
