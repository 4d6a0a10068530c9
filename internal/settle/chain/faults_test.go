package chain_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// pauseOver is longer than we wait before we try again.
const pauseOver = 10 * time.Second

func TestPausedChain(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		h.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, h.pay("1")) })
		h.inPool(1)
		cancel()
		if got := <-c; !errors.Is(got.err, context.Canceled) || deed.Refused(got.err) || deed.CodeOf(got.err) != deed.CodeUnavailable {
			t.Errorf("got %q, %v, want that nobody knows", got.txHash, got.err)
		}
		again := h.settleLater(s, h.pay("1"))
		h.Resume()
		h.settled(again)
		if h.moved() != 1 || h.nonceOf(h.cfg.HotKey) != 1 {
			t.Errorf("got %d transfers in %d transactions, want one", h.moved(), h.nonceOf(h.cfg.HotKey))
		}
	})
}

func TestHangingEndpoint(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		asked := h.way.hang()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, h.pay("1")) })
		<-asked
		cancel()
		if got := <-c; !errors.Is(got.err, context.Canceled) || deed.Refused(got.err) {
			t.Errorf("got %q, %v, want that nobody knows", got.txHash, got.err)
		}
		h.way.mend()
		h.settled(h.settleLater(s, h.pay("1")))
	})
}

// A transaction is not believed before it is deep enough, and when its block
// is taken back and it is dropped, it is sent again.
func TestReorganisation(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.cfg.Depth = func(deed.USDC) uint64 { return 3 }
		s := h.settler()
		c := h.settleLater(s, h.pay("1"))
		for range 3 {
			h.wait(func() bool { return h.moved() == 1 })
			h.Pause()
			if _, err := h.Rewind(1); err != nil {
				t.Fatal(err)
			}
			if h.moved() != 0 {
				t.Fatal("the block is still there")
			}
			h.inPool(1) // sent again
			h.Resume()
		}
		h.wait(func() bool { return h.moved() == 1 })
		h.mine(1)
		h.rounds()
		select {
		case got := <-c:
			t.Fatalf("got %q, %v at depth 2, want no answer", got.txHash, got.err)
		default:
		}
		h.mine(1)
		h.settled(c)
		if all := h.signedBy(h.cfg.HotKey); len(all) != 1 {
			t.Errorf("signed %d transactions, want 1", len(all))
		}
	})
}

// A transaction that nobody mines is sent with a higher fee, at the same place.
func TestStuckTransaction(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		h.Pause()
		c := h.settleLater(s, h.pay("1"))
		h.inPool(1)
		for want := 2; want <= 3; want++ {
			h.pass(31 * time.Second)
			h.wait(func() bool { return len(h.signedBy(h.cfg.HotKey)) == want })
		}
		h.inPool(1)
		h.Resume()
		got := h.settled(c)
		all := h.signedBy(h.cfg.HotKey)
		if !slices.ContainsFunc(all, func(tx deed.Transaction) bool { return tx.Hash == got && tx.Nonce == 0 }) {
			t.Errorf("got %s, want one of %d", got, len(all))
		}
		if all[0].Hash == got || h.moved() != 1 || h.nonceOf(h.cfg.HotKey) != 1 {
			t.Errorf("got the first bid, or %d transfers", h.moved())
		}
	})
}

// The payer cancels while our transaction is on its way, and is ahead of it.
func TestCancelledMeanwhile(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		if err := s.Check(t.Context(), h.pay("1")); err != nil {
			t.Fatal(err)
		}
		h.Pause()
		cancelled := make(chan struct{})
		go func() {
			defer close(cancelled)
			h.cancel(h.pay("1"))
		}()
		h.inPool(1)
		c := h.settleLater(s, h.pay("1"))
		h.inPool(2)
		h.Resume()
		<-cancelled
		h.refused(c)
		if h.moved() != 0 || h.nonceOf(h.cfg.HotKey) != 1 {
			t.Errorf("got %d transfers in %d transactions, want none in one", h.moved(), h.nonceOf(h.cfg.HotKey))
		}
	})
}

// A payer without the money, or barred, is neither settled nor refused until
// the chain's own clock has passed the end.
func TestPayerCannotPay(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		keys := h.payers(2)
		drained, barred := h.payFrom(keys[0], "1"), h.payFrom(keys[1], "1")
		for _, a := range []deed.Authorization{drained, barred} {
			if err := s.Check(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		drain := drained
		drain.PayTo, drain.Nonce = "0x00000000000000000000000000000000000000cc", h.pay("drain").Nonce
		h.stranger(h.signed(keys[0], drain))
		if err := h.Blacklist(t.Context(), string(barred.Payer), true); err != nil {
			t.Fatal(err)
		}
		var open []<-chan answer
		for _, a := range []deed.Authorization{drained, barred} {
			ctx, cancel := context.WithCancel(t.Context())
			asked := h.way.hold()
			c := later(func() (string, error) { return s.Settle(ctx, a) })
			<-asked
			h.way.mend()
			cancel()
			if got := <-c; got.err == nil || deed.Refused(got.err) {
				t.Errorf("got %q, %v, want that nobody knows", got.txHash, got.err)
			}
			open = append(open, h.settleLater(s, a))
		}
		h.pass(2 * time.Hour) // our own clock alone voids nothing
		h.wait(func() bool { return s.Waiting() == 2 })
		h.mine(1)
		h.refused(open[0])
		h.refused(open[1])
		if h.moved() != 0 || h.nonceOf(h.cfg.HotKey) != 0 {
			t.Errorf("got %d transfers in %d transactions, want none", h.moved(), h.nonceOf(h.cfg.HotKey))
		}
	})
}

// The same holds for what the watcher sees, and for what a stranger sent.
func TestDepth(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.cfg.Depth = func(deed.USDC) uint64 { return 3 }
		s := h.settler()
		want := h.stranger(h.pay("1"))
		seen := func() int {
			t.Helper()
			all, _, err := s.Incoming(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		c := h.settleLater(s, h.pay("1"))
		h.mine(1)
		h.rounds()
		select {
		case got := <-c:
			t.Errorf("got %q, %v at depth 2, want no answer", got.txHash, got.err)
		default:
		}
		if n := seen(); n != 0 {
			t.Errorf("saw %d transfers at depth 2, want none", n)
		}
		h.mine(1)
		if got := h.settled(c); got != want || h.nonceOf(h.cfg.HotKey) != 0 {
			t.Errorf("got %s, want the stranger's %s and nothing of ours", got, want)
		}
		if n := seen(); n != 1 {
			t.Errorf("saw %d transfers at depth 3, want 1", n)
		}
		h.cfg.Depth = func(deed.USDC) uint64 { return chain.Safe }
		h.settled(h.settleLater(h.settler(), h.pay("2")))
	})
}

// Expiry is judged in the final block, not in the newest.
func TestExpiryIsFinal(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.cfg.Depth = func(deed.USDC) uint64 { return 3 }
		s := h.settler()
		a := h.pay("1")
		h.pass(2 * time.Hour)
		c := h.settleLater(s, a)
		for range 2 {
			h.mine(1)
			h.rounds()
			select {
			case got := <-c:
				t.Errorf("got %q, %v too early", got.txHash, got.err)
			default:
			}
		}
		h.mine(1)
		h.refused(c)
	})
}

// A nonce that the chain has seen without us is never signed for again: such a
// transaction could not be mined, and whoever waits for it waits for ever.
func TestStoreOlderThanTheChain(t *testing.T) {
	eachHouse(t, func(t *testing.T, h *house) {
		h.settled(h.settleLater(h.settler(), h.pay("1")))
		store := h.cfg.Store
		h.cfg.Store = sqldb.Settlements{DB: sqldbtest.SQLite(t), ChainID: h.cfg.ChainID} // begins at the chain's count
		h.settled(h.settleLater(h.settler(), h.pay("2")))
		h.cfg.Store = store
		s := h.settler()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, h.pay("3")) })
		h.wait(func() bool { return s.Cause() != nil })
		cancel()
		if got := <-c; deed.CodeOf(got.err) != deed.CodeUnavailable || !strings.Contains(got.err.Error(), "has 2 transactions on the chain and is at 1") {
			t.Errorf("got %q, %v", got.txHash, got.err)
		}
		if all := h.signedBy(h.cfg.HotKey); len(all) != 1 {
			t.Errorf("signed %d transactions, want 1", len(all))
		}
	})
}

// A refund that reverts is made anew, by another transaction, and pays once.
func TestRevertedRefund(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachHouse(t, func(t *testing.T, h *house) {
		s := h.settler()
		h.Pause()
		barred := make(chan error)
		go func() { barred <- h.Blacklist(t.Context(), string(payee), true) }()
		h.inPool(1)
		c := later(func() (string, error) { return s.Refund(t.Context(), "1", payee, 7) })
		h.inPool(2)
		h.Resume()
		if err := <-barred; err != nil {
			t.Fatal(err)
		}
		h.wait(func() bool { return h.nonceOf(h.cfg.RefundKey) == 1 })
		if h.usdc(payee) != 0 {
			t.Fatal("it did not revert")
		}
		if err := h.Blacklist(t.Context(), string(payee), false); err != nil {
			t.Fatal(err)
		}
		h.pass(pauseOver)
		if h.settled(c); h.usdc(payee) != 7 || h.nonceOf(h.cfg.RefundKey) != 2 {
			t.Errorf("got %s back in %d transactions, want 0.000007 in two", h.usdc(payee), h.nonceOf(h.cfg.RefundKey))
		}
		if _, err := s.Refund(t.Context(), "1", payee, 7); err != nil || h.usdc(payee) != 7 {
			t.Errorf("again: got %v and %s", err, h.usdc(payee))
		}
		h.noGap(h.cfg.RefundKey)
	})
}
