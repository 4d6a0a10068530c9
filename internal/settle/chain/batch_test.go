package chain_test

import (
	"crypto/ecdsa"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// payers returns new wallets that can pay once.
func (h *house) payers(n int) (keys []*ecdsa.PrivateKey) {
	h.t.Helper()
	for range n {
		key, w := newKey(h.t)
		h.give(w, int64(price))
		keys = append(keys, key)
	}
	return keys
}

func (h *house) gasUsed(txHash string) uint64 {
	h.t.Helper()
	var r struct{ GasUsed hexutil.Uint64 }
	h.rpc(&r, "eth_getTransactionReceipt", txHash)
	return uint64(r.GasUsed)
}

// together starts settling one payment and, while the chain thinks about it,
// all the others: they wait together.
func (h *house) together(s *chain.Settler, first deed.Authorization, others ...deed.Authorization) (<-chan answer, []<-chan answer) {
	h.t.Helper()
	asked := h.way.hold()
	alone := h.settleLater(s, first)
	<-asked
	var all []<-chan answer
	for _, a := range others {
		all = append(all, h.settleLater(s, a))
	}
	h.wait(func() bool { return s.Waiting() == 1+len(others) })
	h.way.mend()
	return alone, all
}

func TestPaymentsThatWaitTogetherShareATransaction(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.settled(h.settleLater(h.settler(), h.pay("the treasury's first"))) // which costs more
		var others []deed.Authorization
		for _, key := range h.payers(64) {
			others = append(others, h.payFrom(key, "1"))
		}
		alone, all := h.together(h.settler(), h.payFrom(h.payers(1)[0], "1"), others...)
		hash := h.settled(alone)
		batch := h.settled(all[0])
		for _, c := range all[1:] {
			if got := h.settled(c); got != batch {
				t.Errorf("got %s, want %s for all", got, batch)
			}
		}
		if h.moved() != 66 {
			t.Errorf("got %d transfers, want 66", h.moved())
		}
		h.noGap(h.cfg.HotKey)
		t.Logf("gas: %d alone, %d each in a batch of 64", h.gasUsed(hash), h.gasUsed(batch)/64)
	})
}

// One who drained his wallet does not spoil the others, and is not refused
// either: when the money is back, his payment is settled.
func TestOneOfABatchFails(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		keys := h.payers(3)
		poor, rich := h.payFrom(keys[0], "1"), h.payFrom(keys[1], "1")
		drain := h.payFrom(keys[0], "drain")
		drain.PayTo = "0x00000000000000000000000000000000000000cc"
		drain = h.signed(keys[0], drain)

		h.Pause()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			h.stranger(drain)
		}()
		h.inPool(1) // it comes before ours
		alone, both := h.together(s, h.payFrom(keys[2], "1"), poor, rich)
		h.inPool(3)
		h.Resume()
		<-drained
		h.settled(alone)
		h.settled(both[1])
		if h.moved() != 2 {
			t.Errorf("got %d transfers, want 2", h.moved())
		}
		select {
		case got := <-both[0]:
			t.Errorf("the drained wallet: got %q, %v, want no answer", got.txHash, got.err)
		default:
		}
		h.give(poor.Payer, int64(price))
		h.pass(pauseOver)
		h.settled(both[0])
		if h.moved() != 3 {
			t.Errorf("got %d transfers, want 3", h.moved())
		}
		h.noGap(h.cfg.HotKey)
	})
}

// Two nodes with one database and one hot wallet are asked for the same hundred
// payments at once.
func TestTwoNodes(t *testing.T) {
	url := sqldbtest.PostgresURL(t)
	var h *house
	var nodes []*chain.Settler
	for range 2 {
		db, err := sqldb.OpenPostgres(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		db.Patience = time.Minute        // 200 calls wait for one row
		t.Cleanup(func() { db.Close() }) // the schema goes away with the test
		if h == nil {
			h = newHouse(t, db)
		}
		h.cfg.Store = sqldb.Settlements{DB: db, ChainID: h.cfg.ChainID}
		h.cfg.Client = patient(h.url)
		nodes = append(nodes, h.settler())
	}
	var wg sync.WaitGroup
	var hashes [2][100]string
	for i := range 100 {
		a := h.pay(fmt.Sprint(i))
		for n, s := range nodes {
			wg.Go(func() {
				var err error
				if hashes[n][i], err = s.Settle(t.Context(), a); err != nil {
					t.Errorf("node %d, payment %d: %v", n, i, err)
				}
			})
		}
	}
	var refunds [2]string
	for n, s := range nodes {
		wg.Go(func() {
			var err error
			if refunds[n], err = s.Refund(t.Context(), "1", "0x00000000000000000000000000000000000000dd", 5); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if hashes[0] != hashes[1] || refunds[0] != refunds[1] {
		t.Errorf("the nodes differ: %v and %v, %v", hashes[0], hashes[1], refunds)
	}
	if got := h.usdc("0x00000000000000000000000000000000000000dd"); h.moved() != 100 || got != 5 {
		t.Errorf("got %d transfers and %s back, want 100 and 0.000005", h.moved(), got)
	}
	h.noGap(h.cfg.HotKey)
	h.noGap(h.cfg.RefundKey)
	t.Logf("100 payments on two nodes in %d transactions", h.nonceOf(h.cfg.HotKey))
}
