package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/seal"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
)

// The backends implement the interfaces of the services.
var (
	_ deed.Counter = (*memory.Cache)(nil)
	_ deed.Counter = (*redis.Cache)(nil)
	_ deed.Counter = sqldb.Limits{}

	_ signin.Store    = (*sqldb.Sessions)(nil)
	_ signin.Verifier = (*chain.Client)(nil)
)

// backends are the components that the configuration selects.
type backends struct {
	log   *slog.Logger
	db    *sqldb.DB
	clock *sqldb.Clock // of all nodes

	calendar *sqldb.Calendar // of the registry; in the sandbox it can be moved
	prices   *catalog.Service
	local    deed.Counter // in memory
	cache    sharedCache
	chain    *chainBackend
	money    *money // nil if no payments are accepted

	registrar *registrar.Router
	sandbox   *sandboxRegistry // nil outside a sandbox
	dns       *dnsBackend
	lifecycle *registration.Lifecycle // of the names we hold; nil when no payments are taken
}

// openBackends opens all of them, or none.
func openBackends(ctx context.Context, c *config, log *slog.Logger) (b *backends, err error) {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	b = &backends{log: log, local: &memory.Cache{Now: time.Now}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.db, err = openDatabase(ctx, c); err != nil {
		return b, err
	}
	b.clock = sqldb.NewClock(b.db, time.Now)
	if err = b.clock.Sync(ctx); err != nil {
		return b, err
	}
	b.calendar = sqldb.NewCalendar(b.db, b.clock.Now)
	if err = b.calendar.Sync(ctx); err != nil {
		return b, err
	}
	if b.prices, err = openPrices(ctx, c, b); err != nil {
		return b, err
	}
	if b.cache, err = openCache(c, b.local); err != nil {
		return b, err
	}
	if b.chain, err = openChain(c, log); err != nil {
		return b, err
	}
	if err = b.openRegistry(); err != nil {
		return b, err
	}
	if b.dns, err = openDNS(ctx, c, b); err != nil {
		return b, err
	}
	if b.db.Sealer, err = seal.New(b.dns.zones.Publishing.Master); err != nil {
		return b, err
	}
	b.money, err = openMoney(ctx, c, b.db, b.chain, b.clock.Now)
	return b, err
}

// openPrices publishes the price list; the prices that it replaces remain payable
// for a while.
func openPrices(ctx context.Context, c *config, b *backends) (*catalog.Service, error) {
	prices, err := catalog.New(c.Pricing)
	if err != nil {
		return nil, err
	}
	return prices, prices.Publish(ctx, sqldb.Prices{DB: b.db}, b.clock.Now)
}

// chainCheck checks whether the chain responds and the wallets have enough funds.
func (b *backends) chainCheck(c *config) health.Check {
	keep := chainPingInterval
	if b.chain.sandbox != nil {
		keep = 0
	}
	there := pingAtMost(keep, func(ctx context.Context) error { return b.chain.Ping(ctx, c.ChainID) })
	if b.money == nil {
		return health.Check{Name: "chain", Ping: there, Warning: func() error { return errNoTreasury }}
	}
	return health.Check{Name: "chain", Warning: b.money.low, Ping: func(ctx context.Context) error {
		return errors.Join(there(ctx), b.money.reserve.Enough())
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

// close closes all backends in reverse order.
func (b *backends) close() error {
	var err error
	if b.dns != nil {
		err = b.dns.close()
	}
	if b.chain != nil {
		err = errors.Join(err, b.chain.close())
	}
	if b.cache.close != nil {
		err = errors.Join(err, b.cache.close())
	}
	if b.db != nil {
		err = errors.Join(err, b.db.Close())
	}
	return err
}

func openDatabase(ctx context.Context, c *config) (*sqldb.DB, error) {
	if c.DatabaseURL != "" {
		return sqldb.OpenPostgres(ctx, c.DatabaseURL.Reveal())
	}
	return sqldb.OpenSQLite(ctx, databaseFile(c))
}

func databaseFile(c *config) string { return filepath.Join(c.Data, "deed.db") }

func databaseInWords(c *config) string {
	if c.DatabaseURL != "" {
		return "PostgreSQL at " + shown(c.DatabaseURL)
	}
	return "SQLite in " + databaseFile(c)
}

// A sharedCache is a cache in another process.
type sharedCache struct {
	deed.Counter
	ping  func(context.Context) error
	close func() error
}

func openCache(c *config, local deed.Counter) (sharedCache, error) {
	if c.CacheURL == "" {
		here := func(context.Context) error { return nil } // memory is always available
		return sharedCache{Counter: local, ping: here, close: func() error { return nil }}, nil
	}
	r, err := redis.Open(c.CacheURL.Reveal(), redis.Timeout)
	if err != nil {
		return sharedCache{}, err
	}
	return sharedCache{Counter: r, ping: r.Ping, close: r.Close}, nil
}

func cacheInWords(c *config) string {
	if c.CacheURL != "" {
		return "Redis at " + shown(c.CacheURL)
	}
	return "the memory of this process"
}

// warnings returns settings that the operator may not have intended.
func warnings(c *config) []string {
	var out []string
	if c.MetricsListen != "off" && !loopback(c.MetricsListen) {
		out = append(out, "metrics.listen "+c.MetricsListen+" can be reached from other machines: profiles show what this process does")
	}
	if c.ChainRPCURL == "" && !loopback(c.Listen) {
		out = append(out, "SANDBOX: callers from other machines reach a service that takes play money; set chain.rpc_url before anyone relies on it")
	}
	if c.ChainRPCURL == "" && !loopback(c.ChainListen) {
		out = append(out, "SANDBOX: chain.listen "+c.ChainListen+" lets other machines use the embedded chain")
	}
	if c.ChainRPCURL != "" && c.PayTo != "" && c.ChainFirst == 0 {
		out = append(out, "chain.from_block is 0: all earlier authorized transfers to pay_to are counted, and refunded if they belong to no order; set it to the newest block before the first start")
	}
	if c.outside() && c.PayTo == "" {
		out = append(out, "pay_to is not set: this node sells nothing, and /readyz says 503")
	}
	if c.DatabaseURL != "" && c.CacheURL == "" {
		out = append(out, "database.url is shared but cache.url is not set: each node counts the short limits by itself")
	}
	return out
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
