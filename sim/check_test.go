package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	}
	return w.checkNames()
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
	if p.State == deed.PaymentConsumed {
		r, err := sqldb.Registrations{DB: w.db}.Registration(context.Background(), p.Purchase.Name)
		if err != nil || r.PaymentID != p.ID || r.Owner != p.Auth.Payer {
			return fmt.Errorf("%s is consumed, and its payer does not have %s: %+v, %v", p.ID, p.Purchase.Name, r, err)
		}
	}
	return nil
}

// checkNames compares what the registry has sold us with what we were paid for
// and with what we say that we sold.
func (w *world) checkNames() error {
	for _, name := range w.names {
		holder, ours := w.registry.holder[name], w.registry.holder[name] != "" && w.registry.holder[name] != outsider
		r, err := sqldb.Registrations{DB: w.db}.Registration(context.Background(), name)
		if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
			return err
		}
		if err == nil && r.Reference != holder {
			return fmt.Errorf("we say that %s was sold under %s, the registry has it under %q", name, r.Reference, holder)
		}
		if !ours {
			continue
		}
		job, _, _ := strings.Cut(holder, "-")
		p, err := w.payment(strings.Replace(job, "job_", "pay_", 1))
		if err != nil {
			return fmt.Errorf("%s was bought for nobody: %w", name, err)
		}
		if u := w.chain.final().used[keyOf(p.Auth)]; !u.paid || u.amount != price {
			return fmt.Errorf("%s was bought unpaid, for %s", name, p.ID)
		}
		if p.State != deed.PaymentSettled && p.State != deed.PaymentConsumed {
			return fmt.Errorf("%s was bought for %s, which is %s", name, p.ID, p.State)
		}
		if w.registry.bought[name] != 1 {
			return fmt.Errorf("%s was bought %d times", name, w.registry.bought[name])
		}
	}
	return nil
}

// count notes how a payment ended.
func (w *world) count(p deed.Payment, err error) {
	switch {
	case err != nil:
		w.ends["refused"]++
	case p.AliasOf != "":
		w.ends["alias"]++
	case p.Purchase.Kind == deed.PurchaseNothing:
		w.ends["adopted and "+string(p.State)]++
	default:
		w.ends[string(p.State)]++
	}
}

// idle says whether no order is under way.
func (r *registry) idle() bool {
	for _, ref := range r.sent {
		if s := r.orders[ref].state; s == "travelling" || s == "late" || s == "parked" {
			return false
		}
	}
	return true
}

// checkRest says what is not as it must be when all has come to its end: every
// transfer to us has bought one name or went back once, and nothing is open.
func (w *world) checkRest() error {
	open, err := (sqldb.Audit{DB: w.db}).Open(context.Background())
	if err != nil || open != 0 {
		return errors.Join(fmt.Errorf("%d payments and jobs never end", open), err)
	}
	var in, consumed, back deed.USDC
	for _, a := range w.signed {
		u := w.chain.final().used[keyOf(a)]
		if u.paid {
			in += u.amount
		}
		p, err := w.payment(id(a))
		w.count(p, err)
		switch {
		case deed.CodeOf(err) == deed.CodeNotFound && !u.paid:
		case err != nil:
			return fmt.Errorf("%s came in and nobody knows of it: %w", u.amount, err)
		case p.State == deed.PaymentConsumed:
			consumed += p.Auth.Amount
		case p.State == deed.PaymentRefunded:
			back += p.Auth.Amount
		case u.paid:
			return fmt.Errorf("%s has %s of its payer and is %s", p.ID, u.amount, p.State)
		case p.State != deed.PaymentVoid && p.AliasOf == "":
			return fmt.Errorf("%s never ends: it is %s", p.ID, p.State)
		}
	}
	if in != consumed+back || w.chain.final().balance[treasury] != consumed {
		return fmt.Errorf("%s came in, %s was earned and %s went back, and the treasury has %s", in, consumed, back, w.chain.final().balance[treasury])
	}
	for _, name := range w.names {
		if holder := w.registry.holder[name]; holder != "" && holder != outsider {
			if _, err := (sqldb.Registrations{DB: w.db}).Registration(context.Background(), name); err != nil {
				return fmt.Errorf("%s was bought under %s and given to nobody: %w", name, holder, err)
			}
		}
	}
	return nil
}
