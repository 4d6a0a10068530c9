package sim

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// cancelEnds are the ends that a run of many seeds with cancellations must meet.
var cancelEnds = []string{
	"deleted in add grace", "cancellation done", "cancellation kept", "cancelled with a fee", "cancelled without a fee", "registered again",
	"registration consumed", "registration refunded", "renewal consumed", "renewal refunded", "transferred_out", "handed over",
}

// returns says whether what went back is what is due for a cancelled registration, which
// the registry has deleted.
func (m *cancelModel) returns(a settle.Authorization, reference string, back refunded) bool {
	if m == nil {
		return false
	}
	_, deleted := m.deleted[reference]
	return deleted && back.to == a.Payer && back.amount == a.Amount-m.terms.Fee && back.amount > 0
}

// check says what is wrong with a payment of which a part goes back: its name is deleted
// at the registry, nobody has it under that registration, and the part is what was paid
// less what the registry keeps. What a payment bought that was lost in a restore is not
// known any more.
func (m *cancelModel) check(p order.Payment) error {
	if p.Part.Label != order.RefundUndo {
		return nil
	}
	reference := m.reference(p)
	r, err := m.w.registration(p.Purchase.Name)
	c, stored := m.cancellation(reference)
	forgotten := m.w.restored && p.Purchase.Kind == order.PurchaseNothing
	switch _, deleted := m.deleted[reference]; {
	case p.Purchase.Kind != order.PurchaseRegistration && !forgotten:
		return fmt.Errorf("%s bought a %s, and goes back", p.ID, p.Purchase.Kind)
	case !deleted:
		return fmt.Errorf("%s goes back, and the registry has not deleted %s", p.ID, p.Purchase.Name)
	case err == nil && r.Reference == reference:
		return fmt.Errorf("%s goes back, and %s has %s", p.ID, r.Owner, r.Name)
	case p.Part.Amount != p.Auth.Amount-m.terms.Fee || p.Part.Amount <= 0:
		return fmt.Errorf("%s goes back of %s for %s, and the registry keeps %s", p.Part.Amount, p.Auth.Amount, p.ID, m.terms.Fee)
	case forgotten:
	case stored != nil || c.State != lifecycle.CancelDone || c.PaymentID != p.ID:
		return fmt.Errorf("%s goes back, and its cancellation is %+v: %w", p.ID, c, stored)
	}
	return nil
}

// reference is that of the registration that the payment bought.
func (m *cancelModel) reference(p order.Payment) string {
	for _, o := range m.w.registry.done {
		if o.Account == us && order.JobOfReference(o.Reference) == order.JobID(p.ID) {
			return o.Reference
		}
	}
	return ""
}

func (m *cancelModel) cancellation(reference string) (lifecycle.Cancellation, error) {
	return sqldb.Cancellations{DB: m.w.db}.Cancellation(context.Background(), reference)
}

// gone says whether the registry has deleted the registration. It may have begun its
// redemption, when the add grace period ended meanwhile.
func (m *cancelModel) gone(reference string) bool {
	if m == nil {
		return false
	}
	_, deleted := m.deleted[reference]
	return deleted
}

// open counts the cancellations that have not ended, and deletions on their way.
func (m *cancelModel) open() (int, error) {
	later := func() time.Time { return m.w.now.AddDate(1, 0, 0) }
	due, err := sqldb.Cancellations{DB: m.w.db, Now: later}.DueCancellations(context.Background(), 100)
	return len(due) + len(m.sent), err
}

// waiting says whether a cancellation has not ended.
func (m *cancelModel) waiting() bool {
	if m == nil {
		return false
	}
	n, err := m.open()
	return n > 0 || err != nil
}

// checkRest says what is not as it must be when all has come to its end: who lost a name
// by a cancellation has the money, and who has the name was not refunded.
func (m *cancelModel) checkRest() error {
	counts, ends := map[deed.Wallet]int{}, m.w.ends
	for _, a := range m.w.signed {
		p, err := m.w.payment(id(a))
		if err != nil || p.Purchase.Kind != order.PurchaseRegistration || !p.Delivered() {
			continue
		}
		reference := m.reference(p)
		c, err := m.cancellation(reference)
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			return err
		}
		switch deleted := m.gone(reference); {
		case deleted && p.Part.Label != order.RefundUndo && m.w.restored:
			ends["deleted before a restore"]++ // and not refunded: people see that the name is missing
		case deleted && p.Part.Label != order.RefundUndo:
			return fmt.Errorf("the registry has deleted %s, and %s is %s: the cancellation is %q for %q", p.Purchase.Name, p.ID, p.State, c.State, c.Reason)
		case c.State == lifecycle.CancelDeleting:
			return fmt.Errorf("the cancellation of %s never ends", c.Name)
		case c.State == lifecycle.CancelDone:
			counts[c.Wallet]++
		}
		m.count(c)
	}
	for who, n := range counts {
		if n > cancelsPerWallet {
			return fmt.Errorf("%s has cancelled %d registrations", who, n)
		}
	}
	return nil
}

// count notes how a cancellation ended.
func (m *cancelModel) count(c lifecycle.Cancellation) {
	ends := m.w.ends
	switch {
	case c.State == "":
		return
	case c.State == lifecycle.CancelDone && c.Fee > 0:
		ends["cancelled with a fee"]++
	case c.State == lifecycle.CancelDone:
		ends["cancelled without a fee"]++
	}
	ends["cancellation "+string(c.State)]++
	if m.w.registry.entries[c.Name].Reference != c.Reference && c.State == lifecycle.CancelDone {
		ends["registered again"]++
	}
}
