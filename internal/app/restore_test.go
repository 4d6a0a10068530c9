package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// unread is a chain that cannot be read.
type unread struct{ silent }

func (unread) Incoming(context.Context, uint64) (settle.Arrivals, error) {
	return settle.Arrivals{}, errors.New("the endpoint answered 503")
}

// From its beginning on, a restore leaves no unclaimed transfer to the nodes, also while it
// reads the chain. A dry run leaves them all.
func TestFinishRestoreParksFirst(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		rows := sqldb.Payments{DB: db, Now: time.Now}
		a := &App{DB: db, now: time.Now, money: &money{payments: &fulfil.Service{Watch: rows, Watcher: unread{}, Terms: fulfil.DefaultTerms(), Now: time.Now}}}
		transfer := settle.Transfer{Payer: "0x01", PayTo: "0x02", Nonce: "0x0a", Amount: deed.Cent, TxHash: "0xabc"}
		if err := rows.Adopt(t.Context(), transfer, order.Unsolicited{State: order.PaymentUnclaimed, Next: time.Now().Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		for _, dryRun := range []bool{true, false} {
			if _, err := a.FinishRestore(t.Context(), dryRun); err == nil {
				t.Error("the chain was read")
			}
			if due, err := rows.DueRefunds(t.Context(), 10); err != nil || (len(due) > 0) != dryRun {
				t.Errorf("dry run %t: due are %v, %v", dryRun, due, err)
			}
		}
	})
}
