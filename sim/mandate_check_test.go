package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// mandateEnds are the ends that a run of many seeds with mandates must meet.
var mandateEnds = []string{
	"mandate used", "mandate failed", "mandate unneeded", "mandate revoked", "mandate at risk", "mandate without change", "mandate after payment refunded",
	"its authorization was cancelled", "the wallet could not pay", "a year costs", "the name has another owner", "its time ended",
	"renewal consumed", "registration consumed", "handed over",
}

// taken says what is wrong with a payment by mandate that was just accepted: it is for
// the renewal that its owner signed, at the price of the day and no more than the cap,
// while the name is the owner's and no other renewal of it is paid, or promised by the owner.
func (m *mandateModel) taken(p order.Payment) error {
	g, ok := m.given[p.ID]
	if !ok {
		return fmt.Errorf("%s is paid by a mandate that nobody gave", p.ID)
	}
	r, err := m.w.registration(p.Purchase.Name)
	if err != nil {
		return fmt.Errorf("%s renews a name that nobody has: %w", p.ID, err)
	}
	cost, _ := risingPrices{m: m}.Renewal(r, 1, p.Purchase.Facts.Restore) // it does not fail
	m.charged[p.ID] = cost.Amount
	switch {
	case r.Owner != g.Owner || r.Reference != g.Reference:
		return fmt.Errorf("%s of %s renews %s, which %s has", p.ID, g.Owner, r.Name, r.Owner)
	case !g.Renews(p.Purchase.From):
		return fmt.Errorf("%s is for %s, and renews %s", p.ID, g.Expires, p.Purchase.From)
	case p.Purchase.Facts.Price != cost.Amount:
		return fmt.Errorf("%s costs %s, and the price of the day is %s", p.ID, p.Purchase.Facts.Price, cost.Amount)
	case cost.Amount > g.Auth.Amount:
		return fmt.Errorf("%s costs %s, and its owner allowed %s", p.ID, cost.Amount, g.Auth.Amount)
	}
	open, err := sqldb.Jobs{DB: m.w.db}.Unfinished(context.Background())
	for _, j := range open {
		promised := j.State == order.JobAwaitingPayment && j.Owner != r.Owner // by somebody else
		if j.Purchase.Kind == order.PurchaseRenewal && j.Purchase.Name == r.Name && j.PaymentID != p.ID && !promised {
			return fmt.Errorf("%s renews %s, and %s is open", p.ID, r.Name, j.ID)
		}
	}
	return err
}

// check compares a payment by mandate with what its owner signed.
func (m *mandateModel) check(p order.Payment) error {
	g := m.given[p.ID]
	switch {
	case p.Source != order.SourceMandate:
		return nil
	case p.Purchase.Kind != order.PurchaseRenewal || p.Purchase.Name != g.Name || p.Purchase.Years != 1 || p.Auth.Payer != g.Owner:
		return fmt.Errorf("%s buys %+v for %s, and %s signed a year of %s", p.ID, p.Purchase, p.Auth.Payer, g.Owner, g.Name)
	case p.Auth.Amount != g.Auth.Amount && !p.State.Refunds(): // a payer may send another amount with the same nonce, which goes back
		return fmt.Errorf("%s is of %s, and %s was signed", p.ID, p.Auth.Amount, g.Auth.Amount)
	case p.Purchase.Facts.Price != m.charged[p.ID]:
		return fmt.Errorf("%s costs %s, and it was taken at %s", p.ID, p.Purchase.Facts.Price, m.charged[p.ID])
	}
	return nil
}

// pays says whether the amount is what an order must have cost: any price that there
// was, and for a mandate its cap.
func (m *mandateModel) pays(amount deed.USDC, p order.Payment) bool {
	if p.Source == order.SourceMandate {
		return amount == m.given[p.ID].Auth.Amount
	}
	years := deed.USDC(p.Purchase.Years)
	return slices.ContainsFunc(m.raises, func(raise deed.USDC) bool { return amount == cost(p.Purchase)+raise*years })
}

// returns says whether what went back is what the price left over of a mandate.
func (m *mandateModel) returns(a settle.Authorization, back refunded) bool {
	return m != nil && m.charged[id(a)] > 0 && back.to == a.Payer && back.amount == a.Amount-m.charged[id(a)]
}

// all returns every mandate that was stored.
func (m *mandateModel) all() (found []order.Mandate, err error) {
	for _, owner := range m.w.buyers {
		for _, name := range slices.Concat(m.w.names, m.w.away) {
			all, err := sqldb.Mandates{DB: m.w.db}.List(context.Background(), owner, name)
			if err != nil {
				return nil, err
			}
			found = append(found, all...)
		}
	}
	return found, nil
}

// checkRest says what is not as it must be with mandates when all has come to its end.
func (m *mandateModel) checkRest() error {
	all, err := m.all()
	if err != nil {
		return err
	}
	told := map[string][]event.Type{} // by mandate
	for _, owner := range m.w.buyers {
		events, err := sqldb.Events{DB: m.w.db}.Events(context.Background(), owner, 0, 10_000)
		if err != nil {
			return err
		}
		for _, e := range events {
			told[e.Data.MandateID] = append(told[e.Data.MandateID], e.Type)
		}
	}
	for _, one := range all {
		m.count(one, told[one.ID])
		if err := m.checkEnd(one); err != nil {
			return fmt.Errorf("mandate of %s at %s with %s, which is %s: %w", one.Name, one.Expires, id(one.Auth), one.State, err)
		}
		if err := checkToldOf(one, told[one.ID]); err != nil {
			return fmt.Errorf("mandate of %s with %s, which is %s: %w", one.Name, id(one.Auth), one.State, err)
		}
	}
	return nil
}

// checkEnd compares a mandate with what its owner has paid for it in the end.
func (m *mandateModel) checkEnd(one order.Mandate) error {
	head, key := m.w.chain.head(), keyOf(one.Auth)
	cost := deed.USDC(0)
	if u := head.used[key]; u.paid {
		cost = u.amount
	}
	for _, back := range head.refunds[key] {
		cost -= back.amount
	}
	switch {
	case one.State == order.MandatePaying:
		return fmt.Errorf("it never ends")
	case one.State == order.MandateUsed && cost != m.charged[id(one.Auth)]:
		return fmt.Errorf("it cost %s, and the price of the day was %s", cost, m.charged[id(one.Auth)])
	case one.State != order.MandateUsed && cost != 0 && !m.dust(one):
		return fmt.Errorf("it cost %s for nothing", cost)
	case one.PaymentID == "" && len(m.w.chain.signed["settle "+key]) > 0 && !m.boughtElse(one):
		return fmt.Errorf("it was sent, and nothing is known of that")
	case one.State == order.MandateActive:
		return m.checkActive(one)
	}
	return nil
}

// dust says whether its nonce was used for what is not worth a refund, or the owner paid
// for something else with it.
func (m *mandateModel) dust(one order.Mandate) bool {
	p, err := m.w.payment(id(one.Auth))
	return err == nil && p.State == order.PaymentDust || m.boughtElse(one) || m.w.chain.blocks[m.w.chain.head().used[keyOf(one.Auth)].block].fat
}

func (m *mandateModel) boughtElse(one order.Mandate) bool {
	p, err := m.w.payment(id(one.Auth))
	return err == nil && p.Source != order.SourceMandate && p.Purchase.Kind != order.PurchaseNothing
}

// checkActive fails if a mandate should have been used or ended by now: nothing has
// failed for days.
func (m *mandateModel) checkActive(one order.Mandate) error {
	r, err := m.w.registration(one.Name)
	if err != nil {
		return err
	}
	b, now := m.w.chain.head(), m.w.registry.now()
	_, spent := b.used[keyOf(one.Auth)]
	step := one.Step(r, now)
	held := r.Status == lifecycle.StatusActive || r.Status == lifecycle.StatusExpired
	due := step.Use && held && one.Auth.Amount >= m.w.yearOf(r) // its owner knows of one that allows too little
	switch {
	case step.End == order.MandateRevoked: // others end when they are looked at next
		return fmt.Errorf("it should have ended: %s", step.Reason)
	case due && spent:
		return fmt.Errorf("its nonce is used, and it never ends")
	case due && b.fails(one.Auth) == "":
		return fmt.Errorf("it is due and can be paid, and was not used")
	}
	return nil
}

// finalEvents are what the owner is told of a mandate that has ended.
var finalEvents = map[order.MandateState]event.Type{
	order.MandateUsed: event.MandateUsed, order.MandateFailed: event.MandateFailed, order.MandateRevoked: event.MandateRevoked,
}

// checkToldOf fails unless the owner was told of the end of a mandate once.
func checkToldOf(one order.Mandate, told []event.Type) error {
	want := finalEvents[one.State]
	n, due := 0, 0
	for _, t := range told {
		if t == want {
			n++
		}
		if t == event.MandateDue {
			due++
		}
	}
	if want != "" && n != 1 || due > 1 || (due == 1) != (one.PaymentID != "") {
		return fmt.Errorf("its owner was told %v", told)
	}
	return nil
}

// count notes how a mandate ended, and of what its owner was told.
func (m *mandateModel) count(one order.Mandate, told []event.Type) {
	ends := m.w.ends
	ends["mandate "+string(one.State)]++
	if slices.Contains(told, event.MandateAtRisk) {
		ends["mandate at risk"]++
	}
	if one.State == order.MandateUsed && m.charged[id(one.Auth)] == one.Auth.Amount {
		ends["mandate without change"]++
	}
	if p, err := m.w.payment(one.PaymentID); err == nil && one.State == order.MandateFailed {
		ends["mandate after payment "+string(p.State)]++
	}
	for _, reason := range mandateEnds {
		if strings.HasPrefix(one.Reason, reason) {
			ends[reason]++
		}
	}
}

// chainLag is how far the chain's clock is behind the registry's, if they jump together.
func (w *world) chainLag() time.Duration {
	if w.mandates == nil {
		return 0
	}
	return w.registry.ahead - w.chain.ahead
}
