package payment

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// minGas is how many payments and refunds the gas of our wallets should last
// for: below it we warn, long before anything stops.
const minGas = 200

// BalanceReader says what our own wallets have.
type BalanceReader interface {
	Reserves(ctx context.Context) (settle.Reserves, error)
}

// Reserve watches our own wallets. What we cannot call in we must not ask for: an
// order that nobody could settle is refused before anything is signed for it.
// Fill every exported field. A nil Reserve watches nothing and refuses nothing.
type Reserve struct {
	Wallets BalanceReader
	MinUSDC deed.USDC // of the refund wallet; below it we warn

	OnRefresh func(r settle.Reserves)             // told after every look
	Warn      func(low string, r settle.Reserves) // told what runs low, when that changes; "" is nothing any more

	last atomic.Pointer[settle.Reserves] // nil before the first look
	low  atomic.Pointer[string]          // what runs low; nil is nothing
}

// Look asks the chain what our wallets have. Call it every few seconds.
func (r *Reserve) Refresh(ctx context.Context) error {
	seen, err := r.Wallets.Reserves(ctx)
	if err != nil {
		return fmt.Errorf("look into our wallets: %w", err)
	}
	r.last.Store(&seen)
	r.OnRefresh(seen)
	low := r.lowOf(seen)
	if before := r.low.Swap(&low); before == nil && low != "" || before != nil && *before != low {
		r.Warn(low, seen)
	}
	return nil
}

// lowOf says what runs low, without figures: it is the same text for as long as
// it lasts.
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

// Low fails with what ran low at the last look.
func (r *Reserve) Low() error {
	if low := r.low.Load(); low != nil && *low != "" {
		return fmt.Errorf("our wallets run low: %s", *low)
	}
	return nil
}

// Enough fails with CodeUnavailable when, at the last look, the gas wallet could
// not pay for a transaction of the largest kind.
func (r *Reserve) Enough() error {
	if r == nil {
		return nil
	}
	if seen := r.last.Load(); seen == nil || seen.Batches > 0 {
		return nil
	}
	return &deed.Error{
		Code:    deed.CodeUnavailable,
		Message: "payments cannot be settled at the moment: nothing was charged, try again in a minute",
		Retry:   time.Minute,
	}
}
