package devchain

import (
	"context"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// callGas is the gas limit of a call: the maximum of a transaction.
const callGas = params.MaxTxGas

// callArgs are the arguments of a call. A call without a gas price is free; a call
// with one sees that price, and its sender must be able to pay for all of its gas.
type callArgs struct {
	From              common.Address               `json:"from"`
	GasPrice          *hexutil.Big                 `json:"gasPrice"`
	GasFeeCap         *hexutil.Big                 `json:"maxFeePerGas"`
	GasTipCap         *hexutil.Big                 `json:"maxPriorityFeePerGas"`
	To                *common.Address              `json:"to"` // nil to run Data as creation code
	Gas               *hexutil.Uint64              `json:"gas"`
	Value             *hexutil.Big                 `json:"value"`
	Data              hexutil.Bytes                `json:"data"`
	Input             hexutil.Bytes                `json:"input"` // the newer name of Data
	AccessList        types.AccessList             `json:"accessList"`
	AuthorizationList []types.SetCodeAuthorization `json:"authorizationList"`
}

func (a callArgs) message(gas uint64) (*core.Message, error) {
	value, data := new(uint256.Int), a.Input
	if a.Value != nil && value.SetFromBig((*big.Int)(a.Value)) {
		return nil, invalidParams("value is larger than 256 bits")
	}
	if data == nil {
		data = a.Data
	}
	if a.Gas != nil && *a.Gas > 0 {
		gas = min(gas, uint64(*a.Gas))
	}
	price, feeCap, tipCap, err := a.fees()
	if err != nil {
		return nil, err
	}
	msg := &core.Message{
		From: a.From, To: a.To, Value: value, GasLimit: gas, Data: data,
		GasPrice: price, GasFeeCap: feeCap, GasTipCap: tipCap,
		AccessList: a.AccessList, SetCodeAuthorizations: a.AuthorizationList,
	}
	return msg.SkipNonceCheck().SkipEOACheck(), nil
}

// fees returns the gas price that the call sees, and its maximum fees.
func (a callArgs) fees() (price, feeCap, tipCap *uint256.Int, err error) {
	if a.GasPrice != nil && (a.GasFeeCap != nil || a.GasTipCap != nil) {
		return nil, nil, nil, invalidParams("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified")
	}
	words := make([]*uint256.Int, 3)
	for i, fee := range []*hexutil.Big{a.GasPrice, a.GasFeeCap, a.GasTipCap} {
		words[i] = new(uint256.Int)
		if fee != nil && words[i].SetFromBig((*big.Int)(fee)) {
			return nil, nil, nil, invalidParams("a fee is larger than 256 bits")
		}
	}
	if a.GasPrice != nil {
		return words[0], words[0], words[0], nil
	}
	feeCap, tipCap = words[1], words[2]
	if feeCap.IsZero() && tipCap.IsZero() {
		return words[0], feeCap, tipCap, nil
	}
	base, _ := uint256.FromBig(baseFee) // a small constant
	price = base.Add(base, tipCap)
	if price.Gt(feeCap) {
		price = feeCap.Clone()
	}
	return price, feeCap, tipCap, nil
}

// call executes a call on the state at a block and discards its changes. Calls on
// the newest block see the time that a transaction sent now would see.
func (c *Chain) call(ctx context.Context, args callArgs, gas uint64, at blockRef) (*core.ExecutionResult, error) {
	msg, err := args.message(gas)
	if err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	b, v, err := c.viewAt(at)
	if err != nil {
		return nil, err
	}
	h := b.header
	if b == c.head {
		h = types.CopyHeader(h)
		h.Time = max(h.Time, uint64(c.now().Unix()))
	}
	evm := c.environment().newEVM(newDraft(v), h, vm.Config{NoBaseFee: true})
	defer evm.Release()
	defer context.AfterFunc(ctx, evm.Cancel)()
	res, err := core.ApplyMessage(evm, msg, nil)
	if evm.Cancelled() {
		return nil, errors.New("execution aborted (timeout)")
	}
	return res, err
}

// viewAt returns a block and the state after it. The caller holds mu.
func (c *Chain) viewAt(at blockRef) (*block, view, error) {
	number, ok := c.history.find(at)
	if !ok {
		return nil, nil, errors.New("header not found")
	}
	if number == c.head.number() {
		return c.head, c.state, nil
	}
	undos, err := c.history.undos(number)
	if err != nil {
		return nil, nil, err
	}
	b, err := c.history.block(number)
	if err != nil {
		return nil, nil, err
	}
	return b, c.state.before(undos), nil
}

// estimate finds the lowest gas limit with which a call succeeds, to within one
// percent.
func (c *Chain) estimate(ctx context.Context, args callArgs, at blockRef) (uint64, error) {
	args.GasPrice, args.GasFeeCap, args.GasTipCap = nil, nil, nil // they do not affect the gas used
	res, err := c.call(ctx, args, callGas, at)
	if err != nil {
		return 0, err
	}
	if res.Err != nil {
		return 0, revertError(res)
	}
	used, limit := res.UsedGas, uint64(callGas)
	if args.Gas != nil && *args.Gas > 0 {
		limit = min(limit, uint64(*args.Gas))
	}
	// Simple calls need the gas they use. Nested calls get 63/64 of the remaining
	// gas, and refunds are applied at the end, so they need more.
	guesses := []uint64{used, (res.MaxUsedGas + params.CallStipend) * 64 / 63}
	low, high := used-1, limit // too low, sufficient
	for high-low > 1+high/100 {
		guess := low + (high-low)/2
		if len(guesses) > 0 {
			guess, guesses = min(max(guesses[0], low+1), high-1), guesses[1:]
		}
		ok, err := c.enough(ctx, args, guess, at)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = guess
		default:
			low = guess
		}
	}
	return high, nil
}

// enough reports whether a call succeeds with this much gas.
func (c *Chain) enough(ctx context.Context, args callArgs, gas uint64, at blockRef) (bool, error) {
	res, err := c.call(ctx, args, gas, at)
	if errors.Is(err, core.ErrIntrinsicGas) || errors.Is(err, core.ErrFloorDataGas) {
		return false, nil
	}
	return err == nil && res.Err == nil, err
}

// revertError returns the error of a failed call, with the revert reason.
func revertError(res *core.ExecutionResult) error {
	if !errors.Is(res.Err, vm.ErrExecutionReverted) {
		return res.Err
	}
	message := res.Err.Error()
	if reason, err := abi.UnpackRevert(res.Revert()); err == nil {
		message += ": " + reason
	}
	return &rpcError{Code: codeReverted, Message: message, Data: hexutil.Encode(res.Revert())}
}
