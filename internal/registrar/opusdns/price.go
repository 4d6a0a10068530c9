package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A product is what a price is for: an action, a TLD, and a number of years.
type product struct {
	action string // "create", "renew", "transfer", "restore"
	tld    deed.TLD
	years  int
}

// A priceList has the vendor's usual prices.
type priceList struct {
	at    time.Time
	price map[product]deed.USDC
}

// Price implements registrar.PriceLister.
func (b *Backend) Price(ctx context.Context, o registrar.Order) (registrar.Price, error) {
	c, err := b.check(ctx, readLane, o.Name)
	if err != nil {
		return registrar.Price{}, err
	}
	rules, err := b.tldRules(ctx, o.Name.TLD())
	if err != nil {
		return registrar.Price{}, err
	}
	if rules.Unsupported != "" && o.Kind != registrar.OrderRenew {
		return registrar.Price{}, notSold(o.Name.TLD(), rules)
	}
	if !rules.takes(o) {
		return registrar.Price{}, noPrice(o)
	}
	if c.premium != nil {
		total := c.premium.total(o)
		if total == 0 {
			return registrar.Price{}, noPrice(o)
		}
		return registrar.Price{Total: total, Premium: true}, nil
	}
	list, err := b.priceList(ctx)
	if err != nil {
		return registrar.Price{}, err
	}
	total := list.total(o)
	if total == 0 {
		return registrar.Price{}, noPrice(o)
	}
	return registrar.Price{Total: total}, nil
}

func noPrice(o registrar.Order) error {
	return deed.Errorf(deed.CodeNotFound, "the registrar has no price to %s %s for %d years", o.Kind, o.Name, o.Years)
}

// total returns the price of an order for a premium name; 0 if it is not known.
func (p premium) total(o registrar.Order) deed.USDC {
	switch {
	case o.Kind == registrar.OrderRegister && o.Years > 0 && p.create > 0:
		return p.create + times(p.renew, o.Years-1)
	case o.Kind == registrar.OrderTransfer:
		return p.transfer
	case o.Kind == registrar.OrderRenew && !o.Restore && o.Years > 0:
		return times(p.renew, o.Years)
	case o.Kind == registrar.OrderRenew && p.restore > 0 && o.Years > 0:
		return p.restore + times(p.renew, o.Years)
	}
	return 0
}

// total returns the usual price of an order; 0 if it is not known.
func (l *priceList) total(o registrar.Order) deed.USDC {
	tld := o.Name.TLD()
	renewal := func(n int) deed.USDC {
		if p := l.price[product{"renew", tld, n}]; p > 0 {
			return p
		}
		return times(l.price[product{"renew", tld, 1}], n)
	}
	switch o.Kind {
	case registrar.OrderTransfer:
		return l.price[product{"transfer", tld, 1}]
	case registrar.OrderRenew:
		return sum(o.Restore, l.price[product{"restore", tld, 1}], renewal(o.Years))
	case registrar.OrderRegister:
		if p := l.price[product{"create", tld, o.Years}]; p > 0 {
			return p
		}
		return sum(o.Years > 1, renewal(o.Years-1), l.price[product{"create", tld, 1}])
	}
	return 0
}

// sum returns the price, with the extra if it is wanted; 0 if one of them is not
// known.
func sum(wanted bool, extra, price deed.USDC) deed.USDC {
	switch {
	case price == 0 || wanted && extra == 0:
		return 0
	case wanted:
		return price + extra
	}
	return price
}

// priceList returns the vendor's prices, not older than configured.
func (b *Backend) priceList(ctx context.Context) (*priceList, error) {
	b.mu.Lock()
	list := b.prices
	b.mu.Unlock()
	if list != nil && time.Since(list.at) < b.config.PriceAge {
		return list, nil
	}
	var reply struct {
		Prices []jsontext.Value `json:"prices"`
	}
	path := "/v1/organizations/" + b.config.Organization + "/pricing/product-type/domain"
	if err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: path, limit: maxList}, &reply); err != nil {
		return nil, b.unknown("read the price list", err)
	}
	list = &priceList{at: time.Now(), price: map[product]deed.USDC{}}
	bad := 0
	for _, raw := range reply.Prices {
		p, price, err := parseEntry(raw)
		if err != nil {
			bad++
			continue
		}
		if p.action != "" {
			list.price[p] = max(list.price[p], price) // of two prices the higher is charged
		}
	}
	if bad > 0 {
		b.warn(warnPrices, fmt.Sprintf("%d entries of the price list cannot be used: names that need them are not sold", bad))
	}
	if len(list.price) == 0 {
		return nil, fmt.Errorf("read the price list: no entry can be used")
	}
	b.mu.Lock()
	b.prices = list
	b.mu.Unlock()
	return list, nil
}

// parseEntry reads an entry. The product of one that is not about a name is empty.
func parseEntry(raw jsontext.Value) (product, deed.USDC, error) {
	var r struct {
		Action   string  `json:"product_action"`
		Class    string  `json:"product_class"`
		Price    string  `json:"price"`
		Currency string  `json:"currency"`
		Period   *period `json:"period"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return product{}, 0, err
	}
	switch r.Action {
	case "create", "renew", "transfer", "restore":
	default:
		return product{}, 0, nil
	}
	p := product{action: r.Action, years: 1}
	if r.Period != nil && r.Action != "restore" {
		if r.Period.Unit != "y" {
			return product{}, 0, nil
		}
		p.years = r.Period.Value
	}
	tld, err := deed.ParseTLD(strings.ToLower(r.Class))
	if err != nil || p.years < 1 || p.years > maxYears {
		return product{}, 0, fmt.Errorf("an entry is for %s, %d years", deed.Quoted(r.Class), p.years)
	}
	p.tld = tld
	price, err := parsePrice(r.Price, r.Currency)
	return p, price, err
}

// Balance implements registrar.BalanceReader. It may be negative, and has the credit
// that the vendor grants.
func (b *Backend) Balance(ctx context.Context) (registrar.Balance, error) {
	var reply struct {
		ID       string `json:"organization_id"`
		Currency string `json:"currency"`
		Balance  string `json:"account_balance"`
		Billing  *struct {
			Limit int64 `json:"credit_limit"`
		} `json:"billing_metadata"`
	}
	at := b.config.Now()
	err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/organizations/" + b.config.Organization}, &reply)
	if err != nil {
		return registrar.Balance{}, b.unknown("read the balance", err)
	}
	amount, err := parseAmount(reply.Balance)
	switch {
	case reply.Balance == "":
		return registrar.Balance{}, deed.Errorf(deed.CodeNotFound, "the registrar does not report a balance")
	case reply.ID != "" && reply.ID != b.config.Organization:
		return registrar.Balance{}, fmt.Errorf("read the balance: the reply is about another organization")
	case err != nil:
		return registrar.Balance{}, fmt.Errorf("read the balance: %w", err)
	case reply.Currency != currency:
		return registrar.Balance{}, fmt.Errorf("read the balance: it is in %s, not in %s", deed.Quoted(reply.Currency), currency)
	}
	if reply.Billing != nil && reply.Billing.Limit > 0 {
		amount += times(100*deed.Cent, int(min(reply.Billing.Limit, 1_000_000_000)))
	}
	return registrar.Balance{Available: amount, At: at}, nil
}

// Ping fails when the vendor does not respond, or refuses the key.
func (b *Backend) Ping(ctx context.Context) error {
	_, err := b.Balance(ctx)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil
	}
	return err
}
