package fulfil_test

import (
	"context"
	"fmt"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
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

// behind is a chain whose final block is below the one that is read next.
type behind struct {
	unreadable
	settle.Arrivals
}

func (b *behind) Incoming(context.Context, uint64) (settle.Arrivals, error) { return b.Arrivals, nil }

// The first block of the treasury is the newest one when a service is first started, and is
// not final yet. Then transfers before it are neither refunded nor compared, although a
// watcher reads the last blocks again.
func TestTransfersBeforeTheFirstBlock(t *testing.T) {
	e := newEnv(t)
	e.Terms.First = 10
	arrivals := func() settle.Arrivals {
		transfer := func(nonce string, block uint64) settle.Transfer {
			return settle.Transfer{Payer: payer, PayTo: payTo, Nonce: nonce, Amount: price, TxHash: "0x" + nonce, Block: block}
		}
		return settle.Arrivals{
			Transfers: []settle.Transfer{transfer("1", 9), transfer("2", 10)}, Next: 11, Final: 10,
			Unread: []settle.UnreadBlock{{Number: 8, Reason: "too large"}},
		}
	}
	chain := &behind{Arrivals: arrivals()}
	e.Watcher = chain
	if _, err := e.ReadChain(t.Context()); err != nil {
		t.Error(err)
	}
	if got := e.state(authorization("2")); got != order.PaymentUnclaimed {
		t.Errorf("the transfer in the first block is %s", got)
	}
	if _, err := e.rows.Payment(t.Context(), authorization("1").PaymentID(chainID, "")); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("the transfer before the first block is stored: %v", err)
	}
	chain.Arrivals = arrivals()
	c, err := e.Compare(t.Context(), sqldb.Audit{DB: e.rows.DB}, chain, fulfil.Checkpoint{})
	if err != nil || c.Transfers != 1 {
		t.Errorf("compared %d transfers, %v, want 1", c.Transfers, err)
	}
}
