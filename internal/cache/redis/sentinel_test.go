package redis_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/gomodule/redigo/redis"

	"deed.example/deed/internal/cache/redis"
	"deed.example/deed/internal/postgrestest"
)

// Behind Sentinel we count in the server that it promotes when the first one is killed.
func TestSentinelFailsOver(t *testing.T) {
	server(t) // redis-server is installed
	first, second, sentinel := freePort(t), freePort(t), freePort(t)
	master := run(t, "--port", first)
	run(t, "--port", second, "--replicaof", "127.0.0.1 "+first)
	run(t, configuration(t, "port "+sentinel+`
sentinel monitor names 127.0.0.1 `+first+` 1
sentinel down-after-milliseconds names 500
sentinel failover-timeout names 5000
`), "--sentinel")
	c := openSentinel(t, sentinel)
	if n, _, err := c.Count(t.Context(), "a", time.Hour); err != nil || n != 1 {
		t.Fatalf("got %d, %v", n, err)
	}
	waitUntil(t, "the replica is connected and known to the Sentinel", func() bool {
		return strings.Contains(replicas(t, sentinel), "master-link-status ok")
	})
	if err := master.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the promoted server counts", func() bool {
		_, _, err := c.Count(t.Context(), "a", time.Hour)
		return err == nil
	})
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestPasswordsOfSentinelStayOutOfErrors(t *testing.T) {
	if c, err := redis.Open("redis://127.0.0.1:1/zero?master_name=a&password=hunter2", time.Minute); err == nil {
		t.Errorf("got %v", c)
	} else if got := err.Error(); got != `read the address of redis: the database is a number, not "zero"` {
		t.Errorf("got %s", got)
	}
}

func openSentinel(t *testing.T, port string) *redis.Cache {
	t.Helper()
	c := open(t, "redis://127.0.0.1:"+port+"/0?master_name=names")
	waitUntil(t, "the Sentinel answers", func() bool { return c.Ping(t.Context()) == nil })
	return c
}

// replicas returns what the Sentinel knows of the only replica, as text.
func replicas(t *testing.T, port string) string {
	t.Helper()
	conn, err := client.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // only a test's connection
	all, err := client.Values(conn.Do("SENTINEL", "replicas", "names"))
	if err != nil || len(all) != 1 {
		return ""
	}
	fields, err := client.Strings(all[0], err)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(fields, " ")
}

// run starts a redis-server that ends with the test.
func run(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("redis-server", append(args, "--dir", t.TempDir(), "--save", "", "--bind", "127.0.0.1")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed
		_ = cmd.Wait()
	})
	return cmd
}

// configuration writes a file that a Sentinel may write to.
func configuration(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func freePort(t *testing.T) string { return fmt.Sprint(postgrestest.FreePort(t)) }

func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for !holds() {
		if ctx.Err() != nil {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
