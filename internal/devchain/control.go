package devchain

import (
	"fmt"
	"slices"
)

// Pause stops block production: transactions wait in the pool until Resume.
func (c *Chain) Pause() { c.setPaused(true) }

// Resume restarts block production, with all pending transactions.
func (c *Chain) Resume() { c.setPaused(false) }

func (c *Chain) setPaused(paused bool) {
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	c.paused = paused
	c.wakeProducer()
}

// Mine produces one block now, empty if necessary, even while paused.
func (c *Chain) Mine() error { return c.produceBlock(evenPaused) }

// Rewind removes the last n blocks permanently, like a reorganization. It returns
// their transactions in order: those that are sent again are mined in new blocks,
// the others are dropped. It fails when the chain has fewer blocks, or n exceeds
// the 256 blocks that can be undone.
func (c *Chain) Rewind(n int) (dropped [][]byte, err error) {
	c.blockMu.Lock()
	defer c.blockMu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	height := c.history.height()
	if n < 1 || uint64(n) > height {
		return nil, fmt.Errorf("cannot rewind %d of %d blocks", n, height)
	}
	undos, err := c.history.undos(height - uint64(n))
	if err != nil {
		return nil, err
	}
	gone, head, err := c.history.last(n)
	if err != nil {
		return nil, err
	}
	if err := c.history.log.truncate(c.history.blocks[head.number()].at.end); err != nil {
		return nil, fmt.Errorf("truncate the block log: %w", err)
	}
	for i, b := range gone {
		c.state.apply(undos[i])
		c.history.pop(b)
	}
	c.head = head
	c.notifyHead()
	return rawTransactions(gone)
}

// last returns the last n blocks, the newest first, and the one below them.
func (h *history) last(n int) (above []*block, below *block, err error) {
	for range n + 1 {
		if below != nil {
			above = append(above, below)
		}
		if below, err = h.block(h.height() - uint64(len(above))); err != nil {
			return nil, nil, err
		}
	}
	return above, below, nil
}

// rawTransactions returns the transactions of blocks, oldest first.
func rawTransactions(newestFirst []*block) ([][]byte, error) {
	var all [][]byte
	for _, b := range slices.Backward(newestFirst) {
		for _, tx := range b.txs {
			raw, err := tx.MarshalBinary()
			if err != nil {
				return nil, fmt.Errorf("encode transaction %s: %w", tx.Hash(), err)
			}
			all = append(all, raw)
		}
	}
	return all, nil
}
