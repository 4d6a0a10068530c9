//go:build failover && linux

package failover

import (
	"fmt"
	"net"
	"syscall"
	"time"
)

const (
	databaseDown  = `deed_dependency_up\{name="database"\} 0`
	cacheDown     = `deed_dependency_up\{name="cache"\} 0`
	chainDown     = `deed_dependency_up\{name="chain"\} 0`
	registrarDown = `deed_dependency_up\{name="registrar"\} 0`
)

// faults is the matrix.
var faults = []fault{
	{name: "PostgreSQL primary killed, standby promoted", alert: "DeedDatabaseDown", sign: databaseDown, hold: time.Second, cause: promote},
	{name: "PostgreSQL frozen for 20 s", alert: "DeedDatabaseDown", sign: databaseDown, hold: 20 * time.Second, cause: func(e *env) func() string {
		e.primary.Freeze()
		return func() string { e.primary.Thaw(); return "" }
	}},
	{name: "PgBouncer killed, and started 5 s later", alert: "DeedDatabaseDown", sign: databaseDown, hold: 5 * time.Second, pooled: true, cause: func(e *env) func() string {
		e.pooler.Kill()
		return func() string { e.pooler.Restart(e.t); return "" }
	}},
	{name: "Redis killed, and started 20 s later", alert: "DeedCacheDown", sign: cacheDown, hold: 20 * time.Second, cause: func(e *env) func() string {
		e.redis.end(syscall.SIGKILL)
		return func() string { e.redis.start(e.t); return "" }
	}},
	{name: "Redis flushed", hold: 5 * time.Second, cause: flush},
	{name: "Redis frozen for 30 s", alert: "DeedCacheDown", sign: cacheDown, hold: 30 * time.Second, cause: func(e *env) func() string {
		e.redis.signal(syscall.SIGSTOP)
		return func() string { e.redis.signal(syscall.SIGCONT); return "" }
	}},
	{name: "Redis killed, replica promoted by Sentinel", alert: "DeedCacheDown", sign: cacheDown, hold: 15 * time.Second, sentinel: true, cause: func(e *env) func() string {
		e.redis.end(syscall.SIGKILL)
		return func() string { return "" }
	}},
	{name: "first RPC endpoint down for 20 s", alert: "DeedRPCEndpointDown", sign: `deed_rpc_endpoint_up\{endpoint="1"\} 0`, hold: 20 * time.Second, cause: cut(0)},
	{name: "second RPC endpoint down for 60 s", alert: "DeedRPCEndpointDown", sign: `deed_rpc_endpoint_up\{endpoint="2"\} 0`, hold: time.Minute, cause: cut(1)}, // it is probed every 30 s
	{name: "all RPC endpoints down for 30 s", alert: "DeedChainDown", sign: chainDown, hold: 30 * time.Second, cause: cut(0, 1)},
	registryDown("registry down for 60 s", time.Minute),
	{name: "disk of PostgreSQL full for 20 s", alert: "DeedDatabaseDown", sign: databaseDown, hold: 20 * time.Second, smallDisk: true, cause: fillDisk},
	{name: "node killed, and started 20 s later", alert: "DeedNodeDown", hold: 20 * time.Second, cause: func(e *env) func() string {
		e.nodes[0].end(syscall.SIGKILL)
		return func() string { e.nodes[0].start(e.t); e.nodes[0].ready(e.t); return "" }
	}},
	{name: "node frozen for 60 s", alert: "DeedNodeDown", hold: time.Minute, cause: func(e *env) func() string {
		e.nodes[0].signal(syscall.SIGSTOP)
		return func() string { e.nodes[0].signal(syscall.SIGCONT); return "" }
	}},
	{name: "clocks of the nodes 10 minutes ahead and behind", offsets: [2]string{"10m", "-10m"}, hold: 20 * time.Second, cause: func(*env) func() string { return func() string { return "" } }},
	{name: "file descriptors of a node exhausted for 20 s", hold: 20 * time.Second, cause: exhaustFiles},
	{name: "2,000 idle and slow connections to a node", hold: 30 * time.Second, cause: occupy},
	{name: "20,000 garbage requests a second to a node for a minute", hold: time.Minute, cause: flood},
	{name: "both nodes restarted, one after the other", cause: restart},
}

// registryDown is a registry that refuses every connection for a while.
func registryDown(name string, hold time.Duration) fault {
	return fault{name: name, alert: "DeedRegistrarDown", sign: registrarDown, hold: hold, outside: true, cause: func(e *env) func() string {
		e.registry.Maintain(true)
		return func() string { e.registry.Maintain(false); return "" }
	}}
}

// promote kills the primary and promotes its standby. Writes must go on within 10 s.
func promote(e *env) func() string {
	e.primary.Kill()
	return func() string {
		e.standby.Promote(e.t)
		at := time.Now()
		for _, n := range e.nodes {
			n.ready(e.t)
		}
		return fmt.Sprintf("both nodes ready %s after the promotion", time.Since(at).Round(100*time.Millisecond))
	}
}

// flush empties Redis.
func flush(e *env) func() string {
	c, err := net.Dial("tcp", e.redisAddr)
	if err == nil {
		_, err = c.Write([]byte("FLUSHALL\r\n"))
	}
	if err == nil {
		_, err = c.Read(make([]byte, 16))
	}
	if err != nil {
		e.t.Fatal(err)
	}
	c.Close() // it has answered
	return func() string { return "" }
}

// cut cuts some of the RPC endpoints.
func cut(which ...int) func(e *env) func() string {
	return func(e *env) func() string {
		for _, i := range which {
			e.rpc[i].cut(true)
		}
		return func() string {
			for _, i := range which {
				e.rpc[i].cut(false)
			}
			return ""
		}
	}
}

// restart restarts the nodes one after the other, gently, as an upgrade does.
func restart(e *env) func() string {
	return func() string {
		for _, n := range e.nodes {
			n.end(syscall.SIGTERM)
			n.start(e.t)
			n.ready(e.t)
		}
		return ""
	}
}
