package devchain

import (
	"fmt"
	"slices"
)

// Pause holds blocks back: transactions wait in the pool until Resume.
func (c *Chain) Pause() { c.setPaused(true) }

// Resume lets blocks be made again, beginning with all that wait.
func (c *Chain) Resume() { c.setPaused(false) }

func (c *Chain) setPaused(paused bool) {
	c.waiting.Lock()
	defer c.waiting.Unlock()
	c.paused = paused
	c.wakeMaker()
}

// Mine makes one block now, of what is ready or of nothing, also during a pause.
func (c *Chain) Mine() error { return c.makeBlock(evenPaused) }

// Rewind takes the last n blocks back, for good, as a reorganisation does. It
// returns their transactions in order: those that are sent again find their
// place in new blocks, the others were dropped. It fails when so many blocks
// are not there, or not kept: the last 256 are.
func (c *Chain) Rewind(n int) (dropped [][]byte, err error) {
	c.making.Lock()
	defer c.making.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	height := c.history.height()
	if n < 1 || uint64(n) > height {
		return nil, fmt.Errorf("cannot take back %d of %d blocks", n, height)
	}
	undos, err := c.history.undos(height - uint64(n))
	if err != nil {
		return nil, err
	}
	gone, head, err := c.history.last(n)
	if err != nil {
		return nil, err
	}
	if err := c.history.log.cut(c.history.blocks[head.number()].at.end); err != nil {
		return nil, fmt.Errorf("cut the block log: %w", err)
	}
	for i, b := range gone {
		c.state.apply(undos[i])
		c.history.pop(b)
	}
	c.head = head
	c.tell()
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
