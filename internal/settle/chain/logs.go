package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

const (
	maxSpan    = 2_000 // blocks in one request for logs, at most
	growAfter  = 8     // responses for one span before a larger one is tried again
	maxPayers  = 100   // in one request
	maxQueries = 64    // requests for logs in one method call
)

// logSpan is the number of blocks for one request for logs. It is halved when the
// endpoint refuses a request, and grows again later.
type logSpan struct {
	mu   sync.Mutex // guards the fields below
	size uint64     // 0 for maxSpan
	good int        // responses for this span
}

func (s *logSpan) blocks() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == 0 {
		s.size = maxSpan
	}
	return s.size
}

func (s *logSpan) refused(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.good = max(n/2, 1), 0
}

// reset restores the largest span, after an endpoint that was out of order
// refused every request.
func (s *logSpan) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size, s.good = maxSpan, 0
}

func (s *logSpan) succeeded(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < s.size || s.size == maxSpan {
		return
	}
	if s.good++; s.good >= growAfter {
		s.size, s.good = min(2*s.size, maxSpan), 0
	}
}

// A tooLargeError says that a request was refused although its range is one
// block.
type tooLargeError struct{ cause error }

func (e *tooLargeError) Error() string { return "one block is too large to read: " + e.cause.Error() }
func (e *tooLargeError) Unwrap() error { return e.cause }

// smallerMaySucceed reports whether a smaller request might succeed: the endpoint
// refused this one, returned too much, or timed out. One that is unreachable or
// busy, or contradicts another, would fail again.
func smallerMaySucceed(ctx context.Context, err error) bool {
	if ctx.Err() != nil || isBusy(err) || errors.Is(err, ErrWrongChain) || errors.Is(err, errContradiction) {
		return false
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return false
	}
	return true
}

// query returns the token's logs between two blocks, inclusive.
func (r *reader) query(ctx context.Context, from, to uint64, topics ...any) (logs []logEntry, err error) {
	err = r.c.call(ctx, &logs, "eth_getLogs", map[string]any{
		"address": r.s.token, "fromBlock": number(from), "toBlock": number(to), "topics": topics,
	})
	return logs, err
}

// inSmallerRanges requests n blocks, and halves the range while it is refused, down to the
// block named last. It returns the number of blocks that were read.
func (r *reader) inSmallerRanges(ctx context.Context, n, last uint64, ask func(n uint64) error) (uint64, error) {
	n = min(n, r.s.span.blocks())
	for {
		err := ask(n)
		switch {
		case err == nil:
			r.s.span.succeeded(n)
			return n, nil
		case !smallerMaySucceed(ctx, err):
			return 0, err
		case n == 1:
			return 0, r.tooLarge(ctx, last, err)
		}
		r.s.span.refused(n)
		n /= 2
	}
}

// tooLarge decides whether a request for one block was refused for its size: only
// when the endpoint serves the same request for an address without logs. An
// endpoint that fails that request, too, is out of order or does not have the block
// yet, and the block is read later.
func (r *reader) tooLarge(ctx context.Context, n uint64, cause error) error {
	nobody := common.Hash{31: 1}
	if _, err := r.query(ctx, n, n, transferTopic, nobody, nobody); err != nil {
		r.s.span.reset()
		return cause
	}
	return &tooLargeError{cause}
}

// rangeLogs reads logs beginning at a block, and returns how many blocks it has
// read.
func (r *reader) rangeLogs(ctx context.Context, from, to uint64, topics ...any) (logs []logEntry, blocks uint64, err error) {
	blocks, err = r.inSmallerRanges(ctx, to-from+1, from, func(n uint64) (err error) {
		logs, err = r.query(ctx, from, from+n-1, topics...)
		return err
	})
	return logs, blocks, err
}

// payerLogs reads the logs of an event by payer, halving first the range of
// blocks, then the list of payers. The logs of one payer in one block that are
// still too large are returned as unread.
func (r *reader) payerLogs(ctx context.Context, from, to uint64, payers []common.Hash, event common.Hash, more ...any) (logs []logEntry, unread []settle.UnreadBlock, err error) {
	for len(payers) > 0 {
		n := min(len(payers), maxPayers)
		some, aside, err := r.somePayerLogs(ctx, from, to, payers[:n], event, more...)
		if err != nil {
			return nil, nil, err
		}
		logs, unread, payers = append(logs, some...), append(unread, aside...), payers[n:]
	}
	return logs, unread, nil
}

func (r *reader) somePayerLogs(ctx context.Context, from, to uint64, payers []common.Hash, event common.Hash, more ...any) (logs []logEntry, unread []settle.UnreadBlock, err error) {
	topics := append([]any{event, payers}, more...)
	for from <= to {
		some, n, err := r.rangeLogs(ctx, from, to, topics...)
		if large, ok := errors.AsType[*tooLargeError](err); ok {
			n = 1
			if len(payers) == 1 {
				payer := walletAt(common.BytesToAddress(payers[0][:]))
				unread = append(unread, settle.UnreadBlock{Number: from, Reason: fmt.Sprintf("the logs of %s: %v", payer, large.cause)})
			} else {
				for _, half := range [][]common.Hash{payers[:len(payers)/2], payers[len(payers)/2:]} {
					part, aside, err := r.somePayerLogs(ctx, from, from, half, event, more...)
					if err != nil {
						return nil, nil, err
					}
					some, unread = append(some, part...), append(unread, aside...)
				}
			}
		} else if err != nil {
			return nil, nil, err
		}
		logs, from = append(logs, some...), from+n
	}
	return logs, unread, nil
}

// event reports whether the log is the token's, with two indexed fields.
func (s *Settler) event(l logEntry, topic common.Hash) bool {
	return l.Address == s.token && len(l.Topics) == 3 && l.Topics[0] == topic
}

// amountOf returns the amount of a transfer. It reports false for one that does
// not fit.
func amountOf(l logEntry) (deed.USDC, bool) {
	n := new(big.Int).SetBytes(l.Data)
	return deed.USDC(n.Int64()), len(l.Data) == 32 && n.IsInt64()
}

// A logPosition is the position of a log in a block.
type logPosition struct {
	block common.Hash
	tx    common.Hash
	index quantity
}

func (l logEntry) position() logPosition { return logPosition{l.BlockHash, l.TxHash, l.Index} }

// next returns the position after the log.
func (l logEntry) next() logPosition { return logPosition{l.BlockHash, l.TxHash, l.Index + 1} }
