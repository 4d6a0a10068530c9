package devchain

import (
	"context"
	"errors"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/go-json-experiment/json/v1"
)

// Limits of one request for logs or fees.
const (
	maxLogBlocks = 10_000
	maxLogs      = 10_000
	maxChoices   = 1_000 // addresses, or alternatives for one topic
	maxTopics    = 4
	maxFeeBlocks = 1_024
)

// A logFilter selects logs.
type logFilter struct {
	FromBlock *blockRef             `json:"fromBlock"`
	ToBlock   *blockRef             `json:"toBlock"`
	BlockHash *common.Hash          `json:"blockHash"`
	Address   anyOf[common.Address] `json:"address"`
	Topics    []anyOf[common.Hash]  `json:"topics"`
}

// anyOf is one value or a list of alternatives; an empty one matches all.
type anyOf[T comparable] []T

func (a *anyOf[T]) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] == '[' {
		var all []T
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		if len(all) > maxChoices {
			return errors.New("too many alternatives")
		}
		*a = all
		return nil
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*a = anyOf[T]{one}
	return nil
}

func (a anyOf[T]) has(v T) bool { return len(a) == 0 || slices.Contains(a, v) }

func (f logFilter) matches(l *types.Log) bool {
	if !f.Address.has(l.Address) || len(f.Topics) > len(l.Topics) {
		return false
	}
	for i, want := range f.Topics {
		if !want.has(l.Topics[i]) {
			return false
		}
	}
	return true
}

// maybe reports whether a block with this bloom may have a matching log.
func (f logFilter) maybe(bloom types.Bloom) bool {
	in := func(b []byte) bool { return bloom.Test(b) }
	if len(f.Address) > 0 && !slices.ContainsFunc(f.Address, func(a common.Address) bool { return in(a[:]) }) {
		return false
	}
	for _, want := range f.Topics {
		if len(want) > 0 && !slices.ContainsFunc(want, func(h common.Hash) bool { return in(h[:]) }) {
			return false
		}
	}
	return true
}

func logs(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var f logFilter
	if err := p.read(1, &f); err != nil {
		return nil, err
	}
	if len(f.Topics) > maxTopics {
		return nil, invalidParams("exceed max topics")
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	from, to, err := c.history.filtered(f)
	if err != nil {
		return nil, err
	}
	found := []*types.Log{}
	for n := from; n < to; n++ {
		b, err := c.history.block(n)
		if err != nil {
			return nil, err
		}
		found = append(found, f.logsOf(b)...)
		if len(found) > maxLogs {
			return nil, &rpcError{Code: codeLimit, Message: "query returned more than 10000 results"}
		}
	}
	return found, nil
}

func (f logFilter) logsOf(b *block) (found []*types.Log) {
	if !f.maybe(b.header.Bloom) {
		return nil
	}
	for _, r := range b.receipts {
		for _, l := range r.Logs {
			if f.matches(l) {
				found = append(found, l)
			}
		}
	}
	return found
}

// filtered returns the numbers of the blocks in the range of f, the last one
// excluded. A range may begin or end above the head: clients also poll for future
// blocks.
func (h *history) filtered(f logFilter) (from, to uint64, err error) {
	if f.BlockHash != nil {
		if f.FromBlock != nil || f.ToBlock != nil {
			return 0, 0, invalidParams("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other")
		}
		n, ok := h.hashes[*f.BlockHash]
		if !ok {
			return 0, 0, errors.New("unknown block")
		}
		return n, n + 1, nil
	}
	from, to = h.bound(f.FromBlock), h.bound(f.ToBlock)
	if from > to && from <= h.height() {
		return 0, 0, invalidParams("invalid block range params")
	}
	to = min(to, h.height()) + 1
	if from < to && to-from > maxLogBlocks {
		return 0, 0, &rpcError{Code: codeLimit, Message: "block range is larger than 10000 blocks"}
	}
	return from, to, nil
}

// bound returns the block number that r means as the end of a range.
func (h *history) bound(r *blockRef) uint64 {
	if r == nil {
		return h.height()
	}
	if r.tag == "number" {
		return r.number
	}
	if n, ok := h.find(*r); ok {
		return n
	}
	return h.height()
}

// feeHistory returns the constant fees and the gas used by the blocks.
func feeHistory(c *Chain, _ context.Context, p rpcParams) (any, error) {
	var count feeCount
	var newest blockRef
	var percentiles []float64
	if err := p.read(2, &count, &newest, &percentiles); err != nil {
		return nil, err
	}
	if len(percentiles) > 100 {
		return nil, invalidParams("over the query limit 100")
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	last, ok := c.history.find(newest)
	if !ok {
		return nil, errors.New("request beyond head block")
	}
	n := min(uint64(count), maxFeeBlocks, last+1)
	oldest := last + 1 - n
	fees, shares, rewards := []any{}, []float64{}, [][]any{}
	reward := slices.Repeat([]any{(*hexutil.Big)(tip)}, len(percentiles))
	for i := range n {
		b, err := c.history.block(oldest + i)
		if err != nil {
			return nil, err
		}
		fees = append(fees, (*hexutil.Big)(baseFee))
		shares = append(shares, float64(b.header.GasUsed)/float64(b.header.GasLimit))
		rewards = append(rewards, reward)
	}
	o := object{"oldestBlock": hexutil.Uint64(oldest), "baseFeePerGas": append(fees, (*hexutil.Big)(baseFee)), "gasUsedRatio": shares}
	if len(percentiles) > 0 {
		o["reward"] = rewards
	}
	return o, nil
}

// A feeCount is a number that some clients encode as hex and others as decimal.
type feeCount uint64

func (n *feeCount) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return (*hexutil.Uint64)(n).UnmarshalJSON(b)
	}
	return json.Unmarshal(b, (*uint64)(n))
}
