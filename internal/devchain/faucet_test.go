package devchain_test

import (
	"sync"
	"testing"

	"deed.example/deed"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

func TestFaucetRaced(t *testing.T) {
	b := open(t)
	one := newWallet(t)
	var mu sync.Mutex // guards hashes
	hashes := map[string]bool{}
	var wg sync.WaitGroup
	for range 50 {
		own := newWallet(t)
		wg.Go(func() {
			hash, _, err := b.Faucet(t.Context(), one.hex(), 3)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			hashes[hash] = true
			mu.Unlock()
			if _, balance, err := b.Faucet(t.Context(), own.hex(), 7); err != nil || balance != 7 {
				t.Errorf("got %d, %v, want 7", balance, err)
			}
		})
	}
	wg.Wait()
	if got := b.usdcOf(t, one.addr); got != 150 || len(hashes) != 50 {
		t.Errorf("got %d in %d transactions, want 150 in 50", got, len(hashes))
	}
	var eth hexutil.Big
	b.mustRPC(t, &eth, "eth_getBalance", one.addr, "latest")
	if eth.ToInt().Sign() <= 0 {
		t.Error("no test ETH was sent with the test USDC")
	}
}

func TestFaucetRefuses(t *testing.T) {
	b := open(t)
	for name, c := range map[string]struct {
		wallet string
		amount int64
	}{
		"no address":     {"0x12", 1},
		"no wallet":      {"", 1},
		"nothing":        {newWallet(t).hex(), 0},
		"less than that": {newWallet(t).hex(), -5},
	} {
		if hash, _, err := b.Faucet(t.Context(), c.wallet, c.amount); deed.CodeOf(err) != deed.CodeValidation || hash != "" {
			t.Errorf("%s: got %q, %v, want a validation error", name, hash, err)
		}
	}
	if got := b.height(t); got != 0 {
		t.Errorf("got %d blocks, want none", got)
	}
}
