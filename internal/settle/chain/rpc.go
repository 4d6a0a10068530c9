package chain

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed/contracts"
)

// errBlockNotFound says that an endpoint does not know a block, although it or
// another node behind the same URL has just reported it.
var errBlockNotFound = errors.New("the endpoint does not know this block")

// A block has the fields of a block header that we need.
type block struct {
	Number  quantity     `json:"number"`
	Hash    common.Hash  `json:"hash"`
	Time    quantity     `json:"timestamp"`
	BaseFee *hexutil.Big `json:"baseFeePerGas"`
}

// A logEntry is an event on the chain.
type logEntry struct {
	Address   common.Address `json:"address"`
	Topics    []common.Hash  `json:"topics"`
	Data      hexutil.Bytes  `json:"data"`
	Block     quantity       `json:"blockNumber"`
	BlockHash common.Hash    `json:"blockHash"`
	TxHash    common.Hash    `json:"transactionHash"`
	Index     quantity       `json:"logIndex"` // in the block
}

// A receipt is the result of one of our transactions.
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
	if at == "latest" {
		return c.newest(ctx)
	}
	var b *block
	var err error
	if at == "safe" && c.Quorum > 1 {
		b, err = c.commonBlock(ctx, at, reflect.TypeFor[*block]())
	} else {
		err = c.call(ctx, &b, "eth_getBlockByNumber", at, false)
	}
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fmt.Errorf("read block %s: %w", at, errBlockNotFound)
	}
	return b, nil
}

// A newestBlock is the newest block of an endpoint, which is compared with those of others.
type newestBlock block

func (c *Client) newest(ctx context.Context) (*block, error) {
	b := new(block)
	var err error
	if c.Quorum > 1 {
		b, err = c.commonBlock(ctx, "latest", reflect.TypeFor[newestBlock]())
	} else {
		err = c.call(ctx, (*newestBlock)(b), "eth_getBlockByNumber", "latest", false)
	}
	if err != nil {
		return nil, err
	}
	c.endpoints.head.Store(&Head{Number: uint64(b.Number), Time: time.Unix(int64(b.Time), 0)})
	return b, nil
}

func number(n uint64) string { return fmt.Sprintf("0x%x", n) }

// receipt returns nil for a transaction that is in no block. It fails with
// errLargeResponse for some transactions of third parties, which may be of any size.
func (c *Client) receipt(ctx context.Context, hash common.Hash) (*receipt, error) {
	var r *receipt
	err := c.call(ctx, &r, "eth_getTransactionReceipt", hash)
	return r, err
}

// A txLocation says which block has a transaction, and who sent it.
type txLocation struct {
	From      common.Address `json:"from"`
	Block     *quantity      `json:"blockNumber"` // nil while it is pending
	BlockHash common.Hash    `json:"blockHash"`
}

// transaction returns nil for a transaction that the endpoint does not know. The
// response has no logs, so its size is limited.
func (c *Client) transaction(ctx context.Context, hash common.Hash) (*txLocation, error) {
	var p *txLocation
	err := c.call(ctx, &p, "eth_getTransactionByHash", hash)
	return p, err
}

// count returns the transaction count of an account at a block.
func (c *Client) count(ctx context.Context, who common.Address, at string) (uint64, error) {
	var n quantity
	if err := c.call(ctx, &n, "eth_getTransactionCount", who, at); err != nil {
		return 0, fmt.Errorf("count the transactions of %s: %w", who, err)
	}
	return uint64(n), nil
}

// lowestCount is count in the newest block, the lowest of the endpoints that respond.
func (c *Client) lowestCount(ctx context.Context, who common.Address) (lowest uint64, err error) {
	const method = "eth_getTransactionCount"
	body, err := encodeCall(method, []any{who, "latest"})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var counts []uint64
	var errs []error
	for _, e := range c.endpoints.all {
		var n quantity
		if err := c.requestFrom(ctx, e, &n, method, body); err != nil {
			errs = append(errs, err)
			continue
		}
		counts = append(counts, uint64(n))
	}
	if len(counts) == 0 {
		return 0, fmt.Errorf("count the transactions of %s: %w", who, errors.Join(errs...))
	}
	return slices.Min(counts), nil
}

var codeCheck = contracts.Compiled("CodeCheck").Create

// hasCode returns which accounts have code, their own or delegated (EIP-7702).
func (c *Client) hasCode(ctx context.Context, accounts []common.Address) (all []bool, err error) {
	const atOnce = 1024 // what is sent counts as initcode, which is limited (EIP-3860)
	for some := range slices.Chunk(accounts, atOnce) {
		have, err := c.askCode(ctx, some)
		if err != nil {
			return nil, err
		}
		all = append(all, have...)
	}
	return all, nil
}

func (c *Client) askCode(ctx context.Context, accounts []common.Address) ([]bool, error) {
	data := slices.Concat(codeCheck, word(big.NewInt(32)), word(big.NewInt(int64(len(accounts)))))
	for _, a := range accounts {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	var result hexutil.Bytes
	if err := c.call(ctx, &result, "eth_call", map[string]any{"data": "0x" + hex.EncodeToString(data)}, "latest"); err != nil {
		return nil, fmt.Errorf("check which payers have code: %w", err)
	}
	if len(result) != len(accounts) {
		return nil, errors.New("check which payers have code: the result has the wrong length")
	}
	have := make([]bool, len(result))
	for i, b := range result {
		have[i] = b != 0
	}
	return have, nil
}

// A callMsg has the parameters of eth_call.
type callMsg struct {
	from common.Address
	to   common.Address
	data []byte
	gas  uint64
	fees *fees // as a transaction would offer them; nil for none
}

// ethCall runs the call on the state after a block.
func (c *Client) ethCall(ctx context.Context, q callMsg, at string) ([]byte, error) {
	args := map[string]any{"from": q.from, "to": q.to, "data": "0x" + hex.EncodeToString(q.data), "gas": number(q.gas)}
	if q.fees != nil {
		args["maxFeePerGas"] = (*hexutil.Big)(q.fees.limit)
		args["maxPriorityFeePerGas"] = (*hexutil.Big)(q.fees.tip)
	}
	var result hexutil.Bytes
	err := c.call(ctx, &result, "eth_call", args, at)
	return result, err
}

// tip returns the suggested priority fee.
func (c *Client) tip(ctx context.Context) (*big.Int, error) {
	var tip hexutil.Big
	err := c.call(ctx, &tip, "eth_maxPriorityFeePerGas")
	return (*big.Int)(&tip), err
}

// send submits a signed transaction to the endpoint.
func (c *Client) send(ctx context.Context, raw []byte) error {
	var hash common.Hash
	return c.call(ctx, &hash, "eth_sendRawTransaction", "0x"+hex.EncodeToString(raw))
}
