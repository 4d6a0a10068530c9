package chain

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// Outgoing implements fulfil.Chain: the transfers out of every refund wallet
// that we ever used. One call reads up to 2,000 blocks: the caller continues from
// next until it no longer grows. Logs exist only of transactions that succeeded.
// Transfers of zero, which anyone can make from any wallet, are skipped; a block
// that has too many of them is returned as unread.
func (s *Settler) Outgoing(ctx context.Context, from uint64) (payouts []settle.Payout, unread []settle.UnreadBlock, next uint64, err error) {
	own, err := s.wallets(ctx)
	if err != nil {
		return nil, nil, from, err
	}
	final, err := s.reads.lastFinal(ctx)
	if err != nil || from > final {
		return nil, nil, from, err
	}
	to := min(final, from+s.span.blocks()-1)
	logs, unread, err := s.reads.payerLogs(ctx, from, to, topics(own.refunds), transferTopic)
	if err != nil {
		return nil, nil, from, fmt.Errorf("read outgoing transfers from block %d: %w", from, err)
	}
	for _, l := range s.nonZero(logs) {
		amount, _ := amountOf(l) // nonZero has checked it
		payouts = append(payouts, settle.Payout{
			To: walletAt(common.BytesToAddress(l.Topics[2][:])), Amount: amount, TxHash: l.TxHash.Hex(), Block: uint64(l.Block),
		})
	}
	return payouts, unread, to + 1, nil
}

// Since implements fulfil.Chain: it reports whether the transaction is in that
// block or a later one. It does not read logs, which may be a third party's;
// final ones are in Incoming or Outgoing.
func (s *Settler) Since(ctx context.Context, txHash string, block uint64) (bool, error) {
	tx, err := s.Client.transaction(ctx, hashOf(txHash))
	return tx != nil && tx.Block != nil && uint64(*tx.Block) >= block, err
}
