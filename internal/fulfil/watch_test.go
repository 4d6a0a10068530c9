package fulfil_test

import (
	"fmt"
	"testing"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A third party puts many transfers that nobody asked for into one transaction: its sender
// is looked up once.
func TestManyTransfersInOneTransaction(t *testing.T) {
	e := newEnv(t)
	var many []settle.Transfer
	for i := range 50 {
		many = append(many, settle.Transfer{Payer: payer, PayTo: payTo, Nonce: fmt.Sprint(i), Amount: price, TxHash: "0x1", Block: 1})
	}
	many = append(many, settle.Transfer{Payer: payer, PayTo: payTo, Nonce: "other", Amount: price, TxHash: "0x2", Block: 1})
	e.chain.arrivals = []settle.Arrivals{{Next: 2, Transfers: many}}
	if _, err := e.ReadChain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e.chain.traced != 2 {
		t.Errorf("%d calls for two transactions", e.chain.traced)
	}
	for _, nonce := range []string{"0", "49", "other"} {
		if got := e.state(authorization(nonce)); got != order.PaymentUnclaimed {
			t.Errorf("%s is %s", nonce, got)
		}
	}
}
