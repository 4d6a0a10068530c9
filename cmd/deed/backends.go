package main

import (
	"context"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/cache/memory"
	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/ratelimit"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signin"
	"deed.example/deed/internal/sqldb"
)

// The backends keep every promise the use cases ask for.
var (
	_ deed.Counter = (*memory.Cache)(nil)
	_ deed.Counter = (*redis.Cache)(nil)
	_ deed.Counter = sqldb.Limits{}

	_ signin.Store    = (*sqldb.Sessions)(nil)
	_ signin.Verifier = (*chain.Client)(nil)
)

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
		here := func(context.Context) error { return nil } // our own memory answers when we do
		return sharedCache{Counter: local, ping: here, close: func() error { return nil }}, nil
	}
	r, err := redis.Open(c.CacheURL.Reveal())
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

func newLimiter(db *sqldb.DB, shared, local deed.Counter, missed func(error)) *ratelimit.Limiter {
	return &ratelimit.Limiter{
		Shared:  shared,
		Local:   local,
		Durable: sqldb.Limits{DB: db, Now: time.Now},
		Now:     time.Now,
		Missed:  missed,
	}
}

// warnings says what an operator may not have meant.
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
