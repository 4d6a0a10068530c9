package redis_test

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	client "github.com/gomodule/redigo/redis"

	"deed.example/deed"
	"deed.example/deed/internal/cache/cachetest"
	"deed.example/deed/internal/cache/redis"
)

// prefixed gives each test separate keys on the shared server.
type prefixed struct {
	deed.Counter
	prefix string
}

func (p prefixed) Count(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	return p.Counter.Count(ctx, p.prefix+key, window)
}

func (p prefixed) Peek(ctx context.Context, key string, window time.Duration) (int, time.Time, error) {
	return p.Counter.Peek(ctx, p.prefix+key, window)
}

func server(t *testing.T) string {
	t.Helper()
	url := os.Getenv("TEST_REDIS_URL")
	if url == "" {
		t.Skip("TEST_REDIS_URL is not set: `make test` starts a Redis server and sets it")
	}
	return url
}

func open(t *testing.T, url string) *redis.Cache {
	t.Helper()
	c, err := redis.Open(url, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // the connections go away with the test
	return c
}

func TestCounter(t *testing.T) {
	url := server(t)
	cachetest.Run(t, func(t *testing.T) cachetest.Fixture {
		return cachetest.Fixture{
			Counter: prefixed{open(t, url), rand.Text()},
			Now:     time.Now,
			// The clock is that of Redis: wait for the next window.
			Next: func(w time.Duration) { time.Sleep(time.Until(deed.WindowEnd(time.Now(), w))) },
		}
	})
}

// After a restart Redis has lost the script; it is sent again.
func TestScriptIsSentAgain(t *testing.T) {
	url := server(t)
	c, key := open(t, url), rand.Text()
	raw, err := client.DialURL(url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // only a test's connection
	for want := 1; want <= 2; want++ {
		if n, _, err := c.Count(t.Context(), key, time.Hour); err != nil || n != want {
			t.Errorf("got %d, %v, want %d", n, err, want)
		}
		if _, err := raw.Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
	}
}

// Cancelled requests do not open the circuit breaker.
func TestCancelledRequestsDoNotOpenTheBreaker(t *testing.T) {
	c, key := open(t, server(t)), rand.Text()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, _, err := c.Count(cancelled, key, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := c.Count(t.Context(), key, time.Hour); err != nil || n != 11 {
		t.Errorf("got %d, %v, want 11", n, err)
	}
}

// After a few failures no more calls are made.
func TestBreakerOpens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close() // a failing server
			calls <- struct{}{}
		}
	}()
	defer l.Close() // ends the loop above
	c := open(t, "redis://"+l.Addr().String())
	for range 20 {
		if _, _, err := c.Count(t.Context(), "a", time.Hour); err == nil {
			t.Fatal("a dead server counted")
		}
	}
	if n := len(calls); n > 10 {
		t.Errorf("the dead server was called %d times", n)
	}
	if err := c.Ping(t.Context()); err == nil {
		t.Error("a dead server is up")
	}
}

func TestPasswordStaysOutOfErrors(t *testing.T) {
	for _, url := range []string{"redis://:hunter2@127.0.0.1:port", "redis://:hunter2@[::1", "http://:hunter2@127.0.0.1"} {
		if _, err := redis.Open(url, time.Minute); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// A server that accepts connections and then says nothing, such as one that is frozen, takes
// no longer than the timeout, also before TLS has begun.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts for it
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody connects any more
	for _, scheme := range []string{"redis", "rediss"} {
		c, err := redis.Open(scheme+"://"+l.Addr().String(), 10*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() // it never had a connection
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 10 {
				if err := c.Ping(t.Context()); err == nil {
					t.Error("a silent server is up")
				}
			}
		}()
		select {
		case <-ended:
		case <-time.After(time.Minute): // 600 times as long
			t.Fatalf("%s: ten calls have not ended", scheme)
		}
	}
}
