package devchain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
)

var errClosed = errors.New("the chain is closed")

// A miningRound is one pass of the block producer over the pool. The sender of a
// transaction that was in the pool before waits for its end, and then knows the
// outcome: mined, refused, or still pending because of a lower nonce, a low price
// or a pause.
type miningRound struct {
	done    chan struct{}
	refused map[common.Hash]error // valid after done is closed
}

func newMiningRound() *miningRound {
	return &miningRound{done: make(chan struct{}), refused: map[common.Hash]error{}}
}

// send adds a transaction to the pool and waits for the round that processes it.
func (c *Chain) send(ctx context.Context, tx *types.Transaction) error {
	c.mu.RLock()
	head := c.head.header
	c.mu.RUnlock()
	if err := checkAlone(tx, head); err != nil {
		return err
	}
	from, err := types.Sender(signer, tx)
	if err != nil {
		return err
	}
	p, err := c.admit(tx, from)
	if err != nil {
		return err
	}
	return c.waitRound(ctx, tx, p)
}

// waitRound waits for the end of the round that processes tx, and returns its
// error.
func (c *Chain) waitRound(ctx context.Context, tx *types.Transaction, p *miningRound) error {
	select {
	case <-p.done:
		return p.refused[tx.Hash()]
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return errClosed
	}
}

func (c *Chain) admit(tx *types.Transaction, from common.Address) (*miningRound, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	if err := c.pool.add(tx, from, accountOf(c.state, from)); err != nil {
		return nil, err
	}
	c.wakeProducer()
	return c.nextRound, nil
}

func (c *Chain) wakeProducer() {
	select {
	case c.wake <- struct{}{}:
	default: // it was woken already
	}
}

// produceBlocks produces a block whenever transactions are pending, and one after
// each interval without any.
func (c *Chain) produceBlocks(ctx context.Context, interval time.Duration) {
	defer close(c.done)
	var timer <-chan time.Time
	for {
		if interval > 0 {
			timer = time.After(interval)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
			_ = c.produceBlock(ifReady) // refuse has reported the error to the senders
		case <-timer:
			_ = c.produceBlock(evenEmpty) // retried after the next interval
		}
		c.snapshotIfGrown()
	}
}

// A blockTrigger says under which conditions a block is produced.
type blockTrigger int

const (
	ifReady    blockTrigger = iota // only with transactions
	evenEmpty                      // also without transactions
	evenPaused                     // also without transactions, and while paused
)

// produceBlock produces a block of the pending transactions, if the trigger
// permits.
func (c *Chain) produceBlock(trigger blockTrigger) error {
	c.blockMu.Lock()
	defer c.blockMu.Unlock()
	p, ready, paused := c.beginRound()
	defer close(p.done)
	if paused && trigger < evenPaused {
		return nil
	}
	b := newBlockDraft(c.state, headerAfter(c.head, c.now()), c.environment())
	defer b.evm.Release()
	if full := b.fill(ready); full {
		defer c.wakeProducer()
	}
	if len(b.txs) == 0 && trigger < evenEmpty {
		return nil
	}
	if err := c.write(b); err != nil {
		err = fmt.Errorf("write block %v: %w", b.header.Number, err)
		c.refuse(p, b, err)
		return err
	}
	return nil
}

// beginRound starts the next round and returns the transactions it can execute.
func (c *Chain) beginRound() (p *miningRound, ready [][]*types.Transaction, paused bool) {
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	p, c.nextRound = c.nextRound, newMiningRound()
	return p, c.pool.ready(c.state), c.paused
}

// fill adds transactions, sender by sender. One that cannot be executed stays in
// the pool and blocks later ones of its sender. It reports whether the block is
// full.
func (b *blockDraft) fill(ready [][]*types.Transaction) (full bool) {
	for _, txs := range ready {
		for _, tx := range txs {
			err := b.add(tx)
			if errors.Is(err, core.ErrGasLimitReached) {
				return true
			}
			if err != nil {
				break
			}
		}
	}
	return false
}

// write appends the block to the log and then to the chain. The sync of the log is
// the point of no return: before it nobody knows of the block, after it the block
// is permanent.
func (c *Chain) write(draft *blockDraft) error {
	b, made, err := draft.finish()
	if err != nil {
		return err
	}
	payload, err := encodeRecord(b, made)
	if err != nil {
		return err
	}
	at, err := c.history.log.append(payload)
	if err != nil {
		return err
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	var txs []common.Hash
	for _, tx := range b.txs {
		txs = append(txs, tx.Hash())
	}
	c.history.push(b.hash, txs, at, newRecent(b, c.state.apply(made)))
	c.head = b
	c.notifyHead()
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	for _, from := range b.froms {
		c.pool.forget(from, accountOf(c.state, from).Nonce)
	}
	return nil
}

// refuse removes the transactions of a block that could not be written from the
// pool, and reports the error to their senders.
func (c *Chain) refuse(p *miningRound, b *blockDraft, err error) {
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	for i, tx := range b.txs {
		c.pool.drop(tx, b.froms[i])
		p.refused[tx.Hash()] = err
	}
}

// await returns the transaction once it is mined.
func (c *Chain) await(ctx context.Context, hash common.Hash) (minedTx, error) {
	for {
		c.mu.RLock()
		m, ok, err := c.history.transaction(hash)
		changed := c.headChanged
		c.mu.RUnlock()
		if ok || err != nil {
			return m, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return m, fmt.Errorf("wait for transaction %s: %w", hash, ctx.Err())
		case <-c.done:
			return m, errClosed
		}
	}
}
