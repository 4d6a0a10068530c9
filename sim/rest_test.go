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
	"deed.example/deed/internal/sqldb"
)

// rest lets time pass without faults until everything has come to its end. While
// all that is open is a transfer that waits for the other side, it passes in
// hours. In the end it lets a day pass, by which every name is compared.
func (w *world) rest() {
	w.faulty, w.chain.ahead = false, w.chain.ahead+w.chainLag()
	w.tell("from here on nothing fails")
	for i, tick := 0, 5*time.Second; i < 900 && w.broken == nil; i++ {
		w.tick(tick)
		w.work(w.procs[i%len(w.procs)])
		open, err := w.open()
		if err != nil || open == 0 && i > 2*depth && len(w.chain.pool) == 0 && w.registry.idle() {
			break
		}
		tick = 5 * time.Second
		if open > 0 && open == 2*w.registry.pending() { // each a payment and a job
			tick = 50 * time.Minute
		}
	}
	for left := w.lastDays() - 1; left >= 0; left-- {
		w.tick(25 * time.Hour)
		w.work(w.procs[0])
		if w.mandates != nil || left == 0 {
			w.endOpen() // what began on this day
		}
	}
	if w.broken != nil {
		return
	}
	if w.broken = w.check(); w.broken == nil {
		w.broken = w.checkRest()
	}
}

// endOpen works until nothing is open.
func (w *world) endOpen() {
	for i := range 400 {
		if open, err := w.open(); w.broken != nil || err != nil || open == 0 && i > depth && len(w.chain.pool) == 0 && w.registry.idle() {
			return
		}
		w.tick(15 * time.Second)
		w.work(w.procs[i%len(w.procs)])
	}
}

// lastDays is how many days pass at the end. An order of an outside registry is looked
// up for a week.
func (w *world) lastDays() int {
	if w.outside != nil {
		return 10
	}
	return 3
}

// open counts what has not come to an end: payments, jobs, transfers that were
// put aside, and money that waits for an operator.
func (w *world) open() (int, error) {
	open, err := (sqldb.Audit{DB: w.db}).Open(context.Background())
	if err != nil || open > 0 {
		return open, err
	}
	if w.cancels != nil {
		if open, err = w.cancels.open(); err != nil || open > 0 {
			return open, err
		}
	}
	aside, err := w.aside()
	if err != nil {
		return 0, err
	}
	lost, err := w.lost()
	return aside + lost, err
}

// work does all that there is to do.
func (w *world) work(p *process) {
	w.chain.mine()
	w.advancePayments(p)
	w.advanceJobs(p)
	w.advanceNames(p)
	w.readChain(p)
	if w.mandates != nil {
		w.advanceMandates(p)
	}
	if w.cancels != nil {
		w.advanceCancellations(p)
	}
	if lost, err := w.lost(); w.restored && lost > 0 && err == nil {
		w.finish(p)
	}
}

// checkRest says what is not as it must be when all has come to its end: every
// transfer to us has bought one thing, went back once or is dust, and nothing is
// open.
func (w *world) checkRest() error {
	open, err := w.open()
	if err != nil || open != 0 {
		return errors.Join(fmt.Errorf("%d payments, jobs and transfers never end", open), err)
	}
	var in, consumed, back, dust, unread deed.USDC
	for _, a := range w.signed {
		u := w.chain.final().used[keyOf(a)]
		if u.paid {
			in += u.amount
		}
		p, err := w.payment(id(a))
		w.count(p, err)
		switch {
		case deed.CodeOf(err) == deed.CodeNotFound && !u.paid:
		case u.paid && w.chain.blocks[u.block].fat && (err != nil || p.TxHash == ""):
			unread += u.amount
		case err != nil:
			return fmt.Errorf("%s came in and nobody knows of it: %w", u.amount, err)
		case p.State == order.PaymentConsumed:
			consumed += p.Auth.Amount
		case p.State == order.PaymentRefunded && p.Purchase.Kind == order.PurchaseNothing && u.amount < terms().Dust && !w.restored:
			return fmt.Errorf("%s went back at our cost: it is dust", p.ID)
		case p.State == order.PaymentRefunded:
			back, consumed = back+p.Refund().Amount, consumed+p.Auth.Amount-p.Refund().Amount
		case p.State == order.PaymentDust:
			dust += p.Auth.Amount
		case u.paid:
			return fmt.Errorf("%s has %s of its payer and is %s", p.ID, u.amount, p.State)
		case !p.State.EndedUnpaid() && p.AliasOf == "":
			return fmt.Errorf("%s never ends: it is %s", p.ID, p.State)
		}
	}
	has, left := deed.USDC(0), w.chain.final().balance[refundWallet]
	for _, t := range treasuries {
		has += w.chain.final().balance[t]
	}
	if in != consumed+back+dust+unread || has != in || left != plenty-back {
		return fmt.Errorf("%s came in, %s was earned, %s went back, %s is dust and %s is unread; the treasuries have %s and the refund wallet %s", in, consumed, back, dust, unread, has, left)
	}
	if w.outside != nil {
		return w.checkOutsideRest()
	}
	if w.mandates != nil {
		if err := w.mandates.checkRest(); err != nil {
			return err
		}
	}
	if w.cancels != nil {
		if err := w.cancels.checkRest(); err != nil {
			return err
		}
	}
	return w.checkHeld()
}

// checkHeld compares the names we say we hold with those that the registry says
// we hold. One that got lost without a word waits for a person.
func (w *world) checkHeld() error {
	for _, name := range slices.Concat(w.names, w.away) {
		e := w.registry.entries[name]
		r, err := w.registration(name)
		switch ours := w.registry.ours(name); {
		case ours && w.cancels.gone(e.Reference):
		case ours && err != nil:
			return fmt.Errorf("%s is ours under %s and belongs to nobody: %w", name, e.Reference, err)
		case ours && !r.Expires.Equal(e.Expires):
			return fmt.Errorf("we say that %s expires at %s, the registry says %s", name, r.Expires, e.Expires)
		case !ours && err == nil && r.Status != lifecycle.StatusSuspended:
			return fmt.Errorf("%s is %s in our books, and not ours", name, r.Status)
		case ours:
			if err := checkSame(r, e); err != nil {
				return err
			}
		}
	}
	if w.restored {
		return nil // what was told since the backup is forgotten
	}
	return w.checkTold()
}

// checkTold says which renewal of a name that is ours its owner was not told of.
func (w *world) checkTold() error {
	renewed := map[deed.Name][]time.Time{}
	for _, o := range w.registry.done {
		if o.Kind != registrar.OrderRenew {
			delete(renewed, o.Name) // a new life begins
			continue
		}
		renewed[o.Name] = append(renewed[o.Name], o.Expires)
	}
	for _, name := range slices.Concat(w.names, w.away) {
		events, err := (sqldb.Registrations{DB: w.db}).Events(context.Background(), lifecycle.Registration{Name: name, Reference: w.registry.entries[name].Reference})
		if err != nil {
			return err
		}
		for _, until := range renewed[name] {
			if w.registry.ours(name) && !slices.ContainsFunc(events, func(e lifecycle.Event) bool { return e.Type == lifecycle.EventRenewed && e.About.Equal(until) }) {
				return fmt.Errorf("nobody was told of the renewal of %s until %s", name, until)
			}
		}
	}
	return nil
}

// count notes how a payment ended.
func (w *world) count(p order.Payment, err error) {
	switch {
	case err != nil:
		w.ends["refused"]++
	case p.AliasOf != "":
		w.ends["alias"]++
	case p.Purchase.Kind == order.PurchaseNothing:
		w.ends["adopted and "+string(p.State)]++
	default:
		w.ends[string(p.Purchase.Kind)+" "+string(p.State)]++
	}
}
