package fulfil

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// RevertStore counts transfers that reverted, at the cost of our gas.
type RevertStore interface {
	// CountReverts returns how many transfers of all wallets reverted since the time.
	CountReverts(ctx context.Context, since time.Time) (int, error)

	// HasPaid reports whether the wallet has paid for something that was delivered.
	HasPaid(ctx context.Context, w deed.Wallet) (bool, error)
}

// A RevertLimit limits how much gas contract wallets can make us spend. The code of such a
// wallet can let a simulation succeed and the transfer fail, and a stranger can make many
// wallets, so a limit per payer is not enough: after Max transfers that reverted within
// order.RevertWindow, contract wallets that have never paid for anything are refused. Fill
// every exported field. A nil RevertLimit refuses nobody.
type RevertLimit struct {
	Store RevertStore
	Max   int
	Now   func() time.Time

	OnRefresh func(n int)        // called after every Refresh
	Warn      func(reached bool) // called when the limit is reached, and when it no longer is

	reached atomic.Bool
}

// Refresh counts the transfers that reverted. Call it every few seconds.
func (l *RevertLimit) Refresh(ctx context.Context) error {
	n, err := l.Store.CountReverts(ctx, l.Now().Add(-order.RevertWindow))
	if err != nil {
		return fmt.Errorf("count transfers that failed on the chain: %w", err)
	}
	l.OnRefresh(n)
	if reached := n >= l.Max; l.reached.Swap(reached) != reached {
		l.Warn(reached)
	}
	return nil
}

// Reached returns an error if contract wallets that have not paid before are refused.
func (l *RevertLimit) Reached() error {
	if l == nil || !l.reached.Load() {
		return nil
	}
	return fmt.Errorf("%d payments failed on the chain within a day: contract wallets that have not paid before are refused", l.Max)
}

// admit fails with CodeRateLimited for a contract wallet that has not paid before, while
// the limit is reached. A verifier that does not know which wallets are contracts does not
// settle with our gas.
func (l *RevertLimit) admit(ctx context.Context, v settle.Verifier, w deed.Wallet) error {
	chain, ok := v.(settle.CodeReader)
	if !ok || l.Reached() == nil {
		return nil
	}
	contract, err := chain.HasCode(ctx, w)
	if err != nil {
		return fmt.Errorf("check whether %s is a contract: %w", w, err)
	}
	if !contract {
		return nil
	}
	paid, err := l.Store.HasPaid(ctx, w)
	if err != nil {
		return fmt.Errorf("look for earlier payments of %s: %w", w, err)
	}
	if paid {
		return nil
	}
	return deed.RateLimited(time.Hour, l.Max, "too many payments of contract wallets failed on the chain today; nothing was charged: pay with a wallet that has no code, "+
		"or submit this payment to the chain yourself and repeat the request signed in, or try again later")
}
