package devchain

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// A record is a block as it is stored in the log. Opening the chain decodes the
// first part of each; the body is decoded when the block is requested.
type record struct {
	Number  uint64
	Hash    common.Hash
	Txs     []common.Hash
	Changes changes

	body []byte
}

type recordBody struct {
	Header   *types.Header
	Txs      []*types.Transaction
	Froms    []common.Address // the senders, to avoid recovering them
	Receipts []*types.ReceiptForStorage
}

func encodeRecord(b *block, made changes) ([]byte, error) {
	body := recordBody{Header: b.header, Txs: b.txs, Froms: b.froms}
	r := record{Number: b.number(), Hash: b.hash, Changes: made}
	for i, receipt := range b.receipts {
		body.Receipts = append(body.Receipts, (*types.ReceiptForStorage)(receipt))
		r.Txs = append(r.Txs, b.txs[i].Hash())
	}
	first, err := rlp.EncodeToBytes(&r)
	if err != nil {
		return nil, err
	}
	second, err := rlp.EncodeToBytes(&body)
	if err != nil {
		return nil, err
	}
	return append(first, second...), nil
}

// decodeRecord decodes the first part. The record retains payload.
func decodeRecord(payload []byte) (r record, err error) {
	_, _, body, err := rlp.Split(payload)
	if err != nil {
		return r, err
	}
	err = rlp.DecodeBytes(payload[:len(payload)-len(body)], &r)
	r.body = body
	return r, err
}

// block decodes the record's body.
func (r record) block() (*block, error) {
	var body recordBody
	if err := rlp.DecodeBytes(r.body, &body); err != nil {
		return nil, err
	}
	if len(body.Froms) != len(body.Txs) || body.Header.BaseFee == nil || !body.Header.Number.IsUint64() {
		return nil, errors.New("the parts of the record are inconsistent")
	}
	b := &block{header: body.Header, txs: body.Txs, froms: body.Froms}
	for _, receipt := range body.Receipts {
		b.receipts = append(b.receipts, (*types.Receipt)(receipt))
	}
	if err := b.place(); err != nil {
		return nil, err
	}
	if b.hash != r.Hash || b.number() != r.Number {
		return nil, errors.New("the record has another block")
	}
	return b, nil
}
