package order_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// The price is paid exactly: the present one, or one that was replaced a moment ago.
func TestQuoteAccepts(t *testing.T) {
	q := order.Quote{Amount: 1306 * deed.Cent, Held: []deed.USDC{1300 * deed.Cent, 1310 * deed.Cent}}
	for amount, want := range map[deed.USDC]bool{
		q.Amount: true, q.Held[0]: true, q.Held[1]: true,
		q.Amount - 1: false, q.Amount + 1: false, q.Held[0] - 1: false, q.Held[1] + 1: false, 0: false,
	} {
		if got := q.Accepts(amount); got != want {
			t.Errorf("%s for %s: got %v", amount, q.Amount, got)
		}
	}
}
