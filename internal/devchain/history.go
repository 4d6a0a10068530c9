package devchain

import (
	"fmt"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A history finds blocks by number, hash and transaction. For old blocks it has
// only their position in the log; recent ones are in memory, with their undo
// changes.
type history struct {
	log    *blockLog
	blocks []entry // by number
	hashes map[common.Hash]uint64
	mined  map[common.Hash]place
}

type entry struct {
	hash   common.Hash
	at     span
	recent *recent // nil for old blocks
}

type recent struct {
	block atomic.Pointer[block] // nil until it is requested
	undo  changes
}

func newRecent(b *block, undo changes) *recent {
	r := &recent{undo: undo}
	r.block.Store(b)
	return r
}

// A place is the position of a transaction.
type place struct {
	number uint64
	index  int
}

// keptBlocks is the number of recent blocks in memory: this many can be rewound,
// and have their state available.
const keptBlocks = 256

func newHistory() *history {
	return &history{hashes: map[common.Hash]uint64{}, mined: map[common.Hash]place{}}
}

// height returns the number of the newest block.
func (h *history) height() uint64 { return uint64(len(h.blocks)) - 1 }

// hashOf returns the hash of a block, or zero if it does not exist.
func (h *history) hashOf(number uint64) common.Hash {
	if number >= uint64(len(h.blocks)) {
		return common.Hash{}
	}
	return h.blocks[number].hash
}

// push adds a block.
func (h *history) push(hash common.Hash, txs []common.Hash, at span, r *recent) {
	h.blocks = append(h.blocks, entry{hash, at, r})
	h.hashes[hash] = h.height()
	for i, tx := range txs {
		h.mined[tx] = place{h.height(), i}
	}
	if old := len(h.blocks) - 1 - keptBlocks; old >= 0 {
		h.blocks[old].recent = nil
	}
}

// pop removes the newest block.
func (h *history) pop(b *block) {
	h.blocks = h.blocks[:len(h.blocks)-1]
	delete(h.hashes, b.hash)
	for _, tx := range b.txs {
		delete(h.mined, tx.Hash())
	}
}

// block returns the block with an existing number.
func (h *history) block(number uint64) (*block, error) {
	e := h.blocks[number]
	if e.recent != nil {
		if b := e.recent.block.Load(); b != nil {
			return b, nil
		}
	}
	payload, err := h.log.read(e.at)
	if err != nil {
		return nil, fmt.Errorf("read block %d: %w", number, err)
	}
	r, err := decodeRecord(payload)
	if err != nil {
		return nil, fmt.Errorf("decode block %d: %w", number, err)
	}
	b, err := r.block()
	if err != nil {
		return nil, fmt.Errorf("decode block %d: %w", number, err)
	}
	if e.recent != nil {
		e.recent.block.Store(b)
	}
	return b, nil
}

// find returns the number of the block that at refers to. Mined blocks are final,
// unless a test rewinds, so safe and finalized are the newest.
func (h *history) find(at blockRef) (number uint64, ok bool) {
	switch at.tag {
	case "earliest":
		return 0, true
	case "hash":
		number, ok = h.hashes[at.hash]
		return number, ok
	case "number":
		return at.number, at.number <= h.height()
	}
	return h.height(), true
}

// blockAt returns the block that at refers to, or nil.
func (h *history) blockAt(at blockRef) (*block, error) {
	number, ok := h.find(at)
	if !ok {
		return nil, nil
	}
	return h.block(number)
}

// A minedTx is a transaction and its block.
type minedTx struct {
	block *block
	index int
}

func (m minedTx) tx() *types.Transaction  { return m.block.txs[m.index] }
func (m minedTx) receipt() *types.Receipt { return m.block.receipts[m.index] }
func (m minedTx) from() common.Address    { return m.block.froms[m.index] }

// transaction returns a transaction if it is mined.
func (h *history) transaction(hash common.Hash) (m minedTx, ok bool, err error) {
	at, ok := h.mined[hash]
	if !ok {
		return m, false, nil
	}
	b, err := h.block(at.number)
	return minedTx{b, at.index}, err == nil, err
}

// undos returns the undo changes of the blocks above number, newest first.
func (h *history) undos(number uint64) ([]changes, error) {
	var all []changes
	for n := h.height(); n > number; n-- {
		r := h.blocks[n].recent
		if r == nil {
			return nil, fmt.Errorf("the state of block %d is no longer available", number)
		}
		all = append(all, r.undo)
	}
	return all, nil
}
