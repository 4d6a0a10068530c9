package chain

import (
	"context"
	"fmt"
	"math/big"

	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
)

// largestGas is the gas limit of a full batch. Payments that arrive together
// share a transaction, so a wallet that cannot pay for a full batch may delay
// them all.
const largestGas = batchGas + memberGas*maxBatch

// The sizes of transactions in bytes, for the fee that OP-stack chains take for
// publishing them.
const (
	singleSize = 700
	memberSize = 550
	largeSize  = singleSize + memberSize*maxBatch
)

// l1FeeCall encodes getL1FeeUpperBound(uint256), for the fee oracle. On a chain
// without one the call returns no number, and the fee counts as zero.
func l1FeeCall(size int64) []byte {
	return append([]byte{0xf1, 0xc7, 0xa5, 0x8b}, word(big.NewInt(size))...)
}

// Reserves returns what our wallets can pay for. It calculates with the highest
// possible cost of a transaction, because endpoints reject a transaction whose
// sender has less.
func (s *Settler) Reserves(ctx context.Context) (r settle.Reserves, err error) {
	results, err := s.Client.callBatch(ctx, callMsg{to: s.multicall, gas: contractGas}, []batchCall{
		{s.multicall, true, pack(batchABI, "getEthBalance", s.gasWallet())},
		{s.multicall, true, pack(batchABI, "getEthBalance", s.refundWallet())},
		{s.token, true, pack(tokenABI, "balanceOf", s.refundWallet())},
		{s.multicall, true, pack(batchABI, "getBasefee")},
		{s.feeOracle, true, l1FeeCall(singleSize)},
		{s.feeOracle, true, l1FeeCall(largeSize)},
	}, "latest")
	if err != nil {
		return r, fmt.Errorf("read the balances of our wallets: %w", err)
	}
	var numbers [6]*big.Int
	for i := range numbers {
		if numbers[i], err = results[i].number(); err != nil && i < 3 {
			return r, fmt.Errorf("read the balances of our wallets: %w", err)
		}
		if err != nil {
			numbers[i] = new(big.Int)
		}
	}
	if base := numbers[3]; base.Sign() > 0 {
		s.feeCache.observeBaseFee(base)
	}
	offer, err := s.reads.fees(ctx)
	if err != nil {
		return r, err
	}
	r.Gas, r.USDC = numbers[0], toUSDC(numbers[2])
	r.Settlements = affords(r.Gas, settleGas, offer.limit, numbers[4])
	r.Batches = affords(r.Gas, largestGas, offer.limit, numbers[5])
	r.Refunds = affords(numbers[1], refundGas, offer.limit, numbers[4])
	return r, nil
}

// affords returns how many transactions with the gas limit a balance pays for,
// each with the fee for its data.
func affords(wei *big.Int, gas uint64, fee, data *big.Int) int64 {
	one := new(big.Int).Mul(new(big.Int).SetUint64(gas), fee)
	one.Add(one, data)
	if one.Sign() == 0 {
		return int64(network.AnyAmount) // gas costs nothing
	}
	n := new(big.Int).Div(wei, one)
	if !n.IsInt64() {
		return int64(network.AnyAmount)
	}
	return n.Int64()
}
