package devchain

import (
	"context"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/go-json-experiment/json/v1"
)

// A method handles one call. Its parameters are positional.
type method func(c *Chain, ctx context.Context, p rpcParams) (any, error)

var methods = map[string]method{
	"web3_clientVersion":       constant("deed-devchain/1"),
	"net_version":              constant(strconv.Itoa(ChainID)),
	"net_listening":            constant(true),
	"eth_chainId":              constant(hexutil.Uint64(ChainID)),
	"eth_syncing":              constant(false),
	"eth_accounts":             constant([]string{}),
	"eth_gasPrice":             constant((*hexutil.Big)(new(big.Int).Add(baseFee, tip))),
	"eth_maxPriorityFeePerGas": constant((*hexutil.Big)(tip)),
	"eth_feeHistory":           feeHistory,

	"eth_blockNumber":                      blockNumber,
	"eth_getBlockByNumber":                 blockByRef,
	"eth_getBlockByHash":                   blockByRef,
	"eth_getBlockReceipts":                 blockReceipts,
	"eth_getBlockTransactionCountByNumber": blockTransactionCount,
	"eth_getBlockTransactionCountByHash":   blockTransactionCount,

	"eth_getBalance":          balance,
	"eth_getCode":             code,
	"eth_getStorageAt":        storageAt,
	"eth_getTransactionCount": transactionCount,
	"eth_call":                call,
	"eth_estimateGas":         estimateGas,

	"eth_sendRawTransaction":    sendRawTransaction,
	"eth_getTransactionByHash":  transactionByHash,
	"eth_getTransactionReceipt": transactionReceipt,
	"eth_getLogs":               logs,
}

func constant(v any) method {
	return func(*Chain, context.Context, rpcParams) (any, error) { return v, nil }
}

// rpcParams are the parameters of a call, still encoded.
type rpcParams []json.RawMessage

// read decodes the parameters into args. Those after the first required ones may be
// omitted or null, and keep their values.
func (p rpcParams) read(required int, args ...any) error {
	if len(p) > len(args) {
		return invalidParams("too many arguments, want at most %d", len(args))
	}
	for i, arg := range args {
		if i >= len(p) || string(p[i]) == "null" {
			if i < required {
				return invalidParams("missing value for required argument %d", i)
			}
			continue
		}
		if err := json.Unmarshal(p[i], arg); err != nil {
			return invalidParams("invalid argument %d: %v", i, err)
		}
	}
	return nil
}

func blockNumber(c *Chain, _ context.Context, p rpcParams) (any, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return hexutil.Uint64(c.head.number()), p.read(0)
}

func blockByRef(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var at blockRef
	var full bool
	if err := p.read(1, &at, &full); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if at.tag == "pending" {
		return c.pendingJSON(full), nil
	}
	b, err := c.history.blockAt(at)
	if b == nil {
		return nil, err
	}
	return blockJSON(b, full), nil
}

func blockReceipts(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var at blockRef
	if err := p.read(1, &at); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	b, err := c.history.blockAt(at)
	if b == nil {
		return nil, err
	}
	all := []any{}
	for i := range b.txs {
		all = append(all, receiptJSON(minedTx{b, i}))
	}
	return all, nil
}

func blockTransactionCount(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var at blockRef
	if err := p.read(1, &at); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	b, err := c.history.blockAt(at)
	if b == nil {
		return nil, err
	}
	return hexutil.Uint(len(b.txs)), nil
}

// accountAt reads an address and a block from the parameters, and looks up the
// account.
func (c *Chain) accountAt(p rpcParams) (account, error) {
	var a common.Address
	var at blockRef
	if err := p.read(1, &a, &at); err != nil {
		return account{}, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, v, err := c.viewAt(at)
	if err != nil {
		return account{}, err
	}
	return accountOf(v, a), nil
}

func balance(c *Chain, _ context.Context, p rpcParams) (any, error) {
	acc, err := c.accountAt(p)
	return (*hexutil.Big)(acc.Balance.ToBig()), err
}

func code(c *Chain, _ context.Context, p rpcParams) (any, error) {
	acc, err := c.accountAt(p)
	return hexutil.Bytes(acc.Code), err
}

func transactionCount(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var a common.Address
	var at blockRef
	if err := p.read(1, &a, &at); err != nil {
		return nil, err
	}
	if at.tag == "pending" {
		return hexutil.Uint64(c.nextNonce(a)), nil
	}
	acc, err := c.accountAt(p)
	return hexutil.Uint64(acc.Nonce), err
}

func storageAt(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var a common.Address
	var key string
	var at blockRef
	if err := p.read(2, &a, &key, &at); err != nil {
		return nil, err
	}
	n, ok := new(big.Int).SetString(key, 0) // clients send numbers and whole words
	if !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return nil, invalidParams("invalid argument 1: %q is not a storage key", key)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, v, err := c.viewAt(at)
	if err != nil {
		return nil, err
	}
	return v.word(slot{a, common.BigToHash(n)}), nil
}

func call(c *Chain, ctx context.Context, p rpcParams) (any, error) {
	var args callArgs
	var at blockRef
	if err := p.read(1, &args, &at); err != nil {
		return nil, err
	}
	res, err := c.call(ctx, args, callGas, at)
	if err != nil {
		return nil, err
	}
	if res.Err != nil {
		return nil, revertError(res)
	}
	return hexutil.Bytes(res.ReturnData), nil
}

func estimateGas(c *Chain, ctx context.Context, p rpcParams) (any, error) {
	var args callArgs
	var at blockRef
	if err := p.read(1, &args, &at); err != nil {
		return nil, err
	}
	gas, err := c.estimate(ctx, args, at)
	return hexutil.Uint64(gas), err
}

func sendRawTransaction(c *Chain, ctx context.Context, p rpcParams) (any, error) {
	var raw hexutil.Bytes
	if err := p.read(1, &raw); err != nil {
		return nil, err
	}
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, err
	}
	return tx.Hash(), c.send(ctx, tx)
}

func transactionByHash(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var hash common.Hash
	if err := p.read(1, &hash); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	m, ok, err := c.history.transaction(hash)
	if err != nil {
		return nil, err
	}
	if ok {
		return minedJSON(m), nil
	}
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	if tx := c.pool.hashes[hash]; tx != nil {
		return waitingJSON(tx), nil
	}
	return nil, nil
}

func transactionReceipt(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var hash common.Hash
	if err := p.read(1, &hash); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	m, ok, err := c.history.transaction(hash)
	if !ok {
		return nil, err
	}
	return receiptJSON(m), nil
}
