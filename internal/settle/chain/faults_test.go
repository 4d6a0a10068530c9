package chain_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/settle/chain"
)

// pauseOver is longer than we wait before we try again.
const pauseOver = 10 * time.Second

func TestPausedChain(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, env.pay("1")) })
		env.inPool(1)
		cancel()
		if got := <-c; !errors.Is(got.err, context.Canceled) || settle.Refused(got.err) || deed.CodeOf(got.err) != deed.CodeUnavailable {
			t.Errorf("got %q, %v, want that nobody knows", got.txHash, got.err)
		}
		again := env.settleLater(s, env.pay("1"))
		env.Resume()
		env.settled(again)
		if env.moved() != 1 || env.nonceOf(env.gasKey) != 1 {
			t.Errorf("got %d transfers in %d transactions, want one", env.moved(), env.nonceOf(env.gasKey))
		}
	})
}

func TestHangingEndpoint(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		asked := env.proxy.hang()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, env.pay("1")) })
		<-asked
		cancel()
		if got := <-c; !errors.Is(got.err, context.Canceled) || settle.Refused(got.err) {
			t.Errorf("got %q, %v, want that nobody knows", got.txHash, got.err)
		}
		env.proxy.repair()
		env.settled(env.settleLater(s, env.pay("1")))
	})
}

// An endpoint that closes a connection instead of answering its second request, as it
// may do with one that was idle, is asked again, and not taken for broken.
func TestClosedIdleConnection(t *testing.T) {
	var calls, closed atomic.Int64
	c := chain.Dial(otherChain(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1)%4 == 0 { // the first calls verify the endpoint
				closed.Add(1)
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(w, r)
		})
	}))
	for range 10 {
		if err := c.Ping(t.Context(), network.EmbeddedChainID); err != nil {
			t.Fatal(err)
		}
	}
	if closed.Load() == 0 || c.Failures() != 0 {
		t.Errorf("got %d failures with %d connections closed", c.Failures(), closed.Load())
	}
}

// A transaction is not believed before it is deep enough, and when its block
// is taken back and it is dropped, it is sent again.
func TestReorganisation(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(3)
		s := env.settler()
		c := env.settleLater(s, env.pay("1"))
		for range 3 {
			env.wait(func() bool { return env.moved() == 1 })
			env.Pause()
			if _, err := env.Rewind(1); err != nil {
				t.Fatal(err)
			}
			if env.moved() != 0 {
				t.Fatal("the block is still there")
			}
			env.inPool(1) // sent again
			env.Resume()
		}
		env.wait(func() bool { return env.moved() == 1 })
		env.mine(1)
		env.rounds()
		select {
		case got := <-c:
			t.Fatalf("got %q, %v at depth 2, want no answer", got.txHash, got.err)
		default:
		}
		env.mine(1)
		env.settled(c)
		if all := env.signedBy(env.gasKey); len(all) != 1 {
			t.Errorf("signed %d transactions, want 1", len(all))
		}
	})
}

// A transaction that nobody mines is sent with a higher fee, at the same place.
func TestStuckTransaction(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.Pause()
		c := env.settleLater(s, env.pay("1"))
		env.inPool(1)
		for want := 2; want <= 3; want++ {
			env.pass(31 * time.Second)
			env.wait(func() bool { return len(env.signedBy(env.gasKey)) == want })
		}
		env.inPool(1)
		env.Resume()
		got := env.settled(c)
		all := env.signedBy(env.gasKey)
		if !slices.ContainsFunc(all, func(tx settle.Transaction) bool { return tx.Hash == got && tx.Nonce == 0 }) {
			t.Errorf("got %s, want one of %d", got, len(all))
		}
		if all[0].Hash == got || env.moved() != 1 || env.nonceOf(env.gasKey) != 1 {
			t.Errorf("got the transaction with the first fee, or %d transfers", env.moved())
		}
	})
}

// The payer cancels while our transaction is on its way, and is ahead of it.
func TestCancelledMeanwhile(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		if _, err := s.Check(t.Context(), env.pay("1"), nil); err != nil {
			t.Fatal(err)
		}
		env.Pause()
		cancelled := make(chan struct{})
		go func() {
			defer close(cancelled)
			env.cancel(env.pay("1"))
		}()
		env.inPool(1)
		c := env.settleLater(s, env.pay("1"))
		env.inPool(2)
		env.Resume()
		<-cancelled
		env.refused(c)
		if env.moved() != 0 || env.nonceOf(env.gasKey) != 1 {
			t.Errorf("got %d transfers in %d transactions, want none in one", env.moved(), env.nonceOf(env.gasKey))
		}
	})
}

// A payer without the money, or barred, is stuck at once, and refused when the
// chain's own clock has passed the end.
func TestPayerCannotPay(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		keys := env.payers(2)
		drained, barred := env.payFrom(keys[0], "1"), env.payFrom(keys[1], "1")
		for _, a := range []settle.Authorization{drained, barred} {
			if _, err := s.Check(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
		}
		drain := drained
		drain.PayTo, drain.Nonce = "0x00000000000000000000000000000000000000cc", env.pay("drain").Nonce
		env.thirdParty(env.signed(keys[0], drain))
		if err := env.Blacklist(t.Context(), string(barred.Payer), true); err != nil {
			t.Fatal(err)
		}
		stuck := func() {
			t.Helper()
			for _, a := range []settle.Authorization{drained, barred} {
				if got := <-env.settleLater(s, a); !errors.Is(got.err, settle.ErrUnsettleable) || settle.Refused(got.err) {
					t.Errorf("got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
				}
			}
		}
		stuck()
		env.pass(2 * time.Hour) // our own clock alone voids nothing
		stuck()
		env.mine(1)
		env.refused(env.settleLater(s, drained))
		env.refused(env.settleLater(s, barred))
		if env.moved() != 0 || env.nonceOf(env.gasKey) != 0 {
			t.Errorf("got %d transfers in %d transactions, want none", env.moved(), env.nonceOf(env.gasKey))
		}
	})
}

// The same holds for what the watcher sees, and for what a stranger sent.
func TestDepth(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(3)
		s := env.settler()
		want := env.thirdParty(env.pay("1"))
		seen := func() int {
			t.Helper()
			all, err := s.Incoming(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return len(all.Transfers)
		}
		c := env.settleLater(s, env.pay("1"))
		env.mine(1)
		env.rounds()
		select {
		case got := <-c:
			t.Errorf("got %q, %v at depth 2, want no answer", got.txHash, got.err)
		default:
		}
		if n := seen(); n != 0 {
			t.Errorf("saw %d transfers at depth 2, want none", n)
		}
		env.mine(1)
		if got := env.settled(c); got != want || env.nonceOf(env.gasKey) != 0 {
			t.Errorf("got %s, want the stranger's %s and nothing of ours", got, want)
		}
		if n := seen(); n != 1 {
			t.Errorf("saw %d transfers at depth 3, want 1", n)
		}
		env.cfg.Network.Finality = network.Blocks(network.Safe)
		env.settled(env.settleLater(env.settler(), env.pay("2")))
	})
}

// Expiry is judged in the final block, not in the newest.
func TestExpiryIsFinal(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.cfg.Network.Finality = network.Blocks(3)
		s := env.settler()
		a := env.pay("1")
		env.pass(2 * time.Hour)
		for range 2 {
			env.mine(1)
			if got := <-env.settleLater(s, a); !errors.Is(got.err, settle.ErrUnsettleable) || settle.Refused(got.err) {
				t.Errorf("got %q, %v, want %v", got.txHash, got.err, settle.ErrUnsettleable)
			}
		}
		env.mine(1)
		env.refused(env.settleLater(s, a))
	})
}

// A refund that reverts is made anew, by another transaction, and pays once.
func TestRevertedRefund(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.Pause()
		barred := make(chan error)
		go func() { barred <- env.Blacklist(t.Context(), string(payee), true) }()
		env.inPool(1)
		c := env.refundLater(s, refundOf(payee, 1, 7))
		env.inPool(2)
		env.Resume()
		if err := <-barred; err != nil {
			t.Fatal(err)
		}
		env.wait(func() bool { return env.nonceOf(env.refundKey) == 1 })
		if env.usdc(payee) != 0 {
			t.Fatal("it did not revert")
		}
		if err := env.Blacklist(t.Context(), string(payee), false); err != nil {
			t.Fatal(err)
		}
		env.pass(pauseOver)
		if env.settled(c); env.usdc(payee) != 7 || env.nonceOf(env.refundKey) != 2 {
			t.Errorf("got %s back in %d transactions, want 0.000007 in two", env.usdc(payee), env.nonceOf(env.refundKey))
		}
		if _, err := s.Refund(t.Context(), refundOf(payee, 1, 7)); err != nil || env.usdc(payee) != 7 {
			t.Errorf("again: got %v and %s", err, env.usdc(payee))
		}
		env.noGap(env.refundKey)
	})
}
