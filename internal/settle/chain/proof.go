package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

var errUseNotFound = errors.New("the nonce is used, and the chain does not say by what")

// A spent nonce is one that the chain has seen used, and what for.
type spent struct {
	txHash    string
	cancelled bool
	to        common.Address // of the transfer, unless it was cancelled
	amount    deed.USDC
}

// paid says whether it was spent on a transfer of the amount to one of the
// addresses.
func (u *spent) paid(amount deed.USDC, to []common.Address) bool {
	return !u.cancelled && u.amount == amount && slices.Contains(to, u.to)
}

// spentOn tells what a used nonce was spent on, in a block up to final. It asks
// for the two logs by topics and never for the whole transaction, which may be a
// stranger's, of any size. likely are the addresses the money probably went to.
func (r *reader) spentOn(ctx context.Context, owner common.Address, nonce common.Hash, low, final uint64, likely []common.Address) (*spent, error) {
	use, err := r.findUse(ctx, owner, nonce, low, final)
	if err != nil {
		return nil, err
	}
	if err := r.canonical(ctx, final, uint64(use.Block), use.BlockHash.Hex()); err != nil {
		return nil, err
	}
	if use.Topics[0] == canceledTopic {
		return &spent{txHash: use.TxHash.Hex(), cancelled: true}, nil
	}
	// First by payee, which strangers cannot make large; then without, so that a
	// transfer to somebody else is seen and not only missed.
	for _, to := range []any{topics(likely), nil} {
		logs, err := r.query(ctx, uint64(use.Block), uint64(use.Block), transferTopic, topicOf(owner), to)
		if err != nil {
			return nil, fmt.Errorf("read the transfer in %s: %w", use.TxHash, err)
		}
		for _, l := range logs {
			amount, ok := amountOf(l)
			if l.position() == use.next() && r.s.event(l, transferTopic) {
				if !ok {
					amount = -1 // more than we can count
				}
				return &spent{txHash: l.TxHash.Hex(), to: common.BytesToAddress(l.Topics[2][:]), amount: amount}, nil
			}
		}
	}
	return nil, errUseNotFound // the endpoint contradicts itself: ask again
}

// findUse finds the event that used a nonce up. There is one at most. It looks
// at the newest blocks first, then asks the state of older and older blocks when
// the nonce was used, and where the endpoint has no old state it reads on,
// downwards, a part at a time.
func (r *reader) findUse(ctx context.Context, owner common.Address, nonce common.Hash, low, final uint64) (*logEntry, error) {
	key := scanKey{owner, nonce}
	top := r.s.scans.resume(key, final)
	fresh := top == final
	topics := []any{[]common.Hash{usedTopic, canceledTopic}, topicOf(owner), nonce}
	for i := range maxQueries {
		var found []logEntry
		n, err := r.inSmallerRanges(ctx, top-low+1, func(n uint64) (err error) {
			found, err = r.query(ctx, top-n+1, top, topics...)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && len(found[0].Topics) == 3 {
			r.s.scans.forget(key)
			return &found[0], nil
		}
		if top-n+1 <= low {
			r.s.scans.forget(key) // it was missed: begin anew
			return nil, errUseNotFound
		}
		top -= n
		if i == 1 && fresh {
			if use := r.useByState(ctx, scanKey{owner, nonce}, low, top, topics); use != nil {
				return use, nil
			}
		}
	}
	r.s.scans.remember(key, top)
	return nil, errUseNotFound
}

// useByState finds the event by the state of old blocks, or returns nil. Blocks
// whose state the endpoint no longer has count as older than the event.
func (r *reader) useByState(ctx context.Context, key scanKey, low, top uint64, topics []any) *logEntry {
	used := func(n uint64) bool {
		q := callMsg{to: r.s.token, data: pack(tokenABI, "authorizationState", key.owner, key.nonce), gas: stateGas}
		raw, err := r.c.ethCall(ctx, q, number(n))
		return err == nil && len(raw) == 32 && raw[31] != 0
	}
	if !used(top) {
		return nil
	}
	for low < top && ctx.Err() == nil {
		if middle := low + (top-low)/2; used(middle) {
			top = middle
		} else {
			low = middle + 1
		}
	}
	found, err := r.query(ctx, low, low, topics...)
	if err != nil || len(found) == 0 || len(found[0].Topics) != 3 {
		return nil
	}
	return &found[0]
}

type scanKey struct {
	owner common.Address
	nonce common.Hash
}

// scanMemory remembers how far down long searches came.
type scanMemory struct {
	mu  sync.Mutex
	top map[scanKey]uint64 // guarded by mu
}

const maxScans = 1024

func (m *scanMemory) resume(key scanKey, final uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if top, ok := m.top[key]; ok && top < final {
		return top
	}
	return final
}

func (m *scanMemory) remember(key scanKey, top uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.top == nil || len(m.top) >= maxScans {
		m.top = map[scanKey]uint64{}
	}
	m.top[key] = top
}

func (m *scanMemory) forget(key scanKey) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.top, key)
}

// ownProof returns the hash of a transaction of ours that made the transfer and
// is final, or "".
func (r *reader) ownProof(ctx context.Context, v *view, purpose string, made func(*receipt) bool) (string, error) {
	for _, t := range slices.Backward(v.sent[purpose]) {
		if t.Hash == "" {
			continue
		}
		found, err := r.receiptOf(ctx, v, t.Hash)
		if err != nil {
			return "", err
		}
		if found != nil && found.Status == 1 && made(found) {
			return t.Hash, nil
		}
	}
	return "", nil
}

// spends says whether a transaction of ours used the nonce for this transfer.
func (s *Settler) spends(r *receipt, from common.Address, nonce common.Hash, amount deed.USDC, to []common.Address) bool {
	for i := range len(r.Logs) - 1 {
		used, moved := r.Logs[i], r.Logs[i+1]
		if !s.event(used, usedTopic) || !s.event(moved, transferTopic) || used.Topics[1] != topicOf(from) || used.Topics[2] != nonce {
			continue
		}
		got, ok := amountOf(moved)
		return ok && got == amount && moved.Topics[1] == topicOf(from) && slices.Contains(topics(to), moved.Topics[2])
	}
	return false
}
