package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

var errUseNotFound = errors.New("the nonce is used, and the endpoint does not return the event")

// A spent value is what a nonce was used for.
type spent struct {
	txHash    string
	cancelled bool
	to        common.Address // recipient of the transfer, unless it was cancelled
	amount    deed.USDC
}

// paid reports whether the nonce was used for a transfer of the amount to one of
// the addresses.
func (s *spent) paid(amount deed.USDC, to []common.Address) bool {
	return !s.cancelled && s.amount == amount && slices.Contains(to, s.to)
}

// spentOn returns what a used nonce was used for, in a block up to final. It
// requests the two logs by topics and never the whole transaction, which may be a
// third party's and of any size. likely are the probable recipients.
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
	// First by recipient, so that third parties cannot make the response large; then
	// by payer alone, to find a transfer to another recipient.
	for _, to := range []any{topics(likely), nil} {
		logs, err := r.query(ctx, uint64(use.Block), uint64(use.Block), transferTopic, topicOf(owner), to)
		if err != nil {
			return nil, fmt.Errorf("read the transfer in %s: %w", use.TxHash, err)
		}
		for _, l := range logs {
			amount, ok := amountOf(l)
			if l.position() == use.next() && r.s.event(l, transferTopic) {
				if !ok {
					amount = -1 // it does not fit, and equals no payment
				}
				return &spent{txHash: l.TxHash.Hex(), to: common.BytesToAddress(l.Topics[2][:]), amount: amount}, nil
			}
		}
	}
	return nil, errUseNotFound // the endpoint contradicts itself: try again
}

// findUse finds the event that used a nonce. There is at most one. It searches
// the newest blocks first, then does a binary search over the state of older
// blocks. Where the endpoint has no old state, it continues to read logs
// downwards, some blocks in each call.
func (r *reader) findUse(ctx context.Context, owner common.Address, nonce common.Hash, low, final uint64) (*logEntry, error) {
	key := scanKey{owner, nonce}
	top := r.s.scans.resume(key, final)
	fresh := top == final
	topics := []any{[]common.Hash{usedTopic, canceledTopic}, topicOf(owner), nonce}
	for i := range maxQueries {
		var found []logEntry
		n, err := r.inSmallerRanges(ctx, top-low+1, top, func(n uint64) (err error) {
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
			r.s.scans.forget(key) // it was missed: start again
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

// useByState finds the event by a binary search over the state of old blocks, or
// returns nil. Blocks whose state the endpoint no longer has count as older than
// the event.
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

// scanMemory has the positions of long searches, so that they are continued.
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

// ownProof returns the hash of our final transaction that made the transfer, or
// "".
func (r *reader) ownProof(ctx context.Context, v *view, sent []settle.Transaction, made func(*receipt) bool) (string, error) {
	for _, t := range slices.Backward(sent) {
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

// spends reports whether one of our transactions used the nonce for this
// transfer.
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
