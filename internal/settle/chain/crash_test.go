package chain_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// crash runs f, which dies at the step.
func crash(env *testEnv, step string, f func(s *chain.Settler)) {
	cfg := env.cfg
	defer func() { env.cfg = cfg }()
	env.cfg.Step = func(name string) {
		if name == step {
			panic("crash")
		}
	}
	s := env.settler()
	defer func() {
		if recover() == nil {
			env.t.Errorf("%s: it did not crash", step)
		}
	}()
	f(s)
}

func TestCrashes(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	for _, step := range []string{"before store", "after store", "after send"} {
		t.Run(step, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				env := newEnv(t, db)
				crash(env, step, func(s *chain.Settler) { _, _ = s.Settle(t.Context(), env.pay("1")) })
				crash(env, step, func(s *chain.Settler) { _, _ = s.Refund(t.Context(), refundOf(payee, 1, 7)) })
				s := env.settler()
				if err := s.Tick(t.Context()); err != nil {
					t.Error(err)
				}
				want := 1 // what was written down needs nobody to ask for it
				if step == "before store" {
					want = 0
				}
				if env.moved() != want {
					t.Errorf("after a tick: got %d transfers, want %d", env.moved(), want)
				}
				env.settled(env.settleLater(s, env.pay("1")))
				env.settled(env.refundLater(s, refundOf(payee, 1, 7)))
				if env.moved() != 1 || env.usdc(payee) != 7 {
					t.Errorf("got %d transfers and %s back", env.moved(), env.usdc(payee))
				}
				env.noGap(env.gasKey)
				env.noGap(env.refundKey)
			})
		})
	}
}
