// Package redis counts in Redis (or Valkey), for all nodes together.
//
// It fails fast: calls have a short timeout, and after a few consecutive failures a
// circuit breaker stops all calls for a second, so that a slow or unreachable Redis
// adds almost no latency. Callers must be able to continue without it.
package redis

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// Timeout is the recommended timeout of a call within a request.
const Timeout = 100 * time.Millisecond

const (
	failures = 3           // consecutive, before the breaker opens
	pause    = time.Second // before the breaker half-opens
)

// Cache is a connection to Redis. Make one with Open.
type Cache struct {
	client  *redis.Client
	breaker *gobreaker.CircuitBreaker[[]int64]
	timeout time.Duration // for one call
}

// Open parses the address, redis://[user:password@]host:port/database. With the
// parameter master_name it is the address of a Sentinel, which knows where Redis is; the
// parameter addr, once or more, adds other Sentinels, and username and password are then
// those of Redis. Open does not connect: Redis may start later. Timeout applies to each
// call.
func Open(address string, timeout time.Duration) (*Cache, error) {
	redis.SetLogger(silence{})
	client, err := newClient(address, timeout)
	if err != nil {
		return nil, fmt.Errorf("read the address of redis: %w", withoutURL(err))
	}
	return &Cache{
		timeout: timeout,
		client:  client,
		breaker: gobreaker.NewCircuitBreaker[[]int64](gobreaker.Settings{
			Name:        "redis",
			Timeout:     pause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		}),
	}, nil
}

// newClient returns a client that never tries twice: the caller has a fallback.
func newClient(address string, timeout time.Duration) (*redis.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Query().Has("master_name") {
		opts, err := redis.ParseFailoverURL(address)
		if err != nil {
			return nil, err
		}
		opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = timeout, timeout, timeout, timeout
		opts.ContextTimeoutEnabled, opts.MaxRetries, opts.DialerRetries = true, -1, 1
		return redis.NewFailoverClient(opts), nil
	}
	opts, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = timeout, timeout, timeout, timeout
	opts.ContextTimeoutEnabled, opts.MaxRetries, opts.DialerRetries = true, -1, 1
	return redis.NewClient(opts), nil
}

// silence disables the log of the library: errors are returned, and the caller
// counts them.
type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// withoutURL keeps the address, and the password in it, out of an error.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// Close closes the connections.
func (c *Cache) Close() error { return c.client.Close() }

// Ping checks whether Redis answers, bypassing the breaker.
func (c *Cache) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Ping(ctx).Err()
}

// count increments a key that expires when its window ends, by the clock of Redis. A
// key disappears in the first millisecond after its expiry time, so that time is the
// last millisecond of the window.
var count = redis.NewScript(`
local n = redis.call('INCR', KEYS[1])
local length = tonumber(ARGV[1])
local reset = (math.floor(tonumber(redis.call('TIME')[1]) / length) + 1) * length
if n == 1 then redis.call('PEXPIREAT', KEYS[1], reset * 1000 - 1) end
return {n, reset}`)

// peek reads the same key, which exists only during its window.
var peek = redis.NewScript(`
local n = tonumber(redis.call('GET', KEYS[1]) or 0)
local length = tonumber(ARGV[1])
return {n, (math.floor(tonumber(redis.call('TIME')[1]) / length) + 1) * length}`)

// Count implements deed.Counter.
func (c *Cache) Count(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	return c.run(ctx, count, key, window)
}

// Peek implements deed.Counter.
func (c *Cache) Peek(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	return c.run(ctx, peek, key, window)
}

// run runs a script that returns a count and the end of its window.
func (c *Cache) run(ctx context.Context, script *redis.Script, key string, window time.Duration) (int, time.Time, error) {
	// A cancelled request must not count as a failure of Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.timeout)
	defer cancel()
	v, err := c.breaker.Execute(func() ([]int64, error) {
		v, err := script.Run(ctx, c.client, []string{"deed:count:" + key}, int64(window/time.Second)).Int64Slice()
		if err == nil && len(v) != 2 {
			return nil, fmt.Errorf("redis answered %d numbers instead of 2", len(v))
		}
		return v, err
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return int(v[0]), time.Unix(v[1], 0), nil
}
