package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

func (w *world) payment(id string) (order.Payment, error) {
	return sqldb.Payments{DB: w.db}.Payment(context.Background(), id)
}

// check says what is not as it must always be: in the database, and between the
// database, the chain and the registry.
func (w *world) check() error {
	findings, err := sqldb.Audit{DB: w.db}.Run(context.Background())
	if err != nil {
		return err
	}
	for _, f := range findings {
		// A name that is put back into the books is compared with the registry next.
		late := w.restored && w.faulty && f.Invariant == "a name does not expire before the end of its last renewal"
		if f.Broken != 0 && !late {
			return fmt.Errorf("audit: %s: broken %d times", f.Invariant, f.Broken)
		}
	}
	if err := w.checkChain(); err != nil {
		return err
	}
	paid := paid{}
	for _, a := range w.signed {
		p, err := w.payment(id(a))
		if deed.CodeOf(err) == deed.CodeNotFound {
			continue
		}
		if err == nil {
			err = w.checkPayment(p)
		}
		if err != nil {
			return err
		}
		paid[order.JobID(p.ID)] = p
	}
	if w.restored && w.faulty {
		return nil // what it forgot is being found
	}
	if w.outside != nil {
		return errors.Join(w.checkOutside(paid), w.checkCodes())
	}
	if err := w.checkOrders(paid); err != nil {
		return err
	}
	if err := w.checkCodes(); err != nil {
		return err
	}
	return w.checkNames(paid)
}

// checkChain says what must be true of the chain and the registry, whatever the
// database has forgotten: nothing goes back twice, or that did not come, or to
// another wallet, or that bought something.
func (w *world) checkChain() error {
	bought := map[string]string{} // by job
	for _, o := range w.registry.done {
		job, _, _ := strings.Cut(o.Reference, "-")
		if first := bought[job]; first != "" && o.Account == us && !o.late {
			return fmt.Errorf("%s was delivered under %s and again under %s", job, first, o.Reference)
		}
		if o.late {
			continue // it may be executed after its refund: see checkOutside
		}
		bought[job] = o.Reference
	}
	head, justified := w.chain.head(), 0
	for _, a := range w.signed {
		back := head.refunds[keyOf(a)]
		if len(back) == 0 {
			continue
		}
		justified++
		u, ref := head.used[keyOf(a)], bought[order.JobID(id(a))]
		switch {
		case len(back) > 1:
			return fmt.Errorf("%s went back %d times", id(a), len(back))
		case ref != "" && (w.mandates.returns(a, back[0]) || w.cancels.returns(a, ref, back[0])):
		case back[0].to != a.Payer || back[0].amount != u.amount || !u.paid:
			return fmt.Errorf("%s of %s came in for %s, and %s went back to %s", u.amount, a.Payer, id(a), back[0].amount, back[0].to)
		case ref != "":
			return fmt.Errorf("%s went back and was delivered under %s", id(a), ref)
		}
	}
	if justified < len(head.refunds) {
		return fmt.Errorf("%d refunds are of nothing that came in", len(head.refunds)-justified)
	}
	return nil
}

// admitted says what is wrong with a payment that was just accepted: when it was
// checked, its payer had too little for all that is open, or too much was open.
func (w *world) admitted(p order.Payment, at []*block) error {
	if p.AliasOf != "" {
		first, err := w.payment(p.AliasOf)
		if err == nil && (first.State.EndedUnpaid() || first.State.Refunds()) {
			err = fmt.Errorf("%s was taken for %s, which is %s", p.ID, first.ID, first.State)
		}
		return err
	}
	if p.Purchase.Kind == order.PurchaseNothing {
		return nil
	}
	why := fmt.Errorf("%s was accepted unchecked", p.ID)
	for _, b := range at {
		if b.used[keyOf(p.Auth)].pays(p.Auth) {
			return nil // there was nothing to promise
		}
		sum, count := deed.USDC(0), 0
		for _, a := range w.signed {
			o, err := w.payment(id(a))
			_, used := b.used[keyOf(a)]
			if err == nil && a.Payer == p.Auth.Payer && o.AliasOf == "" && !used && (o.State == order.PaymentAuthorized || o.State == order.PaymentSettling) {
				sum, count = sum+o.Auth.Amount, count+1
			}
		}
		if sum <= b.balance[p.Auth.Payer] && count <= terms().MaxOpen {
			return nil
		}
		why = fmt.Errorf("%s was accepted: %d payments of %s in all are open, and %s has %s", p.ID, count, sum, p.Auth.Payer, b.balance[p.Auth.Payer])
	}
	return why
}

// paid are the payments we know, by their jobs.
type paid map[string]order.Payment

// of returns the payment of an order at the registry.
func (p paid) of(reference string) order.Payment {
	job, _, _ := strings.Cut(reference, "-")
	return p[job]
}

// checkPayment compares a payment with the chain.
func (w *world) checkPayment(p order.Payment) error {
	u, used := w.chain.final().used[keyOf(p.Auth)]
	back := len(w.chain.head().refunds[keyOf(p.Auth)]) > 0
	switch {
	case p.TxHash != "" && (!u.paid || u.amount != p.Auth.Amount || u.hash != p.TxHash):
		return fmt.Errorf("%s is %s, and the chain has no transfer of %s for it", p.ID, p.State, p.Auth.Amount)
	case p.State == order.PaymentVoid && !used && w.chain.final().at.Unix() < p.Auth.ValidBefore:
		return fmt.Errorf("%s is void while its money can still move", p.ID)
	case p.State == order.PaymentDust && p.Auth.Amount >= terms().Dust:
		return fmt.Errorf("%s is dust of %s", p.ID, p.Auth.Amount)
	case p.Purchase.Kind != order.PurchaseNothing && !slices.Contains(w.wishes[p.ID], wish(p.Purchase.Kind, p.Purchase.Name)):
		return fmt.Errorf("%s buys %s of %s, which its payer never asked for", p.ID, p.Purchase.Kind, p.Purchase.Name)
	case back && p.State != order.PaymentRefunding && p.State != order.PaymentRefunded && !w.restored:
		return fmt.Errorf("%s is %s and went back", p.ID, p.State)
	case p.State == order.PaymentRefunded && len(w.chain.final().refunds[keyOf(p.Auth)]) != 1:
		return fmt.Errorf("%s is refunded, and the chain has no refund", p.ID)
	case p.State == order.PaymentReleased && w.chain.carries(p.Auth) && !w.restored:
		return fmt.Errorf("%s is released, and a transaction of ours may still carry it", p.ID)
	}
	if w.mandates != nil {
		return w.mandates.check(p)
	}
	if w.cancels != nil {
		return w.cancels.check(p)
	}
	return nil
}

// carries says whether a transaction of ours that settles a may still be mined.
func (c *chain) carries(a settle.Authorization) bool {
	for _, t := range c.signed["settle "+keyOf(a)] {
		if t == nil {
			continue
		}
		if _, mined := c.final().mined[t.hash]; !mined {
			return true
		}
	}
	return false
}

// checkOrders compares what the registry did for us with what we were paid for:
// an order that is done, or may yet be, has the money of one payer, and no
// payment has two that are done.
func (w *world) checkOrders(paid paid) error {
	done := map[string]string{} // by payment
	for _, ref := range w.registry.sent {
		o := w.registry.orders[ref]
		if o.Account != us || !o.open() && o.State != registry.PlacementDone {
			continue
		}
		p := paid.of(ref)
		if u := w.chain.final().used[keyOf(p.Auth)]; !u.paid || !w.pays(u.amount, p) {
			return fmt.Errorf("%s of %s was ordered unpaid, for %s", o.Kind, o.Name, p.ID)
		}
		if p.State != order.PaymentSettled && (o.open() || !p.Delivered()) {
			return fmt.Errorf("%s of %s is %q for %s, which is %s", o.Kind, o.Name, o.State, p.ID, p.State)
		}
		if o.open() {
			continue
		}
		if first := done[p.ID]; first != "" {
			return fmt.Errorf("%s was delivered under %s and again under %s", p.ID, first, ref)
		}
		done[p.ID] = ref
	}
	for _, a := range w.signed {
		if p := paid[order.JobID(id(a))]; p.Delivered() && done[p.ID] == "" {
			return fmt.Errorf("%s is consumed, and the registry did nothing for it", p.ID)
		}
	}
	return nil
}

// pays says whether the amount is what the order of a payment must have cost.
func (w *world) pays(amount deed.USDC, p order.Payment) bool {
	if w.mandates != nil && p.Purchase.Kind == order.PurchaseRenewal {
		return w.mandates.pays(amount, p)
	}
	if w.cancels != nil && w.restored && p.Purchase.Kind == order.PurchaseNothing && p.Part.Label == order.RefundUndo {
		return true // what it bought, and was cancelled, is not known any more
	}
	return amount == cost(p.Purchase)
}

func (w *world) registration(name deed.Name) (lifecycle.Registration, error) {
	return sqldb.Registrations{DB: w.db}.Registration(context.Background(), name)
}

// checkNames follows each name through the orders that were executed: it expires
// at its start and all years that were paid since, and we never say less than
// what we have told its payers, nor more than the registry.
func (w *world) checkNames(paid paid) error {
	expires, told := map[deed.Name]time.Time{}, map[deed.Name]time.Time{}
	for _, o := range w.registry.done {
		if o.Kind != registrar.OrderRenew {
			expires[o.Name], told[o.Name] = o.Expires, o.Expires
			continue
		}
		expires[o.Name] = expires[o.Name].AddDate(o.Years, 0, 0)
		if paid.of(o.Reference).Delivered() {
			told[o.Name] = expires[o.Name]
		}
	}
	for _, name := range slices.Concat(w.names, w.away) {
		e := w.registry.entries[name]
		if !w.registry.ours(name) || w.cancels.gone(e.Reference) {
			continue
		}
		if !e.Expires.Equal(expires[name]) {
			return fmt.Errorf("%s expires at %s, and %s was paid for", name, e.Expires, expires[name])
		}
		if err := w.checkName(e, paid.of(e.Reference), told[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkName compares a name that is ours at the registry with our books.
func (w *world) checkName(e registry.Entry, p order.Payment, told time.Time) error {
	r, err := w.registration(e.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound && p.State != order.PaymentConsumed:
		return nil // its job is still looking
	case err != nil:
		return fmt.Errorf("%s is consumed, and nobody has %s: %w", p.ID, e.Name, err)
	case r.Reference != e.Reference || r.PaymentID != p.ID || r.Owner != w.owner(r.Reference, p.Auth.Payer):
		return fmt.Errorf("%s was bought with %s, and we say %+v", e.Name, p.ID, r)
	case r.Expires.Before(told) || r.Expires.After(e.Expires):
		return fmt.Errorf("we say that %s expires at %s, told its payers %s, and the registry has %s", e.Name, r.Expires, told, e.Expires)
	}
	return nil
}
