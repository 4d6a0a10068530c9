package chain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
)

// A reader reads the chain with a client: that of a lane, or the settler's own.
type reader struct {
	s *Settler
	c *Client
}

// safeBlock caches the number of the safe block, which changes every few minutes.
type safeBlock struct {
	mu     sync.Mutex // guards the fields below
	number uint64
	at     time.Time
	warned bool // that the endpoint has no safe block
}

// finalNumber returns the newest block that has the depth below head. Decisions
// about money use its time and state, and nothing newer.
func (r *reader) finalNumber(ctx context.Context, head *block, depth uint64) (uint64, error) {
	if depth == network.Safe {
		return r.safeNumber(ctx, head)
	}
	return blockAtDepth(head, depth), nil
}

func blockAtDepth(head *block, depth uint64) uint64 {
	if uint64(head.Number) < depth-1 {
		return 0
	}
	return uint64(head.Number) - depth + 1
}

// safeNumber returns the safe block, or the block at SafeDepth where the endpoint
// does not know it. It does not use the cache when head is nil.
func (r *reader) safeNumber(ctx context.Context, head *block) (uint64, error) {
	safe := &r.s.safe
	if n, ok := safe.recent(min(8*r.s.Network.BlockTime, 16*time.Second)); ok && head != nil {
		return n, nil
	}
	b, err := r.c.block(ctx, "safe")
	if err == nil {
		safe.set(uint64(b.Number))
		return uint64(b.Number), nil
	}
	if _, refused := errors.AsType[*RemoteError](err); !refused && !errors.Is(err, errBlockNotFound) {
		return 0, err
	}
	if safe.first() {
		r.s.Log.Warn("the RPC endpoint does not know the safe block: a depth is used instead", "depth", r.s.SafeDepth, "cause", err.Error())
	}
	if head == nil {
		if head, err = r.c.block(ctx, "latest"); err != nil {
			return 0, err
		}
	}
	return blockAtDepth(head, r.s.SafeDepth), nil
}

func (b *safeBlock) recent(keep time.Duration) (n uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.number, !b.at.IsZero() && time.Since(b.at) < keep
}

func (b *safeBlock) set(n uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.number, b.at = n, time.Now()
}

// first reports whether this is the first call. The warning is logged once.
func (b *safeBlock) first() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.warned
	b.warned = true
	return first
}

// lastFinal returns the newest block that is final for every amount.
func (r *reader) lastFinal(ctx context.Context) (n uint64, err error) {
	if depth := r.s.Network.Finality.Depth(network.AnyAmount); depth != network.Safe {
		head, err := r.c.block(ctx, "latest")
		if err != nil {
			return 0, fmt.Errorf("find the final block: %w", err)
		}
		return blockAtDepth(head, depth), nil
	}
	if n, err = r.safeNumber(ctx, nil); err != nil {
		return 0, fmt.Errorf("find the final block: %w", err)
	}
	return n, nil
}

// A view is the state of the chain that one round works on.
type view struct {
	head     *block
	final    uint64 // the newest block that is deep enough
	time     int64  // of the final block; 0 until it is read
	sent     map[string][]settle.Transaction
	receipts map[string]*receipt    // canonical and final ones, by hash; nil where there is no such receipt
	counts   map[deed.Wallet]uint64 // transactions at the final block
	failures map[string]progress    // of final transactions, by hash: failed or starved
}

// depth returns how deep the final block is, counted from 1.
func (v *view) depth() time.Duration {
	return 1 + time.Duration(uint64(v.head.Number)-min(v.final, uint64(v.head.Number)))
}

// receiptOf returns the receipt of one of our transactions if its block is
// canonical and final, and nil otherwise.
func (r *reader) receiptOf(ctx context.Context, v *view, hash string) (*receipt, error) {
	if found, known := v.receipts[hash]; known {
		return found, nil
	}
	found, err := r.readReceipt(ctx, v, hash)
	if err == nil {
		v.receipts[hash] = found
	}
	return found, err
}

func (r *reader) readReceipt(ctx context.Context, v *view, hash string) (*receipt, error) {
	found, err := r.c.receipt(ctx, hashOf(hash))
	if err != nil || found == nil {
		return nil, err
	}
	err = r.canonicalIn(ctx, v, found)
	if errors.Is(err, errNotCanonical) {
		return nil, nil
	}
	return found, err
}

// readReceipts is receiptOf for many, some at a time. One that cannot be read is read again
// when it is needed, which returns the error.
func (r *reader) readReceipts(ctx context.Context, v *view, hashes []string) {
	const atOnce = 4
	found, errs := make([]*receipt, len(hashes)), make([]error, len(hashes))
	var reads errgroup.Group
	reads.SetLimit(atOnce)
	for i, hash := range hashes {
		reads.Go(func() error {
			found[i], errs[i] = r.readReceipt(ctx, v, hash)
			return nil
		})
	}
	_ = reads.Wait() // errs has the errors
	for i, hash := range hashes {
		if errs[i] == nil {
			v.receipts[hash] = found[i]
		}
	}
}

// errNotCanonical says that a block is not final, or was replaced by a
// reorganisation.
var errNotCanonical = errors.New("the block is not final, or the chain was reorganised")

// canonicalIn is canonical for the block of a receipt. That of the head is known.
func (r *reader) canonicalIn(ctx context.Context, v *view, found *receipt) error {
	if found.Block == v.head.Number && found.BlockHash == v.head.Hash && v.final == uint64(v.head.Number) {
		return nil
	}
	return r.canonical(ctx, v.final, uint64(found.Block), found.BlockHash.Hex())
}

// canonical fails with errNotCanonical unless the block is on the chain and not
// above final.
func (r *reader) canonical(ctx context.Context, final, n uint64, hash string) error {
	if n > final {
		return errNotCanonical
	}
	b, err := r.c.block(ctx, number(n))
	if err != nil {
		return err
	}
	if b.Hash.Hex() != hash {
		return errNotCanonical
	}
	return nil
}

// hasPassed reports whether the time has passed in the final block. It reads the
// header, because a call may run with a later time.
func (r *reader) hasPassed(ctx context.Context, v *view, unix int64) (bool, error) {
	if int64(v.head.Time) < unix {
		return false, nil
	}
	if v.time == 0 {
		b, err := r.c.block(ctx, number(v.final))
		if err != nil {
			return false, err
		}
		v.time = int64(b.Time)
	}
	return v.time >= unix, nil
}

// countOf returns the transaction count of a wallet at the final block.
func (r *reader) countOf(ctx context.Context, v *view, w deed.Wallet) (uint64, error) {
	if n, known := v.counts[w]; known {
		return n, nil
	}
	n, err := r.c.count(ctx, addressOf(w), number(v.final))
	if err == nil {
		v.counts[w] = n
	}
	return n, err
}
