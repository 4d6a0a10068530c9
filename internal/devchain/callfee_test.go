package devchain_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A call sees its gas price, as on any node, and the sender of a call with a gas
// price must be able to pay it.
func TestCallsSeeTheirGasPrice(t *testing.T) {
	b := open(t)
	const fundedWallet = "0x00000000000000000000000000000000000000aa"
	if _, _, err := b.Faucet(t.Context(), fundedWallet, 1); err != nil {
		t.Fatal(err)
	}
	// GASPRICE, store, return 32 bytes.
	call := func(extra map[string]any) (int64, error) {
		args := map[string]any{"from": fundedWallet, "data": "0x3a60005260206000f3", "gas": "0x186a0"}
		for k, v := range extra {
			args[k] = v
		}
		var out hexutil.Bytes
		err := b.rpc(&out, "eth_call", args, "latest")
		return new(big.Int).SetBytes(out).Int64(), err
	}
	for name, tt := range map[string]struct {
		fees map[string]any
		want int64
	}{
		"no price":            {nil, 0},
		"a price":             {map[string]any{"gasPrice": hexutil.Uint64(9e6)}, 9e6},
		"a tip and a cap":     {map[string]any{"maxFeePerGas": hexutil.Uint64(9e6), "maxPriorityFeePerGas": hexutil.Uint64(1e6)}, 6e6},
		"a cap below the tip": {map[string]any{"maxFeePerGas": hexutil.Uint64(55e5), "maxPriorityFeePerGas": hexutil.Uint64(1e6)}, 55e5},
	} {
		if got, err := call(tt.fees); err != nil || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, tt.want)
		}
	}
	if _, err := call(map[string]any{"gasPrice": hexutil.Uint64(1e18)}); err == nil || !strings.Contains(err.Error(), "insufficient funds") {
		t.Errorf("a price above the balance: got %v", err)
	}
	if _, err := call(map[string]any{"gasPrice": "0x1", "maxFeePerGas": "0x1"}); err == nil {
		t.Error("two kinds of price: got no error")
	}
}
