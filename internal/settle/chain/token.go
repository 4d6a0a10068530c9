package chain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/contracts"
)

var (
	tokenABI = mustABI("USDC")
	batchABI = mustABI("Multicall")

	// payMethod is the overload of transferWithAuthorization that takes the signature
	// as bytes, and accepts those of contract wallets.
	payMethod = mustMethod(tokenABI, 0xcf092995)

	usedTopic     = crypto.Keccak256Hash([]byte("AuthorizationUsed(address,bytes32)"))
	canceledTopic = crypto.Keccak256Hash([]byte("AuthorizationCanceled(address,bytes32)"))
	transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
)

func mustABI(name string) abi.ABI {
	a, err := abi.JSON(bytes.NewReader(contracts.Compiled(name).ABI))
	if err != nil {
		panic(fmt.Sprintf("chain: the ABI of %s: %v", name, err)) // it is compiled in
	}
	return a
}

func mustMethod(a abi.ABI, selector uint32) string {
	for name, m := range a.Methods {
		if new(big.Int).SetBytes(m.ID).Uint64() == uint64(selector) {
			return name
		}
	}
	panic(fmt.Sprintf("chain: the token has no method %x", selector)) // likewise
}

// pack encodes a call. The arguments are of our own types, so it cannot fail.
func pack(a abi.ABI, method string, args ...any) []byte {
	data, err := a.Pack(method, args...)
	if err != nil {
		panic(fmt.Sprintf("chain: encode %s: %v", method, err))
	}
	return data
}

// A batchCall is one call of a batch. The names are those of Multicall3.
type batchCall struct {
	Target       common.Address
	AllowFailure bool
	CallData     []byte
}

// A callResult is the result of one call of a batch.
type callResult struct {
	Success    bool
	ReturnData []byte
}

func (r callResult) reason() string {
	reason, err := abi.UnpackRevert(r.ReturnData)
	if err != nil {
		return ""
	}
	return reason
}

func (r callResult) number() (*big.Int, error) {
	if !r.Success || len(r.ReturnData) != 32 {
		return nil, errors.New("the call did not return a number")
	}
	return new(big.Int).SetBytes(r.ReturnData), nil
}

// batch encodes calls for one transaction. A call that fails does not affect the
// others.
func batch(target common.Address, calls ...[]byte) []byte {
	var members []batchCall
	for _, data := range calls {
		members = append(members, batchCall{target, true, data})
	}
	return pack(batchABI, "aggregate3", members)
}

// callBatch runs many calls at once on the state after a block, with the sender, the gas
// and the fees of q, as a transaction would have them. There is one result for each.
func (c *Client) callBatch(ctx context.Context, q callMsg, members []batchCall, at string) ([]callResult, error) {
	q.data = pack(batchABI, "aggregate3", members)
	raw, err := c.ethCall(ctx, q, at)
	if err != nil {
		return nil, err
	}
	results, err := unpackBatch(raw)
	if err == nil && len(results) != len(members) {
		err = fmt.Errorf("a batch of %d calls has %d results", len(members), len(results))
	}
	return results, err
}

func unpackBatch(raw []byte) ([]callResult, error) {
	out, err := batchABI.Unpack("aggregate3", raw)
	if err != nil {
		return nil, fmt.Errorf("decode the results of a batch: %w", err)
	}
	return *abi.ConvertType(out[0], new([]callResult)).(*[]callResult), nil
}
