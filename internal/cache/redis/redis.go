// Package redis keeps short-lived values in Redis (or Valkey), for all nodes
// at once.
//
// It is built to fail fast: a call waits a moment at most, and after a few
// failures in a row no call is made at all for a second, so that a dead or slow
// Redis costs a request next to nothing. Whoever calls it must be able to go on
// without it.
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

// Timeout is how long a request should wait for Redis at the most.
const Timeout = 100 * time.Millisecond

const (
	failures = 3           // in a row, before we stop asking
	pause    = time.Second // before we ask again
)

// Cache is a connection to Redis. Make one with Open.
type Cache struct {
	client  *redis.Client
	breaker *gobreaker.CircuitBreaker[[]int64]
	timeout time.Duration // for one call
}

// Open reads the address, redis://[user:password@]host:port/database. It does
// not connect: Redis may come later than we do. A call waits no longer than
// timeout.
func Open(address string, timeout time.Duration) (*Cache, error) {
	opts, err := redis.ParseURL(address)
	if err != nil {
		return nil, fmt.Errorf("read the address of redis: %w", withoutURL(err))
	}
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = timeout, timeout, timeout
	opts.PoolTimeout = timeout
	opts.ContextTimeoutEnabled = true
	opts.MaxRetries, opts.DialerRetries = -1, 1 // the caller has another way to go on
	redis.SetLogger(silence{})
	return &Cache{
		timeout: timeout,
		client:  redis.NewClient(opts),
		breaker: gobreaker.NewCircuitBreaker[[]int64](gobreaker.Settings{
			Name:        "redis",
			Timeout:     pause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		}),
	}, nil
}

// silence keeps the library from writing lines of its own: what fails is
// returned to us, and the caller counts it.
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

// Ping asks whether Redis answers, past the breaker.
func (c *Cache) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return c.client.Ping(ctx).Err()
}

// count adds one to a key that disappears when its window ends, by the clock
// of Redis. A key is gone in the first millisecond after its expiry time, so
// that time is the last millisecond of the window.
var count = redis.NewScript(`
local n = redis.call('INCR', KEYS[1])
local length = tonumber(ARGV[1])
local reset = (math.floor(tonumber(redis.call('TIME')[1]) / length) + 1) * length
if n == 1 then redis.call('PEXPIREAT', KEYS[1], reset * 1000 - 1) end
return {n, reset}`)

// peek reads the same key. It is there only while its window runs.
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
	// The caller who hangs up must not count as a failure of Redis.
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
