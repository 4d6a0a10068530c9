package payment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// WatchStore remembers how far the chain was read, and what was found there.
type WatchStore interface {
	// Watched returns the block to read from.
	Watched(ctx context.Context) (next uint64, err error)

	// SetWatched writes down that the chain was read up to next, except for the
	// blocks that could not be.
	SetWatched(ctx context.Context, next uint64, unread []settle.UnreadBlock) error

	// Adopt writes down which payment the transfer settles, or that it is owed
	// back, or, when nobody asked for anything, that it is unsolicited. Doing it
	// twice equals doing it once.
	Adopt(ctx context.Context, t settle.Transfer, u order.Unsolicited) error

	// PutAside writes down that a transfer could not be adopted, to be tried
	// again at next.
	PutAside(ctx context.Context, t settle.Transfer, reason string, next time.Time) error

	// DueAside returns transfers that were put aside and should be tried again.
	DueAside(ctx context.Context, limit int) ([]settle.Transfer, error)
}

// A Tracer says who sent transactions. A Settler may be one.
type Tracer interface {
	// SentByUs says whether a wallet of ours sent the transaction.
	SentByUs(ctx context.Context, txHash string) (bool, error)
}

const (
	retryAside = 10 * time.Minute
	maxAside   = 16 // tried again at once
)

// ReadChain looks for money that arrived without us: a payment that we refused
// and that its payer sent to the chain, or a nonce that was signed twice. What
// cannot be adopted is put aside, so that one transfer never stops those behind
// it. It reports what it put aside, and whether there is more to read.
func (s *Service) ReadChain(ctx context.Context) (more bool, err error) {
	from, err := s.Watch.Watched(ctx)
	if err != nil {
		return false, fmt.Errorf("read how far the chain was read: %w", err)
	}
	from = max(from, s.Terms.First)
	found, err := s.Settler.Incoming(ctx, from)
	if err != nil {
		return false, fmt.Errorf("read the chain from block %d: %w", from, err)
	}
	var aside []error
	for _, t := range found.Transfers {
		if err := s.adopt(ctx, t); err != nil {
			if put := s.Watch.PutAside(ctx, t, order.WaitingFor(err), s.Now().Add(retryAside)); put != nil {
				return false, fmt.Errorf("put transfer %s aside: %w", t.TxHash, errors.Join(put, err))
			}
			aside = append(aside, fmt.Errorf("transfer %s of %s was put aside: %w", t.TxHash, t.Payer, err))
		}
	}
	for _, b := range found.Unread {
		aside = append(aside, fmt.Errorf("block %d was put aside: %s", b.Number, b.Reason))
	}
	if found.Next > from {
		if err := s.Watch.SetWatched(ctx, found.Next, found.Unread); err != nil {
			return false, fmt.Errorf("write down that block %d is next: %w", found.Next, err)
		}
	}
	return found.Next > from, errors.Join(aside...)
}

// RetryAside tries transfers again that were put aside.
func (s *Service) RetryAside(ctx context.Context) error {
	due, err := s.Watch.DueAside(ctx, maxAside)
	if err != nil {
		return fmt.Errorf("read what was put aside: %w", err)
	}
	var errs []error
	for _, t := range due {
		if err := s.adopt(ctx, t); err != nil {
			errs = append(errs, err, s.Watch.PutAside(ctx, t, order.WaitingFor(err), s.Now().Add(retryAside)))
		}
	}
	return errors.Join(errs...)
}

// adopt writes one transfer down. A transfer of nothing is nothing.
func (s *Service) adopt(ctx context.Context, t settle.Transfer) error {
	if t.Amount <= 0 {
		return nil
	}
	u := order.Unsolicited{State: order.PaymentUnclaimed, Next: s.Now().Add(s.Terms.ClaimWindow)}
	_, err := s.Store.Payment(ctx, settle.Authorization{Payer: t.Payer, Nonce: t.Nonce}.PaymentID(s.Terms.ChainID, s.Terms.Asset))
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("look for the payment of %s: %w", t.TxHash, err)
	}
	if err != nil {
		if tracer, ok := s.Settler.(Tracer); ok {
			if u.Lost, err = tracer.SentByUs(ctx, t.TxHash); err != nil {
				return fmt.Errorf("ask who sent %s: %w", t.TxHash, err)
			}
		}
		if t.Amount < s.Terms.Dust && !u.Lost {
			u.State = order.PaymentDust
		}
		u.Lost = u.Lost || s.Restoring && u.State != order.PaymentDust
	}
	return s.Watch.Adopt(ctx, t, u)
}
