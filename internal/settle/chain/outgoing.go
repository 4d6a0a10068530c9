package chain

import (
	"context"
	"errors"
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

// Since implements fulfil.Chain: it reports whether the transaction succeeded in that
// block or a later one. It does not look at the logs in the receipt, which may be a
// third party's; final ones are in Incoming or Outgoing. A receipt that is too large to
// read has logs, and only a transaction that succeeded has any.
func (s *Settler) Since(ctx context.Context, txHash string, block uint64) (bool, error) {
	hash := hashOf(txHash)
	tx, err := s.Client.transaction(ctx, hash)
	if err != nil || tx == nil || tx.Block == nil || uint64(*tx.Block) < block {
		return false, err
	}
	r, err := s.Client.receipt(ctx, hash)
	switch {
	case errors.Is(err, errLargeResponse):
		return true, nil
	case err != nil:
		return false, err
	case r == nil:
		return false, fmt.Errorf("the endpoint has transaction %s in block %d, but no receipt", txHash, uint64(*tx.Block))
	}
	return r.Status == 1, nil
}
