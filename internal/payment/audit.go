package payment

import (
	"context"
	"fmt"

	"deed.example/deed"
)

// Ledger lists what our own books say was paid to us.
type Ledger interface {
	// Moved returns every payment whose money moved, by its ID.
	Moved(ctx context.Context) (map[string]deed.Movement, error)
}

// A Comparison holds the books against the chain.
type Comparison struct {
	Transfers int       // into the treasury by authorization, on the chain
	Sum       deed.USDC // of them
	Unbooked  []string  // transfers that the books do not have, or have otherwise
	Unproved  []string  // payments in the books that the chain does not have
}

// Compare reads the chain from its beginning. A payment that settles meanwhile
// may stand on one side only.
func (s *Service) Compare(ctx context.Context, books Ledger) (Comparison, error) {
	moved, err := books.Moved(ctx)
	if err != nil {
		return Comparison{}, fmt.Errorf("read the books: %w", err)
	}
	var c Comparison
	for from := uint64(0); ; {
		transfers, next, err := s.Settler.Incoming(ctx, from)
		if err != nil {
			return c, fmt.Errorf("read the chain from block %d: %w", from, err)
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
		if next <= from {
			break
		}
		from = next
	}
	for id, m := range moved {
		c.Unproved = append(c.Unproved, fmt.Sprintf("%s: %s of %s in %s", id, m.Amount, m.Payer, m.TxHash))
	}
	return c, nil
}
