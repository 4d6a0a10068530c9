package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
)

func (w *world) payment(id string) (deed.Payment, error) {
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
		if f.Broken != 0 {
			return fmt.Errorf("audit: %s: broken %d times", f.Invariant, f.Broken)
		}
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
		paid[deed.JobID(p.ID)] = p
	}
	if err := w.checkOrders(paid); err != nil {
		return err
	}
	if err := w.checkCodes(); err != nil {
		return err
	}
	return w.checkNames(paid)
}

// paid are the payments we know, by their jobs.
type paid map[string]deed.Payment

// of returns the payment of an order at the registry.
func (p paid) of(reference string) deed.Payment {
	job, _, _ := strings.Cut(reference, "-")
	return p[job]
}

// checkPayment compares a payment with the chain.
func (w *world) checkPayment(p deed.Payment) error {
	u, used := w.chain.final().used[keyOf(p.Auth)]
	back := w.chain.head().refunds[p.ID]
	if p.TxHash != "" && (!u.paid || u.amount != p.Auth.Amount || u.hash != p.TxHash) {
		return fmt.Errorf("%s is %s, and the chain has no transfer of %s for it", p.ID, p.State, p.Auth.Amount)
	}
	if p.State == deed.PaymentVoid && !used && w.chain.final().at.Unix() < p.Auth.ValidBefore {
		return fmt.Errorf("%s is void while its money can still move", p.ID)
	}
	if len(back) > 1 {
		return fmt.Errorf("%s went back %d times", p.ID, len(back))
	}
	for _, r := range back {
		if r.to != p.Auth.Payer || r.amount != p.Auth.Amount {
			return fmt.Errorf("%s went back to %s, %s, not to its payer", p.ID, r.to, r.amount)
		}
		if p.State != deed.PaymentRefunding && p.State != deed.PaymentRefunded {
			return fmt.Errorf("%s is %s and went back", p.ID, p.State)
		}
	}
	if p.State == deed.PaymentRefunded && len(w.chain.final().refunds[p.ID]) != 1 {
		return fmt.Errorf("%s is refunded, and the chain has no refund", p.ID)
	}
	return nil
}

// checkOrders compares what the registry did for us with what we were paid for:
// an order that is done, or may yet be, has the money of one payer, and no
// payment has two that are done.
func (w *world) checkOrders(paid paid) error {
	done := map[string]string{} // by payment
	for _, ref := range w.registry.sent {
		o := w.registry.orders[ref]
		if o.Account != us || !o.open() && o.State != deed.PlacementDone {
			continue
		}
		p := paid.of(ref)
		if u := w.chain.final().used[keyOf(p.Auth)]; !u.paid || u.amount != cost(p.Purchase) {
			return fmt.Errorf("%s of %s was ordered unpaid, for %s", o.Kind, o.Name, p.ID)
		}
		if p.State != deed.PaymentSettled && (o.open() || p.State != deed.PaymentConsumed) {
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
		if p := paid[deed.JobID(id(a))]; p.State == deed.PaymentConsumed && done[p.ID] == "" {
			return fmt.Errorf("%s is consumed, and the registry did nothing for it", p.ID)
		}
	}
	return nil
}

func (w *world) registration(name deed.Name) (deed.Registration, error) {
	return sqldb.Registrations{DB: w.db}.Registration(context.Background(), name)
}

// checkNames follows each name through the orders that were executed: it expires
// at its start and all years that were paid since, and we never say less than
// what we have told its payers, nor more than the registry.
func (w *world) checkNames(paid paid) error {
	expires, told := map[deed.Name]time.Time{}, map[deed.Name]time.Time{}
	for _, o := range w.registry.done {
		if o.Kind != deed.OrderRenew {
			expires[o.Name], told[o.Name] = o.Expires, o.Expires
			continue
		}
		expires[o.Name] = expires[o.Name].AddDate(o.Years, 0, 0)
		if paid.of(o.Reference).State == deed.PaymentConsumed {
			told[o.Name] = expires[o.Name]
		}
	}
	for _, name := range slices.Concat(w.names, w.away) {
		e := w.registry.entries[name]
		if !w.registry.ours(name) {
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
func (w *world) checkName(e deed.RegistryEntry, p deed.Payment, told time.Time) error {
	r, err := w.registration(e.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound && p.State != deed.PaymentConsumed:
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
