package fulfil

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// minGas is the number of payments and refunds that our wallets should have gas for.
// Below it we warn, long before anything stops.
const minGas = 200

// BalanceReader reads the balances of our own wallets.
type BalanceReader interface {
	Reserves(ctx context.Context) (settle.Reserves, error)
}

// Reserve monitors our own wallets. A payment that we could not settle must not be
// requested: such an order is refused before anything is signed for it. Fill every
// exported field but Signers. A nil Reserve monitors nothing and refuses nothing.
type Reserve struct {
	Wallets BalanceReader
	MinUSDC deed.USDC // of the refund wallet; below it, Warn is called

	// Signers says why nothing can be signed for our wallets now; nil if it can. It may be
	// nil itself.
	Signers func() error

	OnRefresh func(r settle.Reserves)             // called after every Refresh
	Warn      func(low string, r settle.Reserves) // called when what runs low changes; "" if nothing does any more

	last atomic.Pointer[settle.Reserves] // nil before the first Refresh
	low  atomic.Pointer[string]          // what runs low; nil if nothing does
}

// Refresh reads the balances of our wallets. Call it every few seconds.
func (r *Reserve) Refresh(ctx context.Context) error {
	seen, err := r.Wallets.Reserves(ctx)
	if err != nil {
		return fmt.Errorf("read the balances of our wallets: %w", err)
	}
	r.last.Store(&seen)
	r.OnRefresh(seen)
	low := r.lowOf(seen)
	if before := r.low.Swap(&low); before == nil && low != "" || before != nil && *before != low {
		r.Warn(low, seen)
	}
	return nil
}

// lowOf returns what runs low, without figures, so that the text is stable.
func (r *Reserve) lowOf(seen settle.Reserves) string {
	var low []string
	if seen.Settlements < minGas {
		low = append(low, fmt.Sprintf("the gas wallet pays for fewer than %d payments", minGas))
	}
	if seen.Refunds < minGas {
		low = append(low, fmt.Sprintf("the refund wallet has gas for fewer than %d refunds", minGas))
	}
	if seen.USDC < r.MinUSDC {
		low = append(low, fmt.Sprintf("the refund wallet has less than %s USDC", r.MinUSDC))
	}
	return strings.Join(low, ", ")
}

// Low returns an error if anything ran low at the last Refresh.
func (r *Reserve) Low() error {
	if low := r.low.Load(); low != nil && *low != "" {
		return fmt.Errorf("our wallets run low: %s", *low)
	}
	return nil
}

// Enough fails with CodeUnavailable when, at the last Refresh, the gas wallet could
// not pay for the largest kind of transaction, or nobody can sign one now.
func (r *Reserve) Enough() error {
	if r == nil {
		return nil
	}
	signs := r.Signers == nil || r.Signers() == nil
	if seen := r.last.Load(); signs && (seen == nil || seen.Batches > 0) {
		return nil
	}
	return &deed.Error{
		Code:    deed.CodeUnavailable,
		Message: "payments cannot be settled at the moment: nothing was charged, try again in a minute",
		Retry:   time.Minute,
	}
}
