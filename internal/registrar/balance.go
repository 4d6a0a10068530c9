package registrar

import (
	"context"
	"fmt"
	"maps"
	"time"

	"deed.example/deed"
)

// ReadBalances reads how much money is left at each backend that says so, at all of them at
// once. A backend that does not answer keeps the balance that was read before.
func (r *Router) ReadBalances(ctx context.Context) error {
	return AtOnce(r.backends, func(b Backend) error {
		if reader, ok := b.Registrar.(BalanceReader); ok {
			return r.readBalance(ctx, b, reader)
		}
		return nil
	})
}

func (r *Router) readBalance(ctx context.Context, b Backend, reader BalanceReader) error {
	balance, err := observed(ctx, r, b, "balance", func(ctx context.Context) (Balance, error) { return reader.Balance(ctx) })
	switch {
	case err == nil:
		r.setBalance(b.Name, balance.Available)
		if balance.Available < b.Reserve {
			return fmt.Errorf("registrar %s: %w: %s USD are left, and the reserve is %s", b.Name, ErrFunds, balance.Available, b.Reserve)
		}
	case deed.CodeOf(err) == deed.CodeNotFound:
		r.forgetBalance(b.Name) // not reported, or too long ago
	default:
		return fmt.Errorf("read the balance at registrar %s: %w", b.Name, err)
	}
	return nil
}

// Balances returns the balances that were read last, by backend.
func (r *Router) Balances() map[string]deed.USDC {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.balances)
}

func (r *Router) setBalance(backend string, left deed.USDC) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.balances[backend] = left
}

func (r *Router) forgetBalance(backend string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.balances, backend)
}

// Affords fails with CodeUnavailable when the account at the backend of the name
// could not pay for an order that we sell at this price, and keep its reserve. Our
// price includes a markup, so it stands for the backend's. An unknown balance is no
// obstacle: the backend refuses what it is not paid for.
func (r *Router) Affords(ctx context.Context, name deed.Name, price deed.USDC) error {
	b, err := r.of(ctx, name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	left, known := r.balances[b.Name]
	r.mu.Unlock()
	if !known || left >= price+b.Reserve {
		return nil
	}
	return &deed.Error{
		Code: deed.CodeUnavailable, Err: fmt.Errorf("registrar %s: %w", b.Name, ErrFunds), Retry: 10 * time.Minute,
		Message: fmt.Sprintf("%s cannot be ordered at the moment, because our account at its registry must be filled up first: nothing was charged, try again later", name),
	}
}
