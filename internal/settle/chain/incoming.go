package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// errMoved tells that the chain changed while we read it.
var errMoved = errors.New("the chain was reorganised meanwhile")

// Incoming implements deed.Settler. One call reads 2,000 blocks at most: the
// caller goes on from next until it no longer grows.
func (s *Settler) Incoming(ctx context.Context, from uint64) (transfers []deed.Transfer, next uint64, err error) {
	final, err := s.final(ctx, deepest)
	if err != nil {
		return nil, from, fmt.Errorf("look for the final block: %w", err)
	}
	if from > uint64(final.Number) {
		return nil, from, nil
	}
	to := min(uint64(final.Number), from+maxRange-1)
	payTo := common.BytesToHash(s.PayTo[:])
	logs, err := s.logs(ctx, from, to, transferTopic, nil, payTo)
	if err != nil {
		return nil, from, fmt.Errorf("read what came in from block %d: %w", from, err)
	}
	seen := map[common.Hash]bool{}
	times := map[common.Hash]time.Time{} // by block
	for _, l := range logs {
		if seen[l.TxHash] {
			continue
		}
		seen[l.TxHash] = true
		some, err := s.incoming(ctx, l.TxHash, times)
		if err != nil {
			return nil, from, fmt.Errorf("read transaction %s: %w", l.TxHash, err)
		}
		transfers = append(transfers, some...)
	}
	return transfers, to + 1, nil
}

// incoming returns the transfers to us by authorization in one transaction.
func (s *Settler) incoming(ctx context.Context, hash common.Hash, times map[common.Hash]time.Time) ([]deed.Transfer, error) {
	r, err := s.Client.receipt(ctx, hash)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, errMoved
	}
	if _, known := times[r.BlockHash]; !known {
		b, err := s.Client.block(ctx, number(uint64(r.Block)))
		if err != nil {
			return nil, err
		}
		if b.Hash != r.BlockHash {
			return nil, errMoved
		}
		times[r.BlockHash] = time.Unix(int64(b.Time), 0)
	}
	transfers := s.transfersIn(r)
	for i := range transfers {
		transfers[i].At = times[r.BlockHash]
	}
	return transfers, nil
}
