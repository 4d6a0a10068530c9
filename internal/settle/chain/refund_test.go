package chain_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// A refund is believed at its depth, survives a reorganisation, and pays once.
func TestRefundDepth(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachHouse(t, func(t *testing.T, h *house) {
		h.cfg.Depth = func(deed.USDC) uint64 { return 3 }
		s := h.settler()
		c := later(func() (string, error) { return s.Refund(t.Context(), "1", payee, 7) })
		h.wait(func() bool { return h.usdc(payee) == 7 })
		h.Pause()
		if _, err := h.Rewind(1); err != nil {
			t.Fatal(err)
		}
		h.inPool(1) // sent again
		h.pass(pauseOver)
		h.Resume()
		h.wait(func() bool { return h.usdc(payee) == 7 })
		for depth := 1; depth < 3; depth++ {
			h.rounds()
			select {
			case got := <-c:
				t.Fatalf("got %q, %v at depth %d, want no answer", got.txHash, got.err, depth)
			default:
			}
			h.mine(1)
		}
		h.settled(c)
		if h.usdc(payee) != 7 || len(h.signedBy(h.cfg.RefundKey)) != 1 {
			t.Errorf("got %s back by %d transactions, want 0.000007 by one", h.usdc(payee), len(h.signedBy(h.cfg.RefundKey)))
		}
	})
}

// The same refund with other particulars is neither made nor called made.
func TestRefundOfAnotherAmount(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		if _, err := s.Refund(t.Context(), "1", payee, 7); err != nil {
			t.Fatal(err)
		}
		c := later(func() (string, error) { return s.Refund(t.Context(), "1", payee, 8) })
		h.wait(func() bool { return s.Cause() != nil })
		if h.usdc(payee) != 7 {
			t.Errorf("got %s back, want 0.000007", h.usdc(payee))
		}
		select {
		case got := <-c:
			t.Errorf("got %q, %v, want no answer", got.txHash, got.err)
		default:
		}
	})
}

// What left the refund wallet is seen when it is final; until then its
// transaction is known to be a young one.
func TestOutgoing(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachHouse(t, func(t *testing.T, h *house) {
		hash := h.settled(later(func() (string, error) { return h.settler().Refund(t.Context(), "1", payee, 7) }))
		h.settled(h.settleLater(h.settler(), h.pay("1"))) // what comes in is no payout
		h.cfg.Depth = func(deed.USDC) uint64 { return 3 }
		s := h.settler()
		got, next, err := s.Outgoing(t.Context(), 0)
		young, sinceErr := s.Since(t.Context(), hash, next)
		if err != nil || sinceErr != nil || len(got) != 0 || !young {
			t.Errorf("at depth 2: got %+v, young is %v, %v, %v", got, young, err, sinceErr)
		}
		h.mine(1)
		got, next, err = s.Outgoing(t.Context(), next)
		if err != nil || len(got) != 1 || got[0].To != payee || got[0].Amount != 7 || got[0].TxHash != hash {
			t.Errorf("at depth 3: got %+v, %v", got, err)
		}
		if young, err := s.Since(t.Context(), hash, next); err != nil || young {
			t.Errorf("at depth 3: young is %v, %v", young, err)
		}
		if young, err := s.Since(t.Context(), common.Hash{1}.Hex(), 0); err != nil || young {
			t.Errorf("one that nobody knows: young is %v, %v", young, err)
		}
	})
}

// Our wallets are asked for, not believed.
func TestReserves(t *testing.T) {
	h := newHouse(t, nil)
	got, err := h.settler().Reserves(t.Context())
	if err != nil || got.Gas.Cmp(big.NewInt(1e18)) != 0 || got.USDC != 1_000_000_000 || got.Batches < 1 || got.Settlements < 30*got.Batches || got.Refunds < got.Settlements {
		t.Errorf("got %+v, %v", got, err)
	}
	h.cfg.HotKey, _ = newKey(t)
	h.cfg.RefundKey, _ = newKey(t)
	s := h.settler()
	got, err = s.Reserves(t.Context())
	if err != nil || got.Gas.Sign() != 0 || got.Settlements+got.Batches+got.Refunds+int64(got.USDC) != 0 {
		t.Errorf("empty wallets: got %+v, %v", got, err)
	}
	h.way.cut()
	if _, err := s.Reserves(t.Context()); err == nil {
		t.Error("no chain: got an answer")
	}
}
