// Package redis counts in Redis (or Valkey), for all nodes together.
//
// It fails fast: calls have a short timeout, and after a few consecutive failures a
// circuit breaker stops all calls for a second, so that a slow or unreachable Redis
// adds almost no latency. Callers must be able to continue without it.
package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/sony/gobreaker/v2"
)

// Timeout is the recommended timeout of a call within a request.
const Timeout = 100 * time.Millisecond

const (
	failures = 3           // consecutive, before the breaker opens
	pause    = time.Second // before the breaker half-opens
	maxConns = 64          // those above wait for one
	maxIdle  = 16
	idleTime = 5 * time.Minute
)

// Cache is a connection to Redis. Make one with Open.
type Cache struct {
	pool    *redis.Pool
	breaker *gobreaker.CircuitBreaker[[]int64]
	timeout time.Duration // for one call
}

// Open parses the address, redis://[user:password@]host:port/database, rediss:// for
// TLS, or unix:///path?db=database. With the parameter master_name it is the address of
// a Sentinel, which knows where Redis is; the parameter addr, once or more, adds other
// Sentinels, and username and password are then those of Redis. Open does not connect:
// Redis may start later. Timeout applies to each call.
func Open(address string, timeout time.Duration) (*Cache, error) {
	a, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("read the address of redis: %w", err)
	}
	a.timeout = timeout
	return &Cache{
		timeout: timeout,
		pool:    &redis.Pool{MaxActive: maxConns, Wait: true, MaxIdle: maxIdle, IdleTimeout: idleTime, DialContext: a.dial, TestOnBorrow: a.test},
		breaker: gobreaker.NewCircuitBreaker[[]int64](gobreaker.Settings{
			Name:        "redis",
			Timeout:     pause,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		}),
	}, nil
}

// Close closes the connections.
func (c *Cache) Close() error { return c.pool.Close() }

// Ping checks whether Redis answers, bypassing the breaker.
func (c *Cache) Ping(ctx context.Context) error {
	return c.use(ctx, func(conn redis.Conn) error {
		_, err := conn.Do("PING")
		return err
	})
}

// use calls f with a connection.
func (c *Cache) use(ctx context.Context, f func(redis.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.pool.GetContext(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // it goes back to the pool, unless it is broken
	return f(conn)
}

// count increments a key that expires when its window ends, by the clock of Redis. A
// key disappears in the first millisecond after its expiry time, so that time is the
// last millisecond of the window.
var count = redis.NewScript(1, `
local n = redis.call('INCR', KEYS[1])
local length = tonumber(ARGV[1])
local reset = (math.floor(tonumber(redis.call('TIME')[1]) / length) + 1) * length
if n == 1 then redis.call('PEXPIREAT', KEYS[1], reset * 1000 - 1) end
return {n, reset}`)

// peek reads the same key, which exists only during its window.
var peek = redis.NewScript(1, `
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
	v, err := c.breaker.Execute(func() (v []int64, err error) {
		// A cancelled request must not count as a failure of Redis.
		err = c.use(context.WithoutCancel(ctx), func(conn redis.Conn) error {
			v, err = redis.Int64s(script.Do(conn, "deed:count:"+key, int64(window/time.Second)))
			return err
		})
		if err == nil && len(v) != 2 {
			err = fmt.Errorf("redis answered %d numbers instead of 2", len(v))
		}
		return v, err
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	return int(v[0]), time.Unix(v[1], 0), nil
}
