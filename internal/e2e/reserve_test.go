package e2e_test

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/settle"
)

// If the gas wallet cannot pay for a settlement, orders get 503 before anything is
// signed or stored. Earlier paid requests can still be repeated.
func TestNoGasNoSale(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		old, first := s.promise(s.buyer(t), comPrice).header(t), s.promise(s.buyer(t), comPrice).header(t)
		if got := s.register(t, "old.com", old); got.status != 201 {
			t.Fatalf("got %d %s", got.status, got.body)
		}
		s.keys[1] = newAccount(t).key // without funds
		s.wire(t)
		var warned []string
		reserve := &fulfil.Reserve{Wallets: s.settler, MinUSDC: 100 * deed.Cent, OnRefresh: func(settle.Reserves) {}, Warn: func(low string, _ settle.Reserves) { warned = append(warned, low) }}
		s.api.Payments.Reserve = reserve
		checkReserve := func() {
			t.Helper()
			if err := reserve.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		checkReserve()
		checkReserve() // logs nothing new
		for _, header := range []string{"", first} {
			s.register(t, "first.com", header).expect(t, 503, deed.CodeUnavailable)
		}
		if got := s.register(t, "old.com", old); got.status != 201 {
			t.Errorf("what was paid: got %d %s", got.status, got.body)
		}
		if s.balance(t, s.payTo) != 1_000_000_000_000+comPrice || s.open(t) != 0 || reserve.Low() == nil {
			t.Error("something moved, or nothing runs low")
		}
		if _, _, err := s.chain.Faucet(t.Context(), crypto.PubkeyToAddress(s.keys[1].PublicKey).Hex(), 1); err != nil {
			t.Fatal(err)
		}
		checkReserve()
		if got := s.register(t, "first.com", first); got.status != 201 || reserve.Low() != nil {
			t.Errorf("filled up: got %d %s, %v", got.status, got.body, reserve.Low())
		}
		reserve.MinUSDC = 2_000_000_000_000
		checkReserve()
		want := []string{"the gas wallet pays for fewer than 200 payments", "", "the refund wallet has less than 2000000.00 USDC"}
		if !slices.Equal(warned, want) {
			t.Errorf("got %q, want %q", warned, want)
		}
		if got := s.register(t, "second.com", "").status; got != 402 {
			t.Errorf("a refund wallet that runs low: got %d, want an offer", got)
		}
		s.audit(t)
	})
}
