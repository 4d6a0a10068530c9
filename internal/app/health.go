package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"deed.example/deed/internal/health"
)

// newHealth returns the service behind /health.
func (a *App) newHealth() *health.Service {
	return &health.Service{Now: time.Now, Checks: []health.Check{
		{Name: "database", Essential: true, Ping: a.DB.Ping},
		{Name: "cache", Ping: a.cache.ping},
		{Name: "registrar", Ping: a.registrar.Ping, Warning: a.attention.warning},
		a.chainCheck(),
		{Name: "dns", Ping: a.dns.ping()},
	}}
}

// chainCheck checks whether the chain responds and the wallets have enough funds.
func (a *App) chainCheck() health.Check {
	keep := chainPingInterval
	if a.chain.sandbox != nil {
		keep = 0
	}
	there := pingAtMost(keep, func(ctx context.Context) error { return a.chain.Ping(ctx, a.config.ChainID) })
	if a.money == nil {
		return health.Check{Name: "chain", Ping: there, Warning: func() error { return errNoTreasury }}
	}
	return health.Check{Name: "chain", Warning: a.money.low, Ping: func(ctx context.Context) error {
		return errors.Join(there(ctx), a.money.reserve.Enough())
	}}
}

// chainPingInterval is how long the health of a real chain is cached: providers
// limit the number of calls.
const chainPingInterval = 15 * time.Second

// pingAtMost caches the result of ping for the interval.
func pingAtMost(interval time.Duration, ping func(ctx context.Context) error) func(ctx context.Context) error {
	var mu sync.Mutex // guards both below
	var last error
	var at time.Time
	return func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if at.IsZero() || time.Since(at) >= interval {
			last, at = ping(ctx), time.Now()
		}
		return last
	}
}
