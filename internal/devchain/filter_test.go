package devchain_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

func TestLogFilters(t *testing.T) {
	b := open(t)
	payee, other := newWallet(t), newWallet(t)
	payer := b.fundedWallet(t, 100)
	for i := range 3 {
		b.send(t, payer, &usdc, pack(t, b.token, "transfer", payee.addr, big.NewInt(int64(i+1))))
	}
	last := b.send(t, payer, &usdc, pack(t, b.token, "transfer", other.addr, big.NewInt(9)))
	moved, to := b.token.Events["Transfer"].ID, common.BytesToHash(payee.addr[:])
	first := last.BlockNumber - 3
	for name, c := range map[string]struct {
		filter map[string]any
		want   int
	}{
		"payee":          {map[string]any{"fromBlock": "earliest", "topics": []any{moved, nil, to}}, 3},
		"either payee":   {map[string]any{"fromBlock": "0x0", "topics": []any{moved, nil, []any{to, common.BytesToHash(other.addr[:])}}}, 4},
		"address":        {map[string]any{"fromBlock": first, "toBlock": "latest", "address": usdc}, 4},
		"addresses":      {map[string]any{"fromBlock": first, "address": []any{usdc, batch}}, 4},
		"other address":  {map[string]any{"fromBlock": "earliest", "address": batch}, 0},
		"range":          {map[string]any{"fromBlock": first, "toBlock": first + 1, "address": usdc}, 2},
		"newest only":    {map[string]any{"address": usdc}, 1},
		"by hash":        {map[string]any{"blockHash": last.BlockHash}, 1},
		"still to come":  {map[string]any{"fromBlock": last.BlockNumber + 1, "toBlock": last.BlockNumber + 9}, 0},
		"unknown topic":  {map[string]any{"fromBlock": "earliest", "topics": []any{crypto.Keccak256Hash(nil)}}, 0},
		"one too many":   {map[string]any{"fromBlock": "earliest", "topics": []any{moved, nil, to, nil}}, 0},
		"beyond the end": {map[string]any{"fromBlock": first, "toBlock": hexutil.Uint64(1 << 60), "address": usdc}, 4},
	} {
		var got []types.Log
		if b.mustRPC(t, &got, "eth_getLogs", c.filter); len(got) != c.want {
			t.Errorf("%s: got %d logs, want %d", name, len(got), c.want)
		}
	}
	var none []types.Log
	err := b.rpc(&none, "eth_getLogs", map[string]any{"fromBlock": "0x2", "toBlock": "0x1"})
	if f, ok := errors.AsType[*fault](err); !ok || f.Code != -32602 {
		t.Errorf("backward range: got %v, want -32602", err)
	}
}

func TestFeeHistory(t *testing.T) {
	b := open(t)
	w := b.fundedWallet(t, 1)
	b.send(t, w, &w.addr, nil)
	for _, count := range []any{"0x2", 2} {
		var h struct {
			OldestBlock   hexutil.Uint64
			BaseFeePerGas []hexutil.Uint64
			GasUsedRatio  []float64
			Reward        [][]hexutil.Uint64
		}
		b.mustRPC(t, &h, "eth_feeHistory", count, "latest", []float64{10, 50})
		if uint64(h.OldestBlock) != b.height(t)-1 || len(h.BaseFeePerGas) != 3 || len(h.GasUsedRatio) != 2 || len(h.Reward) != 2 || len(h.Reward[1]) != 2 || h.GasUsedRatio[1] != 21000.0/60e6 {
			t.Errorf("%v: got %+v", count, h)
		}
	}
}
