package chain_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// crash runs f, which dies at the step.
func crash(h *house, step string, f func(s *chain.Settler)) {
	cfg := h.cfg
	defer func() { h.cfg = cfg }()
	h.cfg.Step = func(name string) {
		if name == step {
			panic("crash")
		}
	}
	s := h.settler()
	defer func() {
		if recover() == nil {
			h.t.Errorf("%s: it did not crash", step)
		}
	}()
	f(s)
}

func TestCrashes(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	for _, step := range []string{"before store", "after store", "after send"} {
		t.Run(step, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				h := newHouse(t, db)
				crash(h, step, func(s *chain.Settler) { _, _ = s.Settle(t.Context(), h.pay("1")) })
				crash(h, step, func(s *chain.Settler) { _, _ = s.Refund(t.Context(), "1", payee, 7) })
				s := h.settler()
				if err := s.Tick(t.Context()); err != nil {
					t.Error(err)
				}
				want := 1 // what was written down needs nobody to ask for it
				if step == "before store" {
					want = 0
				}
				if h.moved() != want {
					t.Errorf("after a tick: got %d transfers, want %d", h.moved(), want)
				}
				h.settled(h.settleLater(s, h.pay("1")))
				h.settled(later(func() (string, error) { return s.Refund(t.Context(), "1", payee, 7) }))
				if h.moved() != 1 || h.usdc(payee) != 7 {
					t.Errorf("got %d transfers and %s back", h.moved(), h.usdc(payee))
				}
				h.noGap(h.cfg.HotKey)
				h.noGap(h.cfg.RefundKey)
			})
		})
	}
}
