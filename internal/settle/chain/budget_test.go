package chain_test

import (
	"context"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// What a purchase and an idle minute may cost, in calls of the endpoint.
const (
	purchaseBudget = 25
	idleBudget     = 10
)

// baseLike makes blocks at a steady pace, whether there is anything in them or
// not, until the test ends.
func (env *testEnv) baseLike(period time.Duration) {
	env.Pause()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if err := env.Mine(); err != nil {
					env.t.Error(err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	env.t.Cleanup(func() { cancel(); <-done })
}

// The budget of calls on a chain that is paced like Base, for a name and for an
// idle minute with a look at the chain and at what is unsent every 30 seconds and
// at our wallets every 60.
func TestCallsStayInTheBudget(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	base, _ := network.ByChainID(env.cfg.Network.ChainID)
	env.cfg.Network = base
	env.cfg.Network.BlockTime = time.Second
	s := env.settler()
	a := env.pay("1")
	a.Amount = 1000 * deed.Cent // a name: two blocks deep
	a = env.signed(env.payer, a)
	incoming := func(from uint64) uint64 {
		t.Helper()
		got, err := s.Incoming(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		return got.Next
	}
	env.baseLike(time.Second)
	next := incoming(0)
	env.proxy.counted()
	s.ForgetFees()
	if _, err := s.Check(t.Context(), a, []string{env.pay("2").Nonce}); err != nil {
		t.Fatal(err)
	}
	hash := env.settled(env.settleLater(s, a))
	if ours, err := s.SentByUs(t.Context(), hash); err != nil || !ours {
		t.Errorf("got %v, %v", ours, err)
	}
	next = incoming(next)
	n, byMethod := env.proxy.counted()
	t.Logf("a purchase: %d calls, %v", n, byMethod)
	if n > purchaseBudget {
		t.Errorf("a purchase took %d calls, want at most %d", n, purchaseBudget)
	}

	if err := s.Tick(t.Context()); err != nil { // it notes that all is final
		t.Fatal(err)
	}
	env.proxy.counted()
	for half := range 2 {
		s.ForgetFees()
		env.mine(1) // there is a block to read
		next = incoming(next)
		if err := s.Tick(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Client.Ping(t.Context(), devchain.ChainID); err != nil {
			t.Error(err)
		}
		if half == 0 {
			if _, err := s.Reserves(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	n, byMethod = env.proxy.counted()
	t.Logf("an idle minute: %d calls, %v", n, byMethod)
	if n > idleBudget {
		t.Errorf("an idle minute took %d calls, want at most %d", n, idleBudget)
	}
}
