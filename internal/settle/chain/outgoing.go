package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
)

// Outgoing implements payment.Chain. One call reads 2,000 blocks at most: the
// caller goes on from next until it no longer grows. A transfer is in the logs
// only when its transaction succeeded.
func (s *Settler) Outgoing(ctx context.Context, from uint64) (payouts []deed.Payout, next uint64, err error) {
	final, err := s.final(ctx, deepest)
	if err != nil {
		return nil, from, fmt.Errorf("look for the final block: %w", err)
	}
	if from > uint64(final.Number) {
		return nil, from, nil
	}
	to := min(uint64(final.Number), from+maxRange-1)
	purse := s.purse()
	logs, err := s.logs(ctx, from, to, transferTopic, common.BytesToHash(purse[:]))
	if err != nil {
		return nil, from, fmt.Errorf("read what went out from block %d: %w", from, err)
	}
	for _, l := range logs {
		amount, ok := amountOf(l)
		if !ok || !s.event(l, transferTopic) {
			return nil, from, fmt.Errorf("read what went out in %s: it is no transfer that we can count", l.TxHash)
		}
		payouts = append(payouts, deed.Payout{
			To: walletAt(common.BytesToAddress(l.Topics[2][:])), Amount: amount, TxHash: l.TxHash.Hex(), Block: uint64(l.Block),
		})
	}
	return payouts, to + 1, nil
}

// Since implements payment.Chain.
func (s *Settler) Since(ctx context.Context, txHash string, block uint64) (bool, error) {
	r, err := s.Client.receipt(ctx, hashOf(txHash))
	return r != nil && r.Status == 1 && uint64(r.Block) >= block, err
}
