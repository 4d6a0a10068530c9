package order

import (
	"slices"
	"time"

	"deed.example/deed"
)

// A Quote is the price of one order.
type Quote struct {
	Amount deed.USDC
	Cost   deed.USDC // what the registrar charges us for it
	Years  int
	For    string      // "example.com for 2 years"
	Held   []deed.USDC // recently replaced prices that are still accepted

	// Premium is set when the registry has an individual price for the name.
	Premium bool
}

// HoldPrice is how long a quoted price is accepted after it changed.
const HoldPrice = 300 * time.Second

// Accepts reports whether the amount pays for the quote: exactly the price, or
// exactly one of the held prices.
func (q Quote) Accepts(amount deed.USDC) bool {
	return amount == q.Amount || slices.Contains(q.Held, amount)
}

// WithoutLoss returns the quote without the held prices that are below our cost by more
// than the loss.
func (q Quote) WithoutLoss(loss deed.USDC) Quote {
	q.Held = slices.DeleteFunc(slices.Clone(q.Held), func(price deed.USDC) bool { return q.Cost-price > loss })
	return q
}

// Within fails with CodeTooExpensive when the quote is above the ceiling: a price
// that high is more often a mistake than intended.
func (q Quote) Within(ceiling deed.USDC) error {
	if q.Amount > ceiling {
		return deed.Errorf(deed.CodeTooExpensive, "%s costs %s USDC and we sell up to %s USDC an order", q.For, q.Amount, ceiling)
	}
	return nil
}
