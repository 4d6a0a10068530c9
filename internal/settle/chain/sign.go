package chain

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"deed.example/deed/internal/settle"
)

// An order is a transaction to be signed.
type order struct {
	gas     uint64 // when it makes one call
	alone   bool   // it goes through the batch contract although it is one call
	attempt int
	fees    *fees
	calls   map[string][]byte // by purpose
}

// sign gives the order its nonce and stores it. From the moment it is stored the
// money may move: whoever reads the store next sends it.
func (l *lane) sign(ctx context.Context, o order) error {
	from := keyAddress(l.key)
	first, err := l.c.count(ctx, from, "latest")
	if err != nil {
		return err
	}
	l.mined = map[common.Address]uint64{from: first}
	in := settle.Intent{From: walletAt(from), First: first, Attempt: o.attempt}
	for purpose := range o.calls {
		in.Purposes = append(in.Purposes, purpose)
	}
	slices.Sort(in.Purposes)
	l.s.step("before store")
	err = l.s.Store.Sign(ctx, in, func(nonce uint64, purposes []string) (settle.Transaction, error) {
		to, gas, data := l.s.together(o, purposes)
		return l.s.signed(l.key, &types.DynamicFeeTx{
			ChainID: new(big.Int).SetUint64(l.s.ChainID), Nonce: nonce, GasTipCap: o.fees.tip, GasFeeCap: o.fees.limit,
			Gas: gas, To: &to, Data: data,
		})
	})
	if err != nil {
		return fmt.Errorf("store a transaction: %w", err)
	}
	l.s.step("after store")
	return nil
}

// together returns the call of one purpose, or the batch of several.
func (s *Settler) together(o order, purposes []string) (to common.Address, gas uint64, data []byte) {
	if len(purposes) == 1 && !o.alone {
		return s.USDC, o.gas, o.calls[purposes[0]]
	}
	var calls [][]byte
	for _, p := range purposes {
		calls = append(calls, o.calls[p])
	}
	return s.Multicall, max(o.gas, batchGas+memberGas*uint64(len(calls))), batch(s.USDC, calls...)
}

func (s *Settler) signed(key *ecdsa.PrivateKey, what *types.DynamicFeeTx) (settle.Transaction, error) {
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(what.ChainID), what)
	if err != nil {
		return settle.Transaction{}, fmt.Errorf("sign: %w", err)
	}
	raw, err := tx.MarshalBinary()
	if err != nil {
		return settle.Transaction{}, fmt.Errorf("encode: %w", err)
	}
	return settle.Transaction{From: walletAt(keyAddress(key)), Nonce: what.Nonce, Hash: tx.Hash().Hex(), Raw: raw, SignedAt: s.Now()}, nil
}
