package fulfil_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A settler that cannot abandon payments, such as a remote facilitator, retries what
// is stuck until it is refused for good.
func TestSettlerThatCannotAbandon(t *testing.T) {
	e := newEnv(t)
	e.Settler = struct{ settle.Settler }{e.chain} // Settle and nothing else
	e.chain.settle = settle.ErrUnsettleable
	a := authorization("1")
	if _, err := e.buy(a, "", name(1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		e.now = e.now.Add(time.Minute)
		e.advance()
	}
	if got := e.state(a); got != order.PaymentSettling || e.chain.abandoned != 0 {
		t.Fatalf("got %s, abandoned %d times", got, e.chain.abandoned)
	}
	e.chain.settle = deed.Errorf(deed.CodePaymentInvalid, "it has expired")
	e.now = e.now.Add(time.Minute)
	e.advance()
	if got := e.state(a); got != order.PaymentVoid {
		t.Errorf("got %s", got)
	}
}
