package chain

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// largestGas is what a whole batch asks for. Payments that come together go
// together, so a wallet that cannot pay for it may leave them all waiting.
const largestGas = batchGas + memberGas*maxBatch

// The sizes of transactions in bytes, for the fee that OP-stack chains take for
// publishing them.
const (
	singleSize = 700
	memberSize = 550
	largeSize  = singleSize + memberSize*maxBatch
)

// dataFees is the contract that OP-stack chains publish that fee with. On other
// chains there is nothing at its address.
var dataFees = common.HexToAddress("0x420000000000000000000000000000000000000F")

// dataFeeCall encodes getL1FeeUpperBound(uint256).
func dataFeeCall(size int64) []byte {
	return append([]byte{0xf1, 0xc7, 0xa5, 0x8b}, word(big.NewInt(size))...)
}

// Reserves implements payment.BalanceReader. It reckons with what a transaction may cost
// at the most, because an endpoint takes none whose sender has less.
func (s *Settler) Reserves(ctx context.Context) (r settle.Reserves, err error) {
	questions := pack(batchABI, "aggregate3", []member{
		{s.Multicall, true, pack(batchABI, "getEthBalance", s.gasWallet())},
		{s.Multicall, true, pack(batchABI, "getEthBalance", s.refundWallet())},
		{s.USDC, true, pack(tokenABI, "balanceOf", s.refundWallet())},
		{s.Multicall, true, pack(batchABI, "getBasefee")},
		{s.DataFees, true, dataFeeCall(singleSize)},
		{s.DataFees, true, dataFeeCall(largeSize)},
	})
	answers, err := s.Client.askBatch(ctx, question{to: s.Multicall, data: questions, gas: contractGas}, "latest")
	if err != nil {
		return r, fmt.Errorf("ask what our wallets have: %w", err)
	}
	var numbers [6]*big.Int
	for i := range numbers {
		if numbers[i], err = answers[i].number(); err != nil && i < 3 {
			return r, fmt.Errorf("ask what our wallets have: %w", err)
		}
		if err != nil {
			numbers[i] = new(big.Int)
		}
	}
	if base := numbers[3]; base.Sign() > 0 {
		s.feeCache.sawBase(base)
	}
	offer, err := s.reads.fees(ctx)
	if err != nil {
		return r, err
	}
	r.Gas, r.USDC = numbers[0], countable(numbers[2])
	r.Settlements = affords(r.Gas, settleGas, offer.limit, numbers[4])
	r.Batches = affords(r.Gas, largestGas, offer.limit, numbers[5])
	r.Refunds = affords(numbers[1], refundGas, offer.limit, numbers[4])
	return r, nil
}

// affords says how many transactions of so much gas a balance pays for, each
// with the fee for its data.
func affords(wei *big.Int, gas uint64, fee, data *big.Int) int64 {
	one := new(big.Int).Mul(new(big.Int).SetUint64(gas), fee)
	one.Add(one, data)
	if one.Sign() == 0 {
		return int64(deepest) // gas costs nothing
	}
	n := new(big.Int).Div(wei, one)
	if !n.IsInt64() {
		return int64(deepest)
	}
	return n.Int64()
}
