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
	maxSpan    = 2_000 // blocks that one question for logs spans at most
	growAfter  = 8     // answers of one size before a larger one is tried again
	maxPayers  = 100   // that one question names
	maxQueries = 64    // for logs in one call of ours
)

// logSpan is how many blocks the endpoint answers for at once. What it refuses is
// halved, and the size that works is remembered.
type logSpan struct {
	mu   sync.Mutex // guards the fields below
	size uint64     // 0 for maxSpan
	good int        // answers of this size
}

func (p *logSpan) blocks() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size == 0 {
		p.size = maxSpan
	}
	return p.size
}

func (p *logSpan) refused(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size, p.good = max(n/2, 1), 0
}

// reset forgets what an endpoint refused that was out of order.
func (p *logSpan) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size, p.good = maxSpan, 0
}

func (p *logSpan) answered(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n < p.size || p.size == maxSpan {
		return
	}
	if p.good++; p.good >= growAfter {
		p.size, p.good = min(2*p.size, maxSpan), 0
	}
}

// A tooLargeError is a question that is refused although it spans one block.
type tooLargeError struct{ cause error }

func (e *tooLargeError) Error() string { return "one block is too large to read: " + e.cause.Error() }
func (e *tooLargeError) Unwrap() error { return e.cause }

// divisible says whether a smaller question might be answered: the endpoint has
// said no, said too much, or taken too long. One that is not there or has no time
// for us would not answer that either.
func smallerMaySucceed(ctx context.Context, err error) bool {
	if ctx.Err() != nil || isBusy(err) || errors.Is(err, errWrongChain) {
		return false
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return false
	}
	return true
}

// query asks for the token's logs between two blocks, both included.
func (r *reader) query(ctx context.Context, from, to uint64, topics ...any) (logs []logEntry, err error) {
	err = r.c.call(ctx, &logs, "eth_getLogs", map[string]any{
		"address": r.s.token, "fromBlock": number(from), "toBlock": number(to), "topics": topics,
	})
	return logs, err
}

// divided asks for n blocks, and for fewer and fewer while that is refused. It
// returns how many were answered for.
func (r *reader) inSmallerRanges(ctx context.Context, n uint64, ask func(n uint64) error) (uint64, error) {
	n = min(n, r.s.span.blocks())
	for {
		err := ask(n)
		switch {
		case err == nil:
			r.s.span.answered(n)
			return n, nil
		case !smallerMaySucceed(ctx, err):
			return 0, err
		case n == 1:
			return 0, r.tooLarge(ctx, err)
		}
		r.s.span.refused(n)
		n /= 2
	}
}

// tooLarge decides whether a question about one block was refused for its size:
// only when the endpoint answers the same question about nobody. One that answers
// no such question is out of order, and no block is put aside for that.
func (r *reader) tooLarge(ctx context.Context, cause error) error {
	nobody := common.Hash{31: 1}
	if _, err := r.query(ctx, 0, 0, transferTopic, nobody, nobody); err != nil {
		r.s.span.reset()
		return cause
	}
	return &tooLargeError{cause}
}

// rangeLogs reads the logs from a block on, and says how many blocks it has read.
func (r *reader) rangeLogs(ctx context.Context, from, to uint64, topics ...any) (logs []logEntry, blocks uint64, err error) {
	blocks, err = r.inSmallerRanges(ctx, to-from+1, func(n uint64) (err error) {
		logs, err = r.query(ctx, from, from+n-1, topics...)
		return err
	})
	return logs, blocks, err
}

// payerLogs reads the logs of an event in a range by payer, first by fewer and
// fewer blocks, then by fewer and fewer payers. What one payer has in one block
// and is still too large is put aside.
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

// event says whether the log is one of the token's, with two indexed fields.
func (s *Settler) event(l logEntry, topic common.Hash) bool {
	return l.Address == s.token && len(l.Topics) == 3 && l.Topics[0] == topic
}

// amountOf reads what a transfer moved. More than we can count is no payment.
func amountOf(l logEntry) (deed.USDC, bool) {
	n := new(big.Int).SetBytes(l.Data)
	return deed.USDC(n.Int64()), len(l.Data) == 32 && n.IsInt64()
}

// A logPlace is where a log stands.
type logPosition struct {
	block common.Hash
	tx    common.Hash
	index quantity
}

func (l logEntry) position() logPosition { return logPosition{l.BlockHash, l.TxHash, l.Index} }

// next is the place right behind.
func (l logEntry) next() logPosition { return logPosition{l.BlockHash, l.TxHash, l.Index + 1} }
