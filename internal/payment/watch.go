package payment

import (
	"context"
	"fmt"

	"deed.example/deed"
)

// WatchStore remembers how far the chain was read.
type WatchStore interface {
	// Watched returns the block to read from.
	Watched(ctx context.Context) (next uint64, err error)

	// AdoptTransfers writes down which promises the transfers have kept, that all
	// others are owed back as they came, and that the chain was read up to next,
	// in one transaction.
	AdoptTransfers(ctx context.Context, transfers []deed.Transfer, payTo deed.Wallet, next uint64) error
}

// ReadChain looks for money that arrived without us: a promise that we refused
// and that its payer sent to the chain himself, or a nonce that he signed twice.
// It goes back.
func (s *Service) ReadChain(ctx context.Context) error {
	from, err := s.Watch.Watched(ctx)
	if err != nil {
		return fmt.Errorf("read how far the chain was read: %w", err)
	}
	from = max(from, s.Terms.First)
	transfers, next, err := s.Settler.Incoming(ctx, from)
	if err != nil {
		return fmt.Errorf("read the chain from block %d: %w", from, err)
	}
	if err := s.Watch.AdoptTransfers(ctx, transfers, s.Terms.PayTo, next); err != nil {
		return fmt.Errorf("adopt %d transfers: %w", len(transfers), err)
	}
	return nil
}
