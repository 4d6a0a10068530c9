package fulfil

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// WatchStore stores how far the chain was read, and the transfers found there.
type WatchStore interface {
	// Watched returns the block to read from.
	Watched(ctx context.Context) (next uint64, err error)

	// SetWatched stores that the chain was read up to next, except for the unread
	// blocks.
	SetWatched(ctx context.Context, next uint64, unread []settle.UnreadBlock) error

	// Received returns the IDs of those payments whose money is known to have arrived:
	// Adopt would do nothing.
	Received(ctx context.Context, ids []string) (map[string]bool, error)

	// Adopt assigns the transfer to its payment, or makes it due for refund, or
	// stores it as unsolicited if there is no payment. It is idempotent.
	Adopt(ctx context.Context, t settle.Transfer, u order.Unsolicited) error

	// PutAside stores a transfer that could not be adopted, to be retried at next.
	PutAside(ctx context.Context, t settle.Transfer, reason string, next time.Time) error

	// DueAside returns transfers that were put aside and are due for a retry.
	DueAside(ctx context.Context, limit int) ([]settle.Transfer, error)
}

// A Tracer identifies the sender of transactions. A Watcher may implement it.
type Tracer interface {
	// SentByUs reports whether one of our wallets sent the transaction.
	SentByUs(ctx context.Context, txHash string) (bool, error)
}

const (
	retryAside = 10 * time.Minute
	maxAside   = 16 // retried per call
)

// ReadChain looks for transfers that we did not submit: a refused payment that its
// payer submitted, or a nonce that was signed twice. What cannot be adopted is put
// aside, so that one transfer never blocks the next ones. It returns what it put
// aside as an error, and whether there is more to read.
func (s *Service) ReadChain(ctx context.Context) (more bool, err error) {
	from, err := s.Watch.Watched(ctx)
	if err != nil {
		return false, fmt.Errorf("read the next block number: %w", err)
	}
	from = max(from, s.Terms.First)
	found, err := s.incoming(ctx, from)
	if err != nil {
		return false, fmt.Errorf("read the chain from block %d: %w", from, err)
	}
	transfers, err := s.unknown(ctx, found.Transfers)
	if err != nil {
		return false, err
	}
	var aside []error
	senders := senders{}
	for _, t := range transfers {
		if err := s.adopt(ctx, t, senders); err != nil {
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
			return false, fmt.Errorf("store the next block %d: %w", found.Next, err)
		}
	}
	return found.Next > from && found.Next <= found.Final, errors.Join(aside...)
}

// incoming reads transfers to us. While the final block is below from, as after the first
// start, a watcher reads earlier blocks again: those before the first one do not concern us.
func (s *Service) incoming(ctx context.Context, from uint64) (settle.Arrivals, error) {
	found, err := s.Watcher.Incoming(ctx, from)
	found.Transfers = slices.DeleteFunc(found.Transfers, func(t settle.Transfer) bool { return t.Block < s.Terms.First })
	found.Unread = slices.DeleteFunc(found.Unread, func(b settle.UnreadBlock) bool { return b.Number < s.Terms.First })
	return found, err
}

// unknown returns the transfers of which it is not known yet that they arrived. Most are
// payments that we have submitted ourselves.
func (s *Service) unknown(ctx context.Context, all []settle.Transfer) ([]settle.Transfer, error) {
	if len(all) == 0 {
		return nil, nil
	}
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = s.paymentOf(t)
	}
	received, err := s.Watch.Received(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up the payments of %d transfers: %w", len(all), err)
	}
	var unknown []settle.Transfer
	for i, t := range all {
		if !received[ids[i]] {
			unknown = append(unknown, t)
		}
	}
	return unknown, nil
}

// paymentOf returns the ID of the payment that a transfer belongs to, if there is one.
func (s *Service) paymentOf(t settle.Transfer) string {
	return settle.Authorization{Payer: t.Payer, Nonce: t.Nonce}.PaymentID(s.Terms.ChainID, s.Terms.Asset)
}

// RetryAside retries transfers that were put aside.
func (s *Service) RetryAside(ctx context.Context) error {
	due, err := s.Watch.DueAside(ctx, maxAside)
	if err != nil {
		return fmt.Errorf("read transfers that were put aside: %w", err)
	}
	var errs []error
	senders := senders{}
	for _, t := range due {
		if err := s.adopt(ctx, t, senders); err != nil {
			errs = append(errs, err, s.Watch.PutAside(ctx, t, order.WaitingFor(err), s.Now().Add(retryAside)))
		}
	}
	return errors.Join(errs...)
}

// senders says which transactions we have sent, by hash. A third party can put hundreds of
// transfers into one, whose sender is looked up once.
type senders map[string]bool

func (known senders) sentByUs(ctx context.Context, tracer Tracer, txHash string) (ours bool, err error) {
	if ours, found := known[txHash]; found {
		return ours, nil
	}
	if ours, err = tracer.SentByUs(ctx, txHash); err == nil {
		known[txHash] = ours
	}
	return ours, err
}

// adopt stores one transfer. A transfer of zero is ignored.
func (s *Service) adopt(ctx context.Context, t settle.Transfer, senders senders) error {
	if t.Amount <= 0 {
		return nil
	}
	u := order.Unsolicited{State: order.PaymentUnclaimed, Next: s.Now().Add(s.Terms.ClaimWindow)}
	_, err := s.Store.Payment(ctx, s.paymentOf(t))
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return fmt.Errorf("look up the payment of %s: %w", t.TxHash, err)
	}
	if err != nil {
		if tracer, ok := s.Watcher.(Tracer); ok {
			if u.Lost, err = senders.sentByUs(ctx, tracer, t.TxHash); err != nil {
				return fmt.Errorf("look up the sender of %s: %w", t.TxHash, err)
			}
		}
		if t.Amount < s.Terms.Dust && !u.Lost {
			u.State = order.PaymentDust
		}
		u.Lost = u.Lost || s.Restoring && u.State != order.PaymentDust
	}
	return s.Watch.Adopt(ctx, t, u)
}
