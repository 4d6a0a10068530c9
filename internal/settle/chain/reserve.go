package chain

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed"
)

// largestGas is what a whole batch asks for. Payments that come together go
// together, so a wallet that cannot pay for it may leave them all waiting.
const largestGas = batchGas + memberGas*maxBatch

// Reserves implements payment.Purse. It reckons with what a transaction may cost
// at the most, because an endpoint takes none whose sender has less.
func (s *Settler) Reserves(ctx context.Context) (r deed.Reserves, err error) {
	_, fee, err := s.fees(ctx)
	if err != nil {
		return r, err
	}
	if r.Gas, err = s.Client.balance(ctx, s.hot()); err != nil {
		return r, fmt.Errorf("ask for the gas wallet: %w", err)
	}
	refundGasLeft, err := s.Client.balance(ctx, s.purse())
	if err != nil {
		return r, fmt.Errorf("ask for the refund wallet: %w", err)
	}
	raw, err := s.Client.ask(ctx, question{to: s.USDC, data: pack(tokenABI, "balanceOf", s.purse()), gas: settleGas}, "latest")
	if err != nil {
		return r, fmt.Errorf("ask for the USDC of the refund wallet: %w", err)
	}
	r.USDC = deed.USDC(min(new(big.Int).SetBytes(raw).Uint64(), uint64(deepest)))
	r.Settlements = affords(r.Gas, settleGas, fee)
	r.Batches = affords(r.Gas, largestGas, fee)
	r.Refunds = affords(refundGasLeft, refundGas, fee)
	return r, nil
}

// affords says how many transactions of so much gas a balance pays for.
func affords(wei *big.Int, gas uint64, fee *big.Int) int64 {
	one := new(big.Int).Mul(new(big.Int).SetUint64(gas), fee)
	if one.Sign() == 0 {
		return int64(deepest) // gas costs nothing
	}
	n := new(big.Int).Div(wei, one)
	if !n.IsInt64() {
		return int64(deepest)
	}
	return n.Int64()
}

// balance returns what an account has to pay for gas with, in wei.
func (c *Client) balance(ctx context.Context, who common.Address) (*big.Int, error) {
	var wei hexutil.Big
	err := c.call(ctx, &wei, "eth_getBalance", who, "latest")
	return (*big.Int)(&wei), err
}
