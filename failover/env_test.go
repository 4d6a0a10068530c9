//go:build failover && linux

package failover

import (
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/postgrestest"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// binary is the command deed, built once, with a clock that can be wrong.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deed-failover")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) // it is temporary
		binary = filepath.Join(dir, "deed")
		if out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", binary, "../cmd/deed").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		status := m.Run()
		printTable()
		return status
	}())
}

// An env is an installation: two nodes behind HAProxy.
type env struct {
	t                *testing.T
	dir              string
	primary, standby *postgrestest.Server
	pooler           *postgrestest.Server // nil without one
	redis            *process
	redisAddr        string // of the first Redis
	cacheURL         string
	disk             string          // of PostgreSQL; "" if it is not a small one
	registry         *epptest.Server // nil if the nodes sell from the embedded one
	chain            *process        // a sandbox, whose chain the nodes use
	faucet           *client.Client
	rpc              [2]*relay // the RPC endpoints of the nodes
	nodes            [2]*node
	front            string // base address of HAProxy
}

// A node is a `deed serve`.
type node struct {
	*process
	callers, operators string // base addresses
}

// open starts everything that the fault needs. With a pooler, the nodes reach PostgreSQL
// through PgBouncer in transaction mode.
func open(t *testing.T, f fault) *env {
	t.Helper()
	e := &env{t: t, dir: t.TempDir()}
	if f.smallDisk {
		e.useSmallDisk()
	}
	e.primary = postgrestest.Start(t)
	e.standby = e.primary.Standby(t)
	if f.pooled {
		e.pooler = e.primary.PgBouncer(t, "transaction")
	}
	e.startRedis(f.sentinel)
	rpc := e.startChain()
	for i := range e.rpc {
		e.rpc[i] = newRelay(t, rpc)
	}
	settings := e.settings()
	if f.outside {
		settings = append(settings, "DEED_CONFIG="+e.startRegistry())
	}
	for i := range e.nodes {
		e.startNode(i, append(settings[:len(settings):len(settings)], "CLOCK_OFFSET="+f.offsets[i]))
	}
	e.startFront()
	return e
}

// startChain starts a sandbox, and returns the address of its chain.
func (e *env) startChain() (rpc string) {
	e.t.Helper()
	callers, port := loopback(postgrestest.FreePort(e.t)), postgrestest.FreePort(e.t)
	e.chain = &process{name: "chain", log: logFile(e.dir, "chain"), args: []string{
		binary, "serve", "--data", filepath.Join(e.dir, "sandbox"), "--listen", callers, "--metrics-listen", "off", "--dns-listen", "off", "--chain-listen", loopback(port)}}
	e.chain.start(e.t)
	e.chain.await(e.t, func() bool { return ok("http://" + callers + "/readyz") })
	var err error
	if e.faucet, err = client.New("http://" + callers); err != nil {
		e.t.Fatal(err)
	}
	return loopback(port)
}

// fund gives a new wallet test money.
func (e *env) fund() *ecdsa.PrivateKey {
	e.t.Helper()
	key, err := crypto.GenerateKey()
	if err == nil {
		_, err = e.faucet.Faucet(e.t.Context(), api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex(), Amount: "100000.00"})
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return key
}

// settings returns the environment that both nodes share.
func (e *env) settings() []string {
	e.t.Helper()
	keyFile := func(name string) string {
		path := filepath.Join(e.dir, name)
		if err := os.WriteFile(path, []byte(hex.EncodeToString(crypto.FromECDSA(e.fund()))), 0o600); err != nil {
			e.t.Fatal(err)
		}
		return path
	}
	direct := postgrestest.URL("postgres", e.primary, e.standby)
	all := []string{
		"DEED_DATABASE_URL=" + direct, "DEED_CACHE_URL=" + e.cacheURL,
		"DEED_CHAIN_RPC_URL=http://" + e.rpc[0].addr, "DEED_CHAIN_RPC_FALLBACK_URL=http://" + e.rpc[1].addr, "DEED_CHAIN_DEPTH=1",
		"DEED_PAY_TO=0x71C7656EC7ab88b098defB751B7401B5f6d8976F", "DEED_CHAIN_GAS_KEY=" + keyFile("gas.key"), "DEED_CHAIN_REFUND_KEY=" + keyFile("refund.key"),
		"DEED_REGISTRAR_ALLOW_EMBEDDED=true", "DEED_PUBLIC_URL=http://deed.test", "DEED_PROXIES=127.0.0.0/8",
		"DEED_DNS_KEY=" + filepath.Join(e.dir, "dns.key"), "DEED_SIGNIN_KEYS=" + filepath.Join(e.dir, "signin.keys"), "DEED_AGENT_KEY=" + filepath.Join(e.dir, "agent.key"),
		"DEED_LIMITS_REGISTER=1000000", "DEED_LIMITS_DNS=1000000", "DEED_LIMITS_SEARCH=1000000", "DEED_LIMITS_SIGNIN=1000000",
	}
	if e.pooler != nil {
		all = append(all[1:], "DEED_DATABASE_URL="+postgrestest.URL("postgres", e.pooler), "DEED_DATABASE_DIRECT_URL="+direct)
	}
	return all
}

func (e *env) startNode(i int, settings []string) {
	e.t.Helper()
	callers, operators := loopback(postgrestest.FreePort(e.t)), loopback(postgrestest.FreePort(e.t))
	name := fmt.Sprint("node", i+1)
	n := &node{callers: "http://" + callers, operators: "http://" + operators, process: &process{
		name: name, log: logFile(e.dir, name), args: []string{binary, "serve"},
		env: append([]string{"DEED_LISTEN=" + callers, "DEED_METRICS_LISTEN=" + operators, "DEED_DNS_LISTEN=" + loopback(postgrestest.FreePort(e.t)), "DEED_DATA=" + filepath.Join(e.dir, name)}, settings...),
	}}
	e.nodes[i] = n
	n.start(e.t)
	n.await(e.t, func() bool {
		if n.ended() { // as a supervisor does: a busy machine may be too slow for the first connection
			n.start(e.t)
		}
		return ok(n.callers + "/readyz")
	})
}

// ready waits until the node is ready.
func (n *node) ready(t *testing.T) {
	t.Helper()
	n.await(t, func() bool { return ok(n.callers + "/readyz") })
}

// metrics returns what Prometheus would read.
func (n *node) metrics() string {
	c := http.Client{Timeout: 5 * time.Second}
	res, err := c.Get(n.operators + "/metrics")
	if err != nil {
		return ""
	}
	defer res.Body.Close()          // it is read below
	text, _ := io.ReadAll(res.Body) // a node that ends has none
	return string(text)
}

func (e *env) startFront() {
	e.t.Helper()
	front := loopback(postgrestest.FreePort(e.t))
	p := &process{name: "haproxy", log: logFile(e.dir, "haproxy"), args: []string{"haproxy", "-db", "-f", "../deploy/haproxy/haproxy.cfg"}, env: []string{
		"PROXY_FRONTEND=" + front, "PROXY_NODE_ONE=" + strings.TrimPrefix(e.nodes[0].callers, "http://"), "PROXY_NODE_TWO=" + strings.TrimPrefix(e.nodes[1].callers, "http://")}}
	p.start(e.t)
	e.front = "http://" + front
	p.await(e.t, func() bool { return ok(e.front + "/readyz") })
}

// admin runs a command beside the first node, with its settings.
func (e *env) admin(args ...string) (out string, err error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, e.nodes[0].env...)
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}
