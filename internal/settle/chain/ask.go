package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// errNotThere is the answer of an endpoint that does not know a block which it,
// or its neighbour behind the same address, has just told us of.
var errNotThere = errors.New("the chain does not know this block")

// A block is what we need to know of one.
type block struct {
	Number  quantity     `json:"number"`
	Hash    common.Hash  `json:"hash"`
	Time    quantity     `json:"timestamp"`
	BaseFee *hexutil.Big `json:"baseFeePerGas"`
}

// ref names the block by its hash (EIP-1898), so that an answer about it is
// about no other, or none.
func (b *block) ref() any {
	return map[string]any{"blockHash": b.Hash, "requireCanonical": true}
}

// A logEntry is an event on the chain.
type logEntry struct {
	Address common.Address `json:"address"`
	Topics  []common.Hash  `json:"topics"`
	Data    hexutil.Bytes  `json:"data"`
	Block   quantity       `json:"blockNumber"`
	TxHash  common.Hash    `json:"transactionHash"`
}

// A receipt is what became of a transaction.
type receipt struct {
	TxHash    common.Hash `json:"transactionHash"`
	Block     quantity    `json:"blockNumber"`
	BlockHash common.Hash `json:"blockHash"`
	Status    quantity    `json:"status"`
	GasUsed   quantity    `json:"gasUsed"`
	Logs      []logEntry  `json:"logs"`
}

// block returns the block at a tag or number.
func (c *Client) block(ctx context.Context, at string) (*block, error) {
	var b *block
	if err := c.call(ctx, &b, "eth_getBlockByNumber", at, false); err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fmt.Errorf("ask for block %s: %w", at, errNotThere)
	}
	return b, nil
}

func number(n uint64) string { return fmt.Sprintf("0x%x", n) }

// receipt returns nil for a transaction that is in no block.
func (c *Client) receipt(ctx context.Context, hash common.Hash) (*receipt, error) {
	var r *receipt
	err := c.call(ctx, &r, "eth_getTransactionReceipt", hash)
	return r, err
}

// canonicalReceipt returns the receipt if its block is on the chain and not
// above final, and nil if it is not.
func (c *Client) canonicalReceipt(ctx context.Context, hash common.Hash, final *block) (*receipt, error) {
	r, err := c.receipt(ctx, hash)
	if err != nil || r == nil || r.Block > final.Number {
		return nil, err
	}
	b, err := c.block(ctx, number(uint64(r.Block)))
	if err != nil || b.Hash != r.BlockHash {
		return nil, err
	}
	return r, nil
}

// logs returns the token's logs between two blocks, both included.
func (s *Settler) logs(ctx context.Context, from, to uint64, topics ...any) ([]logEntry, error) {
	var all []logEntry
	for ; from <= to; from += maxRange {
		filter := map[string]any{
			"address":   s.USDC,
			"fromBlock": number(from), "toBlock": number(min(to, from+maxRange-1)),
			"topics": topics,
		}
		var some []logEntry
		if err := s.Client.call(ctx, &some, "eth_getLogs", filter); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// count returns how many transactions the account has on the chain at a block.
func (c *Client) count(ctx context.Context, who common.Address, at any) (uint64, error) {
	var n quantity
	err := c.call(ctx, &n, "eth_getTransactionCount", who, at)
	return uint64(n), err
}

// hasCode says whether the account is made of code, or borrows some (EIP-7702).
func (c *Client) hasCode(ctx context.Context, who common.Address) (bool, error) {
	var code hexutil.Bytes
	err := c.call(ctx, &code, "eth_getCode", who, "latest")
	return len(code) > 0, err
}

// A question is a call that changes nothing.
type question struct {
	from common.Address
	to   common.Address
	data []byte
	gas  uint64
}

// ask makes the call on the state after a block.
func (c *Client) ask(ctx context.Context, q question, at any) ([]byte, error) {
	var answer hexutil.Bytes
	err := c.call(ctx, &answer, "eth_call", map[string]any{
		"from": q.from, "to": q.to, "data": "0x" + hex.EncodeToString(q.data), "gas": number(q.gas),
	}, at)
	return answer, err
}

// tip returns what a transaction should offer above the base fee.
func (c *Client) tip(ctx context.Context) (*big.Int, error) {
	var tip hexutil.Big
	err := c.call(ctx, &tip, "eth_maxPriorityFeePerGas")
	return (*big.Int)(&tip), err
}

// send hands a signed transaction to the endpoint.
func (c *Client) send(ctx context.Context, raw []byte) error {
	var hash common.Hash
	return c.call(ctx, &hash, "eth_sendRawTransaction", "0x"+hex.EncodeToString(raw))
}
