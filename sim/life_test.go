package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// TestLifeSimulation runs many seeds of the world of TestDelegationSimulation in which the
// name also has a life: it expires, is renewed and restored by anybody, is put on hold, leaves
// to another registrar and comes back with a signed or unsigned zone, is deleted, and is
// bought again. At the end the record is that of the registry, every order that was paid for
// was executed once or is refunded, and nobody lost a name that was paid for.
// SIM_SEED=7 runs that seed alone, and tells what happened in it.
func TestLifeSimulation(t *testing.T) {
	simulateSeeds(t, func(seed uint64, loud bool) (*world, error) {
		d, err := newLives(seed, loud)
		if err != nil {
			return &world{}, err
		}
		defer d.db.Close() // it is gone with the run
		d.runLife()
		return d.world, d.broken
	}, []string{"ours", "elsewhere", "free", "restored", "renewed", "transferred in", "left", "bought again", "refunded"}, lifeSeeds)
}

// lifeLen is how many steps a run has.
const lifeLen = 70

// newLives returns the world of a seed, in which the name has a life.
func newLives(seed uint64, loud bool) (*delegations, error) {
	d, err := newDelegations(seed, loud)
	if err != nil {
		return d, err
	}
	d.rng = rand.New(rand.NewPCG(seed, 3))
	newLife(d)
	return d, nil
}

// runLife takes the steps, and then comes to rest.
func (d *delegations) runLife() {
	for range lifeLen {
		if d.broken != nil {
			return
		}
		if d.rng.IntN(2) == 0 {
			d.act()
		} else {
			d.live()
		}
	}
	d.tell("nothing fails any more")
	d.faulty = false
	if d.life.held {
		d.life.hold()
	}
	for range 120 {
		d.now = d.now.Add(3 * time.Hour)
		d.work()
	}
	if d.broken == nil {
		d.broken = d.life.rested()
	}
}

// live is one step in the life of the name.
func (d *delegations) live() {
	redemption := d.life.entry.Expires.AddDate(0, 0, graceDays+d.rng.IntN(lifecycle.RedemptionDays))
	switch n := d.rng.IntN(20); {
	case n < 10 && d.life.entry.Phase(d.now) == lifecycle.PhaseRedemption:
		d.life.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: signedName, Years: 1})
	case n == 19 && d.now.Before(redemption):
		d.pass(redemption.Sub(d.now))
	case n < 5:
		d.life.buy(order.Purchase{Kind: order.PurchaseRenewal, Name: signedName, Years: 1 + d.rng.IntN(2)})
	case n < 7:
		d.life.buy(order.Purchase{Kind: order.PurchaseRegistration, Name: signedName, Years: 1, Nameservers: d.anyServers()})
	case n < 9:
		d.life.buy(order.Purchase{Kind: order.PurchaseTransfer, Name: signedName, Years: 1, AuthCode: code, Nameservers: d.anyServers()})
	case n < 11:
		d.leave()
	case n < 12:
		d.life.hold()
	case n < 14:
		d.work()
	case n < 17:
		d.pass(time.Duration(1+d.rng.IntN(10)) * 24 * time.Hour)
	default:
		d.pass(time.Duration(10+d.rng.IntN(120)) * 24 * time.Hour)
	}
}

// anyServers returns where a buyer wants the name served; nil if it does not matter.
func (d *delegations) anyServers() []string {
	return places[[]string{"", "", "home", "a", "b", "both"}[d.rng.IntN(6)]]
}

// leave is an owner who unlocks the name for another registrar, which asks for it at once.
func (d *delegations) leave() {
	if !d.owners("read the code", func(ctx context.Context) error {
		_, err := d.service.AuthCode(ctx, d.owner, signedName)
		return err
	}) {
		return
	}
	d.life.askedFor()
}

// buy quotes an order, and pays for it if it can be had.
func (l *life) buy(p order.Purchase) {
	d := l.d
	l.paid++
	payer := deed.Wallet(fmt.Sprintf("0x%039d%c", l.paid, 'a'+rune(d.rng.IntN(6))))
	if p.Kind != order.PurchaseRenewal || d.rng.IntN(2) == 0 {
		payer = d.owner
	}
	_ = d.do(fmt.Sprintf("buy a %s for %d years, served at %q", p.Kind, p.Years, placeOf(p.Nameservers)), func(ctx context.Context) error {
		_, full, err := d.service.Quote(ctx, order.Request{Purchase: p, Payer: payer})
		if err != nil {
			return err
		}
		d.others() // the payment takes a while
		settled, err := l.pay(ctx, payer, full)
		if err == nil {
			l.payments = append(l.payments, settled.ID)
		}
		return err
	})
}

// rested returns what is wrong after the time in which everything comes to its end.
func (l *life) rested() error {
	d, ctx := l.d, context.Background()
	for _, id := range l.payments {
		if err := l.checkPayment(ctx, id); err != nil {
			return err
		}
	}
	l.run()
	r, err := d.names.Registration(ctx, signedName)
	if !l.entry.HeldBy(us, d.now) {
		if deed.CodeOf(err) != deed.CodeNotFound {
			return fmt.Errorf("the registry has the name for %q, and the record %+v, %v", l.entry.Account, r, err)
		}
		d.ends[map[bool]string{true: "elsewhere", false: "free"}[l.entry.HeldAt(d.now)]]++
		return nil
	}
	if err != nil {
		return fmt.Errorf("the registry has the name for us: %w", err)
	}
	d.ends["ours"]++
	if found := r.Differences(l.entry.Holding(d.now)); len(found) > 0 {
		return fmt.Errorf("the record differs: %+v", found)
	}
	return l.checkState(ctx, r)
}

// checkPayment fails unless the order of a payment was executed once, or not at all and the
// payment is refunded.
func (l *life) checkPayment(ctx context.Context, id string) error {
	p, err := l.rows.Payment(ctx, id)
	if err != nil {
		return err
	}
	j, err := l.jobs.JobOf(ctx, p)
	if err != nil {
		return err
	}
	executed := l.executed(j)
	l.d.ends[map[order.PaymentState]string{order.PaymentRefundDue: "refunded"}[p.State]]++
	switch {
	case p.State == order.PaymentConsumed && executed == 1, p.State == order.PaymentRefundDue && executed == 0:
		return nil
	}
	return fmt.Errorf("the payment of a %s is %s, its job %s (%s), and its order was executed %d times", p.Purchase.Kind, p.State, j.State, j.Failure, executed)
}

// checkState fails unless the name has the status, the servers and the DS that it must have
// when nothing is pending.
func (l *life) checkState(ctx context.Context, r lifecycle.Registration) error {
	d, phase := l.d, l.entry.Phase(l.d.now)
	want := map[lifecycle.Phase]lifecycle.Status{
		lifecycle.PhaseActive: lifecycle.StatusActive, lifecycle.PhaseGrace: lifecycle.StatusExpired,
		lifecycle.PhaseRedemption: lifecycle.StatusRedemption, lifecycle.PhasePendingDelete: lifecycle.StatusPendingDelete,
	}[phase]
	if l.entry.Transfer != "" {
		want = lifecycle.StatusTransferring
	}
	if r.Status != want {
		return fmt.Errorf("the name is %s, and its record %s", want, r.Status)
	}
	if phase != lifecycle.PhaseActive || want == lifecycle.StatusTransferring {
		return nil
	}
	if m, err := d.moves.Move(ctx, signedName); deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("a move has not ended: %+v, %v", m, err)
	}
	if roll, err := d.zones.KeyRoll(ctx, signedName); deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("a key roll has not ended: %+v, %v", roll, err)
	}
	ours, _, err := d.dsOf(ctx, signedName)
	switch at := placeOf(r.Nameservers); {
	case err != nil:
		return err
	case at == "home" && !dnssec.SameDS(r.DS, ours):
		return fmt.Errorf("the name is at home, and its DS is %v instead of %v", r.DS, ours)
	case at != "home" && len(r.DS) > 0 && !dnssec.SameDS(r.DS, []dnssec.DS{foreignDS}):
		return fmt.Errorf("the name is at %s, and has the DS %v", at, r.DS)
	}
	return nil
}

// A name that left with our name servers, and came back after its key had been replaced, gets
// the DS of its new zone.
func TestNameComesBackWithAnOldDS(t *testing.T) {
	s := openScripted(t)
	newLife(s.delegations)
	s.replaceKey()
	s.must(s.advance("roll the key"))
	s.rolled(true)
	s.wait(60 * 24 * time.Hour)
	s.life.keep = true
	s.leave()
	s.wait(70 * 24 * time.Hour)
	if _, err := s.names.Registration(t.Context(), signedName); deed.CodeOf(err) != deed.CodeNotFound {
		t.Fatalf("got %v", err)
	}
	s.life.buy(order.Purchase{Kind: order.PurchaseTransfer, Name: signedName, Years: 1, AuthCode: code})
	s.wait(20 * 24 * time.Hour)
	s.is("back", "home", 1)
	s.must(s.life.rested())
}
