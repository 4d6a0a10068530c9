package fulfil

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Ledger reads the payments and refunds in the database.
type Ledger interface {
	// Moved returns every payment settled since the time, by ID.
	Moved(ctx context.Context, since time.Time) (map[string]order.Movement, error)

	// Movement returns one settled payment, and false if there is none.
	Movement(ctx context.Context, id string) (order.Movement, bool, error)

	// Refunds returns every refund that changed since the time; one in progress has
	// no transaction yet.
	Refunds(ctx context.Context, since time.Time) ([]order.Movement, error)

	// RefundsIn returns the refunds paid by a transaction.
	RefundsIn(ctx context.Context, txHash string) ([]order.Movement, error)
}

// Chain is what an audit reads from the chain in addition to settle.Watcher.
type Chain interface {
	// Outgoing returns the final transfers out of our refund wallets starting at a
	// block, the blocks that could not be read, and the block to continue from.
	Outgoing(ctx context.Context, from uint64) (payouts []settle.Payout, unread []settle.UnreadBlock, next uint64, err error)

	// Since reports whether the transaction succeeded in the block or a later one.
	Since(ctx context.Context, txHash string, block uint64) (bool, error)
}

// A Checkpoint says how far the ledger and the chain were compared before. The zero
// Checkpoint compares everything.
type Checkpoint struct {
	Block uint64    // to start at
	At    time.Time // when the ledger was read
}

// A Comparison is the result of comparing the ledger with the chain.
type Comparison struct {
	From      uint64    // first block
	Transfers int       // into the treasuries by authorization, on the chain
	Sum       deed.USDC // of them
	Unbooked  []string  // transfers that are missing in the ledger, or differ there
	Unproved  []string  // payments in the ledger that are missing on the chain
	Unread    []string  // blocks that could not be read

	Payouts  int       // out of the refund wallets, on the chain
	Returned deed.USDC // by them
	Unowed   []string  // payouts without a matching refund in the ledger
	Unpaid   []string  // refunds in the ledger that are missing on the chain

	Next Checkpoint // of the next comparison, when this one is complete and sound
}

// Sound reports whether the ledger and the chain agree, as far as the chain could be
// read.
func (c Comparison) Sound() bool { return len(c.Differences()) == 0 }

// Complete reports whether every block was read. The next comparison must start no later
// than this one unless it is both complete and sound.
func (c Comparison) Complete() bool { return len(c.Unread) == 0 }

// Differences returns everything on which the two sides differ.
func (c Comparison) Differences() []string {
	return slices.Concat(c.Unbooked, c.Unproved, c.Unowed, c.Unpaid)
}

// leaveOut records blocks that could not be read.
func (c *Comparison) leaveOut(unread []settle.UnreadBlock) {
	for _, b := range unread {
		c.Unread = append(c.Unread, fmt.Sprintf("block %d: %s", b.Number, b.Reason))
	}
}

// overlap allows for transfers that are recorded some time after they are final.
const overlap = time.Hour

// Compare reads the chain from the checkpoint on, and then the ledger. Ledger entries
// whose transaction is not final yet are left to the next audit; a transfer that is
// recorded during the comparison may appear on one side only.
func (s *Service) Compare(ctx context.Context, ledger Ledger, on Chain, from Checkpoint) (Comparison, error) {
	c := Comparison{From: max(from.Block, s.Terms.First)}
	c.Next.At = s.Now()
	since := time.Time{}
	if !from.At.IsZero() {
		since = from.At.Add(-overlap)
	}
	if err := s.compareIncoming(ctx, ledger, on, since, &c); err != nil {
		return c, err
	}
	return c, s.compareOutgoing(ctx, ledger, on, since, &c)
}

func (s *Service) compareIncoming(ctx context.Context, ledger Ledger, on Chain, since time.Time, c *Comparison) error {
	var transfers []settle.Transfer
	next, err := readAll(c.From, func(from uint64) (next uint64, more bool, err error) {
		found, err := s.incoming(ctx, from)
		transfers = append(transfers, found.Transfers...)
		c.leaveOut(found.Unread)
		return found.Next, found.Next <= found.Final, err
	})
	if err != nil {
		return err
	}
	c.Next.Block = next
	moved, err := ledger.Moved(ctx, since)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	for _, t := range transfers {
		c.Transfers++
		c.Sum += t.Amount
		id := s.id(&settle.Authorization{Payer: t.Payer, Nonce: t.Nonce})
		m, booked := moved[id]
		if !booked {
			if m, booked, err = ledger.Movement(ctx, id); err != nil {
				return fmt.Errorf("read the ledger: %w", err)
			}
		}
		if !booked || m.Amount != t.Amount || m.TxHash != t.TxHash || m.Payer != t.Payer { // a refund goes to the payer
			c.Unbooked = append(c.Unbooked, fmt.Sprintf("%s of %s in %s", t.Amount, t.Payer, t.TxHash))
		}
		delete(moved, id)
	}
	for id, m := range moved {
		elsewhere, err := s.outside(ctx, on, m.TxHash, c.From, next)
		if err != nil {
			return err
		}
		if !elsewhere {
			c.Unproved = append(c.Unproved, fmt.Sprintf("%s: %s of %s in %s", id, m.Amount, m.Payer, m.TxHash))
		}
	}
	return nil
}

// outside reports whether the transaction succeeded in a block before or after the
// compared ones.
func (s *Service) outside(ctx context.Context, on Chain, txHash string, from, next uint64) (bool, error) {
	young, err := on.Since(ctx, txHash, next)
	if err != nil || young {
		return young, wrapLookup(txHash, err)
	}
	inside, err := on.Since(ctx, txHash, from)
	if err != nil || inside || from == 0 {
		return false, wrapLookup(txHash, err)
	}
	old, err := on.Since(ctx, txHash, 0)
	return old, wrapLookup(txHash, err)
}

func wrapLookup(txHash string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("look up transaction %s: %w", txHash, err)
}

func (s *Service) compareOutgoing(ctx context.Context, ledger Ledger, on Chain, since time.Time, c *Comparison) error {
	var payouts []settle.Payout
	next, err := readAll(c.From, func(from uint64) (next uint64, more bool, err error) {
		found, unread, next, err := on.Outgoing(ctx, from)
		payouts = append(payouts, found...)
		c.leaveOut(unread)
		return next, next < c.Next.Block, err // as far as incoming transfers were read
	})
	if err != nil {
		return err
	}
	c.Next.Block = min(c.Next.Block, next)
	refunds, err := ledger.Refunds(ctx, since)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	for _, p := range payouts {
		c.Payouts++
		c.Returned += p.Amount
		if i := refundOf(p, refunds); i >= 0 {
			refunds = slices.Delete(refunds, i, i+1) // a refund matches one payout
			continue
		}
		older, err := ledger.RefundsIn(ctx, p.TxHash)
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		if since.IsZero() || refundOf(p, older) < 0 {
			c.Unowed = append(c.Unowed, fmt.Sprintf("%s to %s in %s", p.Amount, p.To, p.TxHash))
		}
	}
	for _, m := range refunds {
		if m.TxHash == "" {
			continue // in progress
		}
		elsewhere, err := s.outside(ctx, on, m.TxHash, c.From, next)
		if err != nil {
			return err
		}
		if !elsewhere {
			c.Unpaid = append(c.Unpaid, fmt.Sprintf("%s: %s to %s in %s", m.PaymentID, m.Amount, m.Payer, m.TxHash))
		}
	}
	return nil
}

// refundOf returns the index of the refund that the payout belongs to: by its
// transaction, or else a matching one in progress, or -1.
func refundOf(p settle.Payout, refunds []order.Movement) int {
	find := func(txHash string) int {
		return slices.IndexFunc(refunds, func(m order.Movement) bool {
			return m.TxHash == txHash && m.Payer == p.To && m.Amount == p.Amount
		})
	}
	if i := find(p.TxHash); i >= 0 {
		return i
	}
	return find("")
}

// readAll reads the chain from a block on while there is more, but not blocks that come
// meanwhile: on a busy chain that would never end.
func readAll(from uint64, read func(from uint64) (next uint64, more bool, err error)) (next uint64, err error) {
	for next = from; ; {
		after, more, err := read(next)
		if err != nil {
			return next, fmt.Errorf("read the chain from block %d: %w", next, err)
		}
		before := next
		if next = max(before, after); !more || next == before {
			return next, nil
		}
	}
}
