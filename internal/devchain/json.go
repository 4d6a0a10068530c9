package devchain

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/go-json-experiment/json/v1"
)

// A blockRef refers to a block by tag, number or hash. The zero value is the
// newest.
type blockRef struct {
	tag    string
	number uint64
	hash   common.Hash
}

// UnmarshalJSON reads "latest", "0x1b4", a hash, or an object with either
// (EIP-1898).
func (r *blockRef) UnmarshalJSON(b []byte) error {
	var o struct {
		BlockNumber *string      `json:"blockNumber"`
		BlockHash   *common.Hash `json:"blockHash"`
	}
	var s string
	switch {
	case len(b) > 0 && b[0] == '{':
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
	case json.Unmarshal(b, &s) == nil:
		o.BlockNumber = &s
	}
	switch {
	case o.BlockHash != nil:
		*r = blockRef{tag: "hash", hash: *o.BlockHash}
		return nil
	case o.BlockNumber == nil:
		return errors.New("a block is a tag, a number or a hash")
	}
	return r.parse(*o.BlockNumber)
}

func (r *blockRef) parse(s string) (err error) {
	switch s {
	case "latest", "safe", "finalized", "pending", "earliest":
		*r = blockRef{tag: s}
		return nil
	}
	if len(s) == 2+2*common.HashLength {
		r.tag = "hash"
		return r.hash.UnmarshalText([]byte(s))
	}
	r.tag = "number"
	r.number, err = hexutil.DecodeUint64(s)
	return err
}

type object map[string]any

func blockJSON(b *block, full bool) object {
	txs := []any{}
	for i, tx := range b.txs {
		if full {
			txs = append(txs, minedJSON(minedTx{b, i}))
		} else {
			txs = append(txs, tx.Hash())
		}
	}
	h := b.header
	body := types.Body{Transactions: b.txs, Withdrawals: []*types.Withdrawal{}}
	return object{
		"number":                (*hexutil.Big)(h.Number),
		"hash":                  b.hash,
		"parentHash":            h.ParentHash,
		"nonce":                 h.Nonce,
		"mixHash":               h.MixDigest,
		"sha3Uncles":            h.UncleHash,
		"logsBloom":             h.Bloom,
		"stateRoot":             h.Root,
		"miner":                 h.Coinbase,
		"difficulty":            (*hexutil.Big)(h.Difficulty),
		"totalDifficulty":       (*hexutil.Big)(h.Difficulty),
		"extraData":             hexutil.Bytes(h.Extra),
		"size":                  hexutil.Uint64(types.NewBlockWithHeader(h).WithBody(body).Size()),
		"gasLimit":              hexutil.Uint64(h.GasLimit),
		"gasUsed":               hexutil.Uint64(h.GasUsed),
		"timestamp":             hexutil.Uint64(h.Time),
		"transactionsRoot":      h.TxHash,
		"receiptsRoot":          h.ReceiptHash,
		"baseFeePerGas":         (*hexutil.Big)(h.BaseFee),
		"withdrawalsRoot":       h.WithdrawalsHash,
		"blobGasUsed":           (*hexutil.Uint64)(h.BlobGasUsed),
		"excessBlobGas":         (*hexutil.Uint64)(h.ExcessBlobGas),
		"parentBeaconBlockRoot": h.ParentBeaconRoot,
		"requestsHash":          h.RequestsHash,
		"transactions":          txs,
		"uncles":                []common.Hash{},
		"withdrawals":           []any{},
	}
}

// pendingJSON is the block that would be produced now. The caller holds mu.
func (c *Chain) pendingJSON(full bool) object {
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	o := blockJSON(&block{header: headerAfter(c.head, c.now())}, full)
	o["hash"], o["nonce"], o["miner"], o["logsBloom"] = nil, nil, nil, nil
	txs := []any{}
	for _, list := range c.pool.ready(c.state) {
		for _, tx := range list {
			if full {
				txs = append(txs, waitingJSON(tx))
			} else {
				txs = append(txs, tx.Hash())
			}
		}
	}
	o["transactions"] = txs
	return o
}

// waitingJSON is a transaction in the pool.
func waitingJSON(tx *types.Transaction) object {
	from, _ := types.Sender(signer, tx) // the pool has only transactions with a valid sender, which tx caches
	return transactionJSON(tx, from)
}

func transactionJSON(tx *types.Transaction, from common.Address) object {
	v, r, s := tx.RawSignatureValues()
	o := object{
		"type":             hexutil.Uint64(tx.Type()),
		"hash":             tx.Hash(),
		"nonce":            hexutil.Uint64(tx.Nonce()),
		"from":             from,
		"to":               tx.To(),
		"value":            (*hexutil.Big)(tx.Value()),
		"gas":              hexutil.Uint64(tx.Gas()),
		"gasPrice":         (*hexutil.Big)(tx.GasPrice()),
		"input":            hexutil.Bytes(tx.Data()),
		"v":                (*hexutil.Big)(v),
		"r":                (*hexutil.Big)(r),
		"s":                (*hexutil.Big)(s),
		"chainId":          (*hexutil.Big)(tx.ChainId()),
		"blockHash":        nil,
		"blockNumber":      nil,
		"transactionIndex": nil,
	}
	if tx.Type() != types.LegacyTxType {
		o["accessList"] = tx.AccessList()
		o["yParity"] = (*hexutil.Big)(v)
	}
	if tx.Type() >= types.DynamicFeeTxType {
		o["maxFeePerGas"] = (*hexutil.Big)(tx.GasFeeCap())
		o["maxPriorityFeePerGas"] = (*hexutil.Big)(tx.GasTipCap())
	}
	if tx.Type() == types.SetCodeTxType {
		o["authorizationList"] = tx.SetCodeAuthorizations()
	}
	return o
}

// minedJSON is a transaction in a block.
func minedJSON(m minedTx) object {
	o := transactionJSON(m.tx(), m.from())
	o["gasPrice"] = (*hexutil.Big)(m.receipt().EffectiveGasPrice)
	o["blockHash"] = m.block.hash
	o["blockNumber"] = (*hexutil.Big)(m.block.header.Number)
	o["transactionIndex"] = hexutil.Uint64(m.index)
	return o
}

func receiptJSON(m minedTx) object {
	r, tx := m.receipt(), m.tx()
	o := object{
		"type":              hexutil.Uint64(r.Type),
		"status":            hexutil.Uint64(r.Status),
		"transactionHash":   r.TxHash,
		"transactionIndex":  hexutil.Uint64(m.index),
		"blockHash":         m.block.hash,
		"blockNumber":       (*hexutil.Big)(r.BlockNumber),
		"from":              m.from(),
		"to":                tx.To(),
		"contractAddress":   nil,
		"gasUsed":           hexutil.Uint64(r.GasUsed),
		"cumulativeGasUsed": hexutil.Uint64(r.CumulativeGasUsed),
		"effectiveGasPrice": (*hexutil.Big)(r.EffectiveGasPrice),
		"logs":              append([]*types.Log{}, r.Logs...),
		"logsBloom":         r.Bloom,
	}
	if tx.To() == nil {
		o["contractAddress"] = r.ContractAddress
	}
	return o
}
