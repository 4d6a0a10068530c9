package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// Incoming implements settle.Watcher. One call reads up to 2,000 blocks, and
// fewer when the endpoint limits the range: the caller continues from Next until
// it is beyond Final. When from is further, an endpoint is behind, or has named a block
// before that did not exist: the last blocks are read again.
func (s *Settler) Incoming(ctx context.Context, from uint64) (settle.Arrivals, error) {
	a := settle.Arrivals{Next: from}
	own, err := s.wallets(ctx)
	if err != nil {
		return a, err
	}
	final, err := s.reads.lastFinal(ctx)
	if a.Final = final; err != nil || from == final+1 {
		return a, err
	}
	if from > final {
		from = final + 1 - min(final+1, maxBurst)
		a.Next = from
	}
	to := min(final, from+maxSpan-1)
	for range maxQueries {
		if a.Next > to {
			break
		}
		if err := s.reads.arrivals(ctx, &a, to, topics(own.treasuries)); err != nil {
			if a.Next > from { // return what was read before the error
				return a, nil
			}
			return settle.Arrivals{Next: from}, fmt.Errorf("read incoming transfers from block %d: %w", from, err)
		}
	}
	return a, nil
}

// arrivals reads from a.Next, as many blocks as the endpoint returns at once.
func (r *reader) arrivals(ctx context.Context, a *settle.Arrivals, to uint64, treasuries []common.Hash) error {
	moved, blocks, err := r.rangeLogs(ctx, a.Next, to, transferTopic, nil, treasuries)
	var unread []settle.UnreadBlock
	if large, ok := errors.AsType[*tooLargeError](err); ok {
		blocks = 1
		moved, unread, err = r.oversizedBlock(ctx, a.Next, treasuries, large)
	}
	if err != nil {
		return err
	}
	moved = r.s.nonZero(moved)
	last := a.Next + blocks - 1
	used, aside, err := r.payerLogs(ctx, a.Next, last, sendersOf(moved), usedTopic)
	if err != nil {
		return err
	}
	transfers, err := r.timed(ctx, r.s.paired(used, moved))
	if err != nil {
		return err
	}
	a.Transfers = append(a.Transfers, transfers...)
	a.Unread = append(append(a.Unread, unread...), aside...)
	a.Next = last + 1
	return nil
}

// oversizedBlock reads the transfers to us in a block that has too many for one
// request: those of payers who used an authorization in it, payer by payer.
func (r *reader) oversizedBlock(ctx context.Context, n uint64, treasuries []common.Hash, why *tooLargeError) ([]logEntry, []settle.UnreadBlock, error) {
	used, _, err := r.rangeLogs(ctx, n, n, usedTopic)
	if large, ok := errors.AsType[*tooLargeError](err); ok {
		return nil, []settle.UnreadBlock{{Number: n, Reason: fmt.Sprintf("%v; its authorizations: %v", why.cause, large.cause)}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return r.payerLogs(ctx, n, n, sendersOf(used), transferTopic, treasuries)
}

// nonZero returns the transfers with an amount above zero. Anyone can make
// transfers of zero from any wallet.
func (s *Settler) nonZero(logs []logEntry) (kept []logEntry) {
	for _, l := range logs {
		if amount, ok := amountOf(l); ok && amount > 0 && s.event(l, transferTopic) {
			kept = append(kept, l)
		}
	}
	return kept
}

// sendersOf returns the first indexed field of the logs, each once.
func sendersOf(logs []logEntry) (all []common.Hash) {
	seen := map[common.Hash]bool{}
	for _, l := range logs {
		if len(l.Topics) == 3 && !seen[l.Topics[1]] {
			seen[l.Topics[1]] = true
			all = append(all, l.Topics[1])
		}
	}
	return all
}

// An arrival is a transfer and the log that it was read from.
type arrival struct {
	settle.Transfer
	log logEntry
}

// paired returns the transfers that were made by authorization.
//
// The token emits the use of a nonce and, as the next log, its transfer. So each
// transfer is matched to its nonce even when a third party puts many into one
// transaction.
func (s *Settler) paired(used, moved []logEntry) (all []arrival) {
	at := map[logPosition]logEntry{}
	for _, l := range used {
		if s.event(l, usedTopic) {
			at[l.next()] = l
		}
	}
	for _, l := range moved {
		use, ok := at[l.position()]
		if !ok || use.Topics[1] != l.Topics[1] {
			continue
		}
		amount, _ := amountOf(l) // nonZero has checked it
		all = append(all, arrival{settle.Transfer{
			Payer: walletAt(common.BytesToAddress(l.Topics[1][:])), PayTo: walletAt(common.BytesToAddress(l.Topics[2][:])),
			Nonce: use.Topics[2].Hex(), Amount: amount, TxHash: l.TxHash.Hex(), Block: uint64(l.Block),
		}, l})
	}
	return all
}

// timed checks that the blocks of the transfers are canonical, and adds their
// times.
func (r *reader) timed(ctx context.Context, all []arrival) (transfers []settle.Transfer, err error) {
	times := map[common.Hash]time.Time{} // by block
	for _, t := range all {
		at, known := times[t.log.BlockHash]
		if !known {
			b, err := r.c.block(ctx, number(t.Block))
			if err != nil {
				return nil, err
			}
			if b.Hash != t.log.BlockHash {
				return nil, errNotCanonical
			}
			at = time.Unix(int64(b.Time), 0)
			times[t.log.BlockHash] = at
		}
		t.At = at
		transfers = append(transfers, t.Transfer)
	}
	return transfers, nil
}
