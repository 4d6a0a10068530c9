package epp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// currency is the currency of all prices: one dollar is taken for one USDC.
const currency = "USD"

// feeCheck is a reply about prices (RFC 8748, 5.1.1).
type feeCheck struct {
	Currency string `xml:"currency"`
	Names    []struct {
		Avail    string       `xml:"avail,attr"`
		Name     string       `xml:"objID"`
		Class    string       `xml:"class"`
		Commands []feeCommand `xml:"command"`
	} `xml:"cd"`
}

type feeCommand struct {
	Name     string   `xml:"name,attr"`
	Standard string   `xml:"standard,attr"`
	Fees     []string `xml:"fee"`
	Credits  []string `xml:"credit"`
}

type feeBalance struct {
	Currency string `xml:"currency"`
	Balance  string `xml:"balance"`
	Credit   string `xml:"creditLimit"`
}

// A feeQuery asks for the price of a command.
type feeQuery struct {
	command string
	years   int // 0 for a command without a period
}

// writeFeeCheck asks for prices, always with the currency: a registry closed the
// session without one.
func (b *Backend) writeFeeCheck(w *writer, queries []feeQuery) {
	w.object("fee", "check", nsFee, func() {
		w.text("fee:currency", b.cfg.Profile.Currency)
		for _, q := range queries {
			w.element("fee:command", func() {
				if q.years > 0 {
					w.number("fee:period", q.years, "unit", "y")
				}
			}, "name", q.command)
		}
	})
}

// errNoPrice is the error of a reply without a price that can be used.
var errNoPrice = errors.New("the registry has no price for it in our currency")

// fees returns the prices of the commands for a name, by command.
func (b *Backend) fees(r response, name deed.Name) (prices map[string]deed.USDC, premium bool, err error) {
	prices = map[string]deed.USDC{}
	if len(r.Ext.FeeChecks) != 1 || strings.TrimSpace(r.Ext.FeeChecks[0].Currency) != b.cfg.Profile.Currency {
		return nil, false, errNoPrice
	}
	found := false
	for _, cd := range r.Ext.FeeChecks[0].Names {
		if !sameName(cd.Name, name) {
			continue
		}
		if found || cd.Avail == "0" || cd.Avail == "false" {
			return nil, false, errNoPrice
		}
		found = true
		class := strings.ToLower(strings.TrimSpace(cd.Class))
		premium = class != "" && class != "standard"
		for _, c := range cd.Commands {
			total, err := c.total()
			if err != nil {
				continue // this command has no price
			}
			premium = premium || class == "" && (c.Standard == "0" || c.Standard == "false")
			prices[c.Name] = total
		}
	}
	if !found {
		return nil, false, errNoPrice
	}
	return prices, premium, nil
}

// total returns the sum of the fees less the credits.
func (c feeCommand) total() (sum deed.USDC, err error) {
	if len(c.Fees) == 0 {
		return 0, errNoPrice
	}
	for _, f := range c.Fees {
		a, err := deed.ParseUSDC(strings.TrimSpace(f))
		if err != nil || a > maxFee {
			return 0, errNoPrice
		}
		sum += a
	}
	for _, f := range c.Credits {
		a, err := deed.ParseUSDC(strings.TrimPrefix(strings.TrimSpace(f), "-"))
		if err != nil || a > sum {
			return 0, errNoPrice
		}
		sum -= a
	}
	return sum, nil
}

// maxFee bounds a single fee, so that sums do not overflow.
const maxFee deed.USDC = 1e15

// priced returns the availability with the prices of a premium name. It fails when
// the name is free and its price is not known: a premium name must not be sold at the
// price of others. A name that is taken has no prices.
func (b *Backend) priced(r response, name deed.Name, a registrar.Availability) (registrar.Availability, error) {
	if !a.Available {
		return a, nil
	}
	prices, premium, err := b.fees(r, name)
	if err != nil {
		return a, err
	}
	if !premium {
		return a, nil
	}
	create, ok := prices["create"]
	renew, also := prices["renew"]
	least := b.cfg.Profile.MinYears
	each := registrar.Price{Total: renew}.PerYear(least)
	first := create - deed.USDC(least-1)*each
	if !ok || !also || first <= 0 {
		return a, errNoPrice
	}
	a.Premium, a.Wholesale, a.Renewal = true, first, each
	return a, nil
}

// Price implements registrar.PriceLister.
func (b *Backend) Price(ctx context.Context, o registrar.Order) (registrar.Price, error) {
	queries := []feeQuery{{map[registrar.OrderKind]string{registrar.OrderRegister: "create", registrar.OrderRenew: "renew", registrar.OrderTransfer: "transfer"}[o.Kind], o.Years}}
	if o.Restore {
		queries = append(queries, feeQuery{command: "restore"})
	}
	noPrice := deed.Errorf(deed.CodeNotFound, "the registry has no price for %s", o.Name)
	m, err := b.services(ctx)
	if err != nil {
		return registrar.Price{}, fmt.Errorf("price of %s: %w", o.Name, err)
	}
	if !m.fee() {
		return registrar.Price{}, noPrice
	}
	r, err := b.send(ctx, command{
		body: func(w *writer, _ services) {
			w.element("check", func() {
				w.object("domain", "check", nsDomain, func() { w.text("domain:name", string(o.Name)) })
			})
		},
		ext: func(w *writer, _ services) { b.writeFeeCheck(w, queries) },
	})
	if err != nil {
		return registrar.Price{}, fmt.Errorf("price of %s: %w", o.Name, err)
	}
	if r.code() != codeOK {
		return registrar.Price{}, b.refused(r, string(o.Name), beforeMoney)
	}
	prices, premium, err := b.fees(r, o.Name)
	if err != nil {
		return registrar.Price{}, fmt.Errorf("price of %s: %w", o.Name, err)
	}
	p := registrar.Price{Premium: premium}
	for _, q := range queries {
		amount, ok := prices[q.command]
		if !ok {
			return registrar.Price{Premium: premium}, noPrice
		}
		p.Total += amount
	}
	return p, nil
}

// premiumFee returns the price of an order for a premium name, because a registry does
// not sell one without it; 0 for other names. It fails when the buyer has agreed to less.
func (b *Backend) premiumFee(ctx context.Context, o registrar.Order) (deed.USDC, error) {
	m, err := b.services(ctx)
	if err != nil || !m.fee() {
		return 0, err
	}
	p, err := b.Price(ctx, o)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound, errors.Is(err, errNoPrice):
		return 0, nil // then the registry decides
	case err != nil:
		return 0, err
	case !p.Premium:
		return 0, nil
	case p.Total > o.MaxCost:
		return 0, deed.Errorf(deed.CodeRegistrationFailed, "%s costs %s by now, which is more than was agreed on", o.Name, p.Total)
	}
	return p.Total, nil
}

// restoreFee returns the price of the restore that an order for a premium name begins with; 0
// for other names. It fails when the buyer has agreed to less than that and the renewal cost,
// because the restore would then be paid for nothing.
func (b *Backend) restoreFee(ctx context.Context, o registrar.Order) (deed.USDC, error) {
	o.Restore = false
	renewal, err := b.premiumFee(ctx, o)
	if err != nil || renewal == 0 {
		return 0, err
	}
	o.Restore = true
	both, err := b.premiumFee(ctx, o)
	return max(both-renewal, 0), err // no price of a restore: the registry decides
}

// noteBalance remembers the balance that a response to an order has.
func (b *Backend) noteBalance(r response) {
	for _, f := range []*feeBalance{r.Ext.FeeCreate, r.Ext.FeeRenew, r.Ext.FeeTrans} {
		if f == nil || strings.TrimSpace(f.Currency) != b.cfg.Profile.Currency {
			continue
		}
		left, err := deed.ParseUSDC(strings.TrimSpace(f.Balance))
		if err != nil {
			continue
		}
		if credit, err := deed.ParseUSDC(strings.TrimSpace(f.Credit)); err == nil && credit < maxFee && left < maxFee {
			left += credit
		}
		b.setBalance(left)
	}
}

func (b *Backend) setBalance(left deed.USDC) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.balance = registrar.Balance{Available: left, At: b.cfg.Now()}
}

// balanceAge is how long a balance is valid. The registry tells it with orders only:
// without an end, an empty account would refuse the order that shows that it was filled
// up.
const balanceAge = 10 * time.Minute

// Balance implements registrar.BalanceReader. EPP has no command for it: it is what
// the response to the last order said, for balanceAge.
func (b *Backend) Balance(context.Context) (registrar.Balance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.balance.At.IsZero() || b.cfg.Now().Sub(b.balance.At).Abs() > balanceAge {
		return registrar.Balance{}, deed.Errorf(deed.CodeNotFound, "the registry has not reported a balance lately")
	}
	return b.balance, nil
}
