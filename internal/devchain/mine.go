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

// A pass is one look of the maker at the pool. Who put a transaction there
// before the look waits for its end, and then knows: mined, refused, or left
// waiting for a lower nonce, a better price or the end of a pause.
type pass struct {
	done    chan struct{}
	refused map[common.Hash]error // read it after done
}

func newPass() *pass {
	return &pass{done: make(chan struct{}), refused: map[common.Hash]error{}}
}

// send puts a transaction into the pool and waits for the pass that sees it.
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
	return c.seen(ctx, tx, p)
}

// seen waits for the end of the pass that sees tx, and returns its refusal.
func (c *Chain) seen(ctx context.Context, tx *types.Transaction, p *pass) error {
	select {
	case <-p.done:
		return p.refused[tx.Hash()]
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return errClosed
	}
}

func (c *Chain) admit(tx *types.Transaction, from common.Address) (*pass, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.waiting.Lock()
	defer c.waiting.Unlock()
	if err := c.pool.add(tx, from, accountOf(c.state, from)); err != nil {
		return nil, err
	}
	c.wakeMaker()
	return c.pass, nil
}

func (c *Chain) wakeMaker() {
	select {
	case c.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// makeBlocks makes a block whenever transactions wait, and one at each beat
// that passed without.
func (c *Chain) makeBlocks(ctx context.Context, beat time.Duration) {
	defer close(c.done)
	var timer <-chan time.Time
	for {
		if beat > 0 {
			timer = time.After(beat)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
			_ = c.makeBlock(ifReady) // refuse has told those who wait
		case <-timer:
			_ = c.makeBlock(evenEmpty) // the next beat tries again
		}
		c.snapshotIfGrown()
	}
}

// A wish says when a block is wanted.
type wish int

const (
	ifReady    wish = iota // when there are transactions for it
	evenEmpty              // also without
	evenPaused             // also without, and during a pause
)

// makeBlock makes a block of what is ready, if it is wanted.
func (c *Chain) makeBlock(w wish) error {
	c.making.Lock()
	defer c.making.Unlock()
	p, ready, paused := c.beginPass()
	defer close(p.done)
	if paused && w < evenPaused {
		return nil
	}
	b := newBlockDraft(c.state, headerAfter(c.head, c.now()), c.history.hashOf)
	if full := b.fill(ready); full {
		defer c.wakeMaker()
	}
	if len(b.txs) == 0 && w < evenEmpty {
		return nil
	}
	if err := c.write(b); err != nil {
		err = fmt.Errorf("write block %v: %w", b.header.Number, err)
		c.refuse(p, b, err)
		return err
	}
	return nil
}

// beginPass takes the next pass and what it finds.
func (c *Chain) beginPass() (p *pass, ready [][]*types.Transaction, paused bool) {
	c.waiting.Lock()
	defer c.waiting.Unlock()
	p, c.pass = c.pass, newPass()
	return p, c.pool.ready(c.state), c.paused
}

// fill adds transactions, sender by sender. One that cannot be executed stays
// in the pool and holds back those behind it. It reports whether the block has
// no room for more.
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

// write puts the block into the log and then on top of the chain. The sync of
// the log is the point of no return: before it nobody knows of the block, after
// it nothing forgets it.
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
	c.tell()
	c.waiting.Lock()
	defer c.waiting.Unlock()
	for _, from := range b.froms {
		c.pool.forget(from, accountOf(c.state, from).Nonce)
	}
	return nil
}

// refuse takes the transactions of a block that was not written out of the
// pool, and has their senders told.
func (c *Chain) refuse(p *pass, b *blockDraft, err error) {
	c.waiting.Lock()
	defer c.waiting.Unlock()
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
		news := c.news
		c.mu.RUnlock()
		if ok || err != nil {
			return m, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return m, fmt.Errorf("wait for transaction %s: %w", hash, ctx.Err())
		case <-c.done:
			return m, errClosed
		}
	}
}
