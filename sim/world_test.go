// Package sim runs the code that handles money against a world that fails.
//
// A run is one seed: two processes of ours on one database in memory, a chain, a
// registry, buyers and strangers, all on one goroutine and one time, so that a
// seed is the same run for ever. The watches of the processes and of the database
// are each wrong by up to ten minutes against that time, which is the chain's;
// the registry's clock jumps ahead of it by days and years. Names are bought,
// renewed, brought from elsewhere, locked, delegated, handed over, expire, end and
// leave. Payers send nothing and dust, promise what they do not have, and pay
// before they ask; strangers use what they read on the chain, make blocks that
// nobody can read, and send from our own wallets; operators change where we are
// paid, and restore backups while the chain and the registry go on.
// In some runs owners sign renewals in advance, cancel them, spend the money, and give
// the names away, while prices rise and the chain's clock jumps with the registry's.
// In others owners cancel what they have just registered, while it is renewed, handed
// over and moved away, at a registry that keeps a part, refuses, or says nothing.
// Whatever a process calls, a store or the outside, is a point where it can die,
// where the call can be lost before or after it is done, and where all others can
// go on for any time. The world knows
// nothing of the states of payments and jobs: it calls the services as the
// server and the worker do, and checks after every step what must be true (see
// check). At the end nothing fails any more, and everything must come to rest.
package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

const (
	chainID               = 84532
	asset     deed.Wallet = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
	price     deed.USDC   = 13_060_000
	steps                 = 200 // in a run, before it comes to rest
	graceDays             = 30
)

// prices sells every name for the same, but each kind of order for another
// price.
type prices struct{}

func (prices) NewName(name deed.Name, years int, _ registrar.Availability) (order.Quote, error) {
	return order.Quote{Amount: price * deed.USDC(years), Years: years, For: string(name)}, nil
}

func (prices) Renewal(r lifecycle.Registration, years int, restore bool) (order.Quote, error) {
	q := order.Quote{Amount: (price - 1_000_000) * deed.USDC(years), Years: years, For: string(r.Name)}
	if restore {
		q.Amount += price
	}
	return q, nil
}

func (prices) Transfer(name deed.Name) (order.Quote, error) {
	return order.Quote{Amount: price - 2_000_000, Years: 1, For: string(name)}, nil
}

func (prices) Years(deed.TLD) (least, most int, err error) { return 1, 10, nil }
func (prices) GraceDays(deed.TLD) int                      { return graceDays }

// cost is what a purchase must have cost.
func cost(p order.Purchase) deed.USDC {
	var q order.Quote
	switch p.Kind { // none of them fails
	case order.PurchaseRegistration:
		q, _ = prices{}.NewName(p.Name, p.Years, registrar.Availability{})
	case order.PurchaseRenewal:
		q, _ = prices{}.Renewal(lifecycle.Registration{Name: p.Name}, p.Years, p.Facts.Restore)
	case order.PurchaseTransfer:
		q, _ = prices{}.Transfer(p.Name)
	}
	return q.Amount
}

// ourServers are what a new name is given.
var ourServers = []string{"ns1.example.com", "ns2.example.com"}

// A world is one run.
type world struct {
	rng      *rand.Rand
	watches  *rand.Rand // how wrong watches are; apart, so that a seed is the same run with good ones
	now      time.Time
	db       *sqldb.DB
	chain    *chain
	registry *registryModel
	outside  *outsideModel // nil when the registry knows orders by their reference
	mandates *mandateModel // nil when nobody signs renewals in advance
	cancels  *cancelModel  // nil when nobody cancels registrations
	procs    []*process
	buyers   []deed.Wallet
	names    []deed.Name // that anybody can buy
	away     []deed.Name // that are at another registrar
	payTo    deed.Wallet // what is configured now
	requests []*request
	signed   []settle.Authorization // everything that a payer ever signed
	jobs     map[string]string      // by authorization: the job it was told of
	given    map[string]deed.Wallet // by registration: who it was handed over to
	acting   deed.Name              // that an owner is doing something with
	codes    []moving               // that owners were told
	tried    map[string]int         // by job: how often, as it was last seen
	wishes   map[string][]string    // by payment: what its payer asked for
	poison   map[string]bool        // by transaction: whether the store cannot take it
	saved    *backup                // nil before the first
	restored bool                   // the database went back to it
	failing  bool                   // the database is lost while an order is under way
	refuses  bool                   // the promiser's wallet is a contract that accepts checks only

	faulty bool // whether things fail
	left   int  // steps
	nested int  // how many processes stand still while others go on
	dirty  bool // something was called since the last check
	broken error
	ends   map[string]int // how many payments ended how
	loud   bool           // whether the trace is kept
	trace  []string
}

// run runs the seed and returns the world as it ended.
func run(seed uint64, loud bool) (w *world, err error) {
	return runWorld(seed, loud, func(*world) {})
}

// runOutside runs the seed with an outside registry.
func runOutside(seed uint64, loud bool) (w *world, err error) {
	return runWorld(seed, loud, func(w *world) { w.outside = newOutside(w) })
}

func runWorld(seed uint64, loud bool, extend func(*world)) (w *world, err error) {
	w, err = newWorld(seed, loud, extend)
	if err != nil {
		return &world{}, err
	}
	defer w.db.Close() // it is gone with the run
	if w.mandates != nil || w.cancels != nil {
		w.sellNames()
	}
	for w.left > 0 && w.broken == nil {
		w.step()
	}
	w.rest()
	return w, w.broken
}

// newWorld returns the world of a seed as it begins, with what extend adds to it.
func newWorld(seed uint64, loud bool, extend func(*world)) (*world, error) {
	db, err := sqldb.OpenMemory(context.Background())
	if err != nil {
		return nil, err
	}
	db.Timeout = time.Minute
	w := &world{rng: rand.New(rand.NewPCG(seed, 0)), watches: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_800_000_000, 0).UTC(), db: db, faulty: true, left: steps, jobs: map[string]string{}, given: map[string]deed.Wallet{}, tried: map[string]int{}, ends: map[string]int{}, loud: loud}
	off := w.wrong()
	db.Time = func() time.Time { return w.now.Add(off) }
	w.wishes, w.poison, w.payTo = map[string][]string{}, map[string]bool{}, treasuries[0]
	for i := range 3 {
		w.buyers = append(w.buyers, deed.Wallet(fmt.Sprintf("0x%040d", i+1)))
	}
	w.names = []deed.Name{"first.com", "second.com", "third.com", "fourth.com"}[:1+w.rng.IntN(4)] // the fewer, the more they are fought for
	w.away = []deed.Name{"afar.com", "beyond.com"}[:1+w.rng.IntN(2)]
	w.chain, w.registry = newChain(w, append(slices.Clone(w.buyers), promiser)), newRegistry(w)
	extend(w)
	w.procs = []*process{newProcess(w, 0), newProcess(w, 1)}
	return w, nil
}

func (w *world) tell(format string, args ...any) {
	if w.loud {
		w.trace = append(w.trace, fmt.Sprintf("%5d s, block %3d, %*s", w.now.Unix()-1_800_000_000, len(w.chain.blocks)-1, 2*w.nested, "")+fmt.Sprintf(format, args...))
	}
}

// wrong is how far a watch is off: ten minutes at the most, either way.
func (w *world) wrong() time.Duration {
	return time.Duration(w.watches.IntN(1201)-600) * time.Second
}

// fault says whether something fails now that fails once in so many times.
func (w *world) fault(once int) bool { return w.faulty && w.rng.IntN(once) == 0 }

// tick lets time pass.
func (w *world) tick(d time.Duration) {
	w.now = w.now.Add(d)
	w.registry.run()
}

// others lets the rest of the world go on, sometimes, while a process stands
// still between two acts.
func (w *world) others() {
	if w.nested >= 2 || w.left <= 0 || w.broken != nil || !w.fault(16) {
		return
	}
	w.nested++
	if w.rng.IntN(4) == 0 {
		w.sleep()
	} else {
		for range 1 + w.rng.IntN(4) {
			w.step()
		}
	}
	w.nested--
}

// sleep is a process that stands still for a minute or more, while the work goes
// on elsewhere.
func (w *world) sleep() {
	w.tell("somebody sleeps")
	for range 1 + w.rng.IntN(6) {
		w.tick(time.Duration(5+w.rng.IntN(25)) * time.Second)
		w.advanceJobs(w.procs[w.rng.IntN(len(w.procs))])
	}
}

// step does one thing and looks whether all is well.
func (w *world) step() {
	if w.left--; w.broken != nil {
		return
	}
	p := w.procs[w.rng.IntN(len(w.procs))]
	switch n := w.rng.IntN(100); {
	case w.failing && w.saved != nil:
		w.failing = false
		w.restore()
	case w.mandates != nil && w.acting == "" && w.rng.IntN(3) == 0:
		w.mandateStep(p)
	case w.cancels != nil && w.acting == "" && w.rng.IntN(3) == 0:
		w.cancelStep(p)
	case n < 40 && w.acting != "":
		w.own(p)
	case n < 22:
		w.ask(p)
	case n < 36:
		w.advancePayments(p)
	case n < 54:
		w.advanceJobs(p)
	case n < 60:
		w.advanceNames(p)
	case n < 65:
		w.own(p)
	case n < 69:
		w.readChain(p)
	case n < 75:
		w.tick(2 * time.Second)
		w.chain.mine()
	case n < 81:
		w.tick(time.Duration(1+w.rng.IntN(12)) * time.Second)
	case n < 85:
		w.attack(p)
	case n < 88:
		w.tick(time.Duration(1+w.rng.IntN(6)) * time.Minute)
		w.tell("time has passed")
	default:
		w.happen(p, n)
	}
	if w.dirty && w.broken == nil {
		w.dirty = false
		w.broken = w.check()
	}
}

// happen is what nobody asked us about.
func (w *world) happen(p *process, n int) {
	switch {
	case n < 90:
		w.chain.reorganize()
	case n < 95:
		w.attack(p)
	case n < 98:
		switch {
		case w.mandates != nil:
			w.mandates.jump()
		case w.outside == nil || w.outside.mayJump():
			w.registry.jump()
		}
		p.do("wake the jobs", func(ctx context.Context) {
			_ = p.pay.WakeJobs(ctx) // who is not woken looks by himself, later
		})
	case n < 99:
		if name := w.anyName(); w.outside == nil || w.owned(name) {
			w.registry.leave(name)
		}
	default:
		w.registry.outbuy(w.anyName())
	}
}

// anyName returns a name that somebody may want.
func (w *world) anyName() deed.Name {
	n := w.rng.IntN(len(w.names) + len(w.away))
	if n < len(w.names) {
		return w.names[n]
	}
	return w.away[n-len(w.names)]
}
