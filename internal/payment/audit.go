package payment

import (
	"context"
	"fmt"
	"slices"

	"deed.example/deed"
)

// Ledger lists what our own books say was paid to us and by us.
type Ledger interface {
	// Moved returns every payment whose money moved, by its ID.
	Moved(ctx context.Context) (map[string]deed.Movement, error)

	// Refunds returns every refund that was made or is being made; one that is
	// being made has no transaction yet.
	Refunds(ctx context.Context) ([]deed.Movement, error)
}

// Chain is what an audit asks the chain for beside deed.Settler.
type Chain interface {
	// Outgoing returns the transfers out of our refund wallet, from the block on,
	// that are final, and the block to ask from next.
	Outgoing(ctx context.Context, from uint64) (payouts []deed.Payout, next uint64, err error)

	// Since says whether the transaction succeeded in the block or in a later one.
	Since(ctx context.Context, txHash string, block uint64) (bool, error)
}

// A Comparison holds the books against the chain.
type Comparison struct {
	Transfers int       // into the treasury by authorization, on the chain
	Sum       deed.USDC // of them
	Unbooked  []string  // transfers that the books do not have, or have otherwise
	Unproved  []string  // payments in the books that the chain does not have

	Payouts  int       // out of the refund wallet, on the chain
	Returned deed.USDC // by them
	Unowed   []string  // payouts that are no refund in the books, or have another payee or amount there
	Unpaid   []string  // refunds in the books that the chain does not have
}

// Sound says whether the books and the chain agree.
func (c Comparison) Sound() bool { return len(c.Differences()) == 0 }

// Differences are all that the two sides do not agree on.
func (c Comparison) Differences() []string {
	return slices.Concat(c.Unbooked, c.Unproved, c.Unowed, c.Unpaid)
}

// Compare reads the chain from our first block on, and then the books. What the books
// believe already, and the chain does not call final yet, is left to the next
// audit; what is final and is being booked meanwhile may stand on one side only.
func (s *Service) Compare(ctx context.Context, books Ledger, on Chain) (Comparison, error) {
	var c Comparison
	if err := s.compareIncoming(ctx, books, on, &c); err != nil {
		return c, err
	}
	return c, s.compareOutgoing(ctx, books, on, &c)
}

func (s *Service) compareIncoming(ctx context.Context, books Ledger, on Chain, c *Comparison) error {
	transfers, next, err := readAll(ctx, s.Terms.First, s.Settler.Incoming)
	if err != nil {
		return err
	}
	moved, err := books.Moved(ctx)
	if err != nil {
		return fmt.Errorf("read the books: %w", err)
	}
	for _, t := range transfers {
		c.Transfers++
		c.Sum += t.Amount
		id := s.id(&deed.Authorization{Payer: t.Payer, Nonce: t.Nonce})
		if m, ok := moved[id]; !ok || m.Amount != t.Amount || m.TxHash != t.TxHash {
			c.Unbooked = append(c.Unbooked, fmt.Sprintf("%s of %s in %s", t.Amount, t.Payer, t.TxHash))
		}
		delete(moved, id)
	}
	for id, m := range moved {
		young, err := on.Since(ctx, m.TxHash, next)
		if err != nil {
			return fmt.Errorf("look for transaction %s: %w", m.TxHash, err)
		}
		if !young {
			c.Unproved = append(c.Unproved, fmt.Sprintf("%s: %s of %s in %s", id, m.Amount, m.Payer, m.TxHash))
		}
	}
	return nil
}

func (s *Service) compareOutgoing(ctx context.Context, books Ledger, on Chain, c *Comparison) error {
	payouts, next, err := readAll(ctx, s.Terms.First, on.Outgoing)
	if err != nil {
		return err
	}
	refunds, err := books.Refunds(ctx)
	if err != nil {
		return fmt.Errorf("read the books: %w", err)
	}
	for _, p := range payouts {
		c.Payouts++
		c.Returned += p.Amount
		i := refundOf(p, refunds)
		if i < 0 || refunds[i].Payer != p.To || refunds[i].Amount != p.Amount {
			c.Unowed = append(c.Unowed, fmt.Sprintf("%s to %s in %s", p.Amount, p.To, p.TxHash))
		}
		if i >= 0 {
			refunds = slices.Delete(refunds, i, i+1) // it pays once
		}
	}
	for _, m := range refunds {
		if m.TxHash == "" {
			continue // it is on its way
		}
		young, err := on.Since(ctx, m.TxHash, next)
		if err != nil {
			return fmt.Errorf("look for transaction %s: %w", m.TxHash, err)
		}
		if !young {
			c.Unpaid = append(c.Unpaid, fmt.Sprintf("%s: %s to %s in %s", m.PaymentID, m.Amount, m.Payer, m.TxHash))
		}
	}
	return nil
}

// refundOf returns which refund the payout is by its transaction, or else which
// one of those that are being made it could be, or -1.
func refundOf(p deed.Payout, refunds []deed.Movement) int {
	if i := slices.IndexFunc(refunds, func(m deed.Movement) bool { return m.TxHash == p.TxHash }); i >= 0 {
		return i
	}
	return slices.IndexFunc(refunds, func(m deed.Movement) bool {
		return m.TxHash == "" && m.Payer == p.To && m.Amount == p.Amount
	})
}

// readAll reads the chain from a block to the last that is final.
func readAll[T any](ctx context.Context, from uint64, read func(context.Context, uint64) ([]T, uint64, error)) (all []T, next uint64, err error) {
	for next = from; ; {
		some, after, err := read(ctx, next)
		if err != nil {
			return nil, next, fmt.Errorf("read the chain from block %d: %w", next, err)
		}
		all = append(all, some...)
		if after <= next {
			return all, next, nil
		}
		next = after
	}
}
