package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"deed.example/deed/internal/health"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb"
)

// newHealth returns the service behind /health.
func (a *App) newHealth() *health.Service {
	checks := []health.Check{
		{Name: "database", Essential: true, Ping: a.databasePing()},
		{Name: "cache", Ping: a.cache.ping},
		{Name: "registrar", Ping: a.registrar.Ping, Warning: a.attention.warning},
		a.chainCheck(),
		{Name: "dns", Ping: a.dns.ping()},
	}
	for _, c := range checks {
		if c.Ping != nil {
			a.metrics.Dependency(c.Name, true) // until a check says otherwise
		}
	}
	return &health.Service{Now: time.Now, OnResult: a.logHealth, Checks: checks}
}

// logHealth logs why a dependency is down, and when it is up again.
func (a *App) logHealth(name string, r health.Result) {
	a.metrics.Dependency(name, r.Err == nil)
	if r.Err != nil {
		a.log.Error(name+" is down", "err", r.Err)
		return
	}
	a.log.Info(name + " is up again")
}

// writeInterval is how often at most the database is checked by a write.
const writeInterval = 3 * time.Second

// databasePing checks whether the database can be read, and written: with a full disk
// it answers, and nothing can be sold.
func (a *App) databasePing() func(ctx context.Context) error {
	write := pingAtMost(writeInterval, a.writeNode)
	return func(ctx context.Context) error {
		if err := a.DB.Ping(ctx); err != nil {
			return err
		}
		return write(ctx)
	}
}

// healthInterval is how often dependencies are checked when nobody asks.
const healthInterval = 5 * time.Second

// nodeInterval is how often a node writes its row when nobody asks for its health.
const nodeInterval = 15 * time.Second

// writeNode tells the others that this node runs, and shares the due rows and the limits
// of registrars with them.
func (a *App) writeNode(ctx context.Context) error {
	nodes := sqldb.Nodes{DB: a.DB, Now: a.now}
	if err := nodes.Write(ctx, a.node); err != nil {
		return err
	}
	running, err := nodes.Divide(ctx, a.node)
	if err == nil {
		a.pace.Share(running)
	}
	return err
}

// removeNode tells the others that this node has ended. If it cannot, they notice a while
// later.
func (a *App) removeNode() {
	if err := (sqldb.Nodes{DB: a.DB, Now: a.now}).Remove(context.Background(), a.node); err != nil {
		a.log.Warn("the row of this node is still there", "err", err)
	}
}

// chainCheck checks whether the chain responds and the wallets have enough funds.
func (a *App) chainCheck() health.Check {
	keep := chainPingInterval
	if a.chain.sandbox != nil {
		keep = 0
	}
	there := pingAtMost(keep, func(ctx context.Context) error {
		err := a.chain.Ping(ctx, a.config.ChainID)
		if errors.Is(err, chain.ErrWrongChain) {
			return health.Fatal(err)
		}
		return err
	})
	if a.money == nil {
		return health.Check{Name: "chain", Ping: there, Warning: func() error { return errNoTreasury }}
	}
	return health.Check{Name: "chain", Warning: a.money.warning, Ping: func(ctx context.Context) error {
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
