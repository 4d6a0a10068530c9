package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"deed.example/deed/internal/apitest"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// binary is the command itself, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deed")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) // it is temporary
		binary = filepath.Join(dir, "deed")
		if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// A node is a running `deed serve`.
type node struct {
	cmd                *exec.Cmd
	callers, operators string // base addresses
	welcome            string
	dns                string // address of its name server
	token              string // of who signed in, for send and payment; "" for nobody
	client             *http.Client
	log                *logtest.Buffer
}

// start runs `deed serve` on free ports with dir as its data folder.
func start(t *testing.T, dir string, environ ...string) *node {
	t.Helper()
	return startBinary(t, binary, dir, environ...)
}

func startBinary(t *testing.T, path, dir string, environ ...string) *node {
	t.Helper()
	n := &node{log: &logtest.Buffer{}, client: apitest.Client(t, nil)}
	n.cmd = exec.Command(path, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0")
	// Not even a home; and a busy machine must not fail a test.
	n.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "DEED_DATABASE_TIMEOUT=1m", "DEED_DATABASE_LOCK_TIMEOUT=1m", "DEED_DATABASE_IDLE_TIMEOUT=1m"}, environ...)
	n.cmd.Stderr = n.log
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.cmd.Process.Kill(); n.cmd.Wait() }) // it may have ended already
	for lines := bufio.NewScanner(out); lines.Scan(); {
		n.welcome += lines.Text() + "\n"
		switch words := strings.Fields(lines.Text()); {
		case len(words) == 2 && words[0] == "callers":
			n.callers = words[1]
		case len(words) == 2 && words[0] == "operators":
			n.operators = words[1]
		case len(words) > 1 && words[0] == "DNS":
			n.dns = strings.TrimSuffix(words[1], ",")
		case len(words) == 2 && strings.HasSuffix(words[1], "/openapi.json"):
			return n
		}
	}
	t.Fatalf("it did not start: %s%s", n.welcome, n.log)
	return nil
}

// stop ends the node gently and fails unless it ends well.
func (n *node) stop(t *testing.T) {
	t.Helper()
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, n.log)
	}
}

func (n *node) get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	client := n.client
	if strings.HasPrefix(url, n.operators) {
		client = http.DefaultClient // operators have no contract
	}
	res, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body), res.Header
}

func TestServeOnEmbeddedDefaults(t *testing.T) {
	n := start(t, t.TempDir())
	for line := range strings.Lines(n.welcome) { // everything it tells us to try works
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "curl "); ok {
			if status, body, _ := n.get(t, url); status != 200 {
				t.Errorf("%s: got %d %s", url, status, body)
			}
		}
	}
	waitFor(t, func() bool { // the first look into our wallets
		_, body, _ := n.get(t, n.operators+"/metrics")
		return strings.Contains(body, "deed_gas_wallet_ether 1\n") && strings.Contains(body, "deed_refund_wallet_usdc 1e+06\n")
	})
	if status, body, _ := n.get(t, n.operators+"/metrics"); status != 200 || !strings.Contains(body, `deed_http_request_seconds_count{route="GET /domains/pricing/{tld}",status="200"} 1`) {
		t.Errorf("metrics: got %d %s", status, body)
	}
	if status, _, _ := n.get(t, n.operators+"/debug/pprof/goroutine?debug=1"); status != 200 {
		t.Errorf("profiles: got %d", status)
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} { // private means private
		if status, _, _ := n.get(t, n.callers+path); status != 404 {
			t.Errorf("%s for callers: got %d", path, status)
		}
	}
	n.stop(t)
}

func TestServeOnPostgresAndRedis(t *testing.T) {
	redis := os.Getenv("TEST_REDIS_URL")
	if redis == "" {
		t.Skip("TEST_REDIS_URL is not set: `make test` starts a Redis server and sets it")
	}
	environ := []string{"DEED_DATABASE_URL=" + sqldbtest.PostgresURL(t), "DEED_CACHE_URL=" + redis, "DEED_SIGNIN_KEYS=" + filepath.Join(t.TempDir(), "keys"), "DEED_DNS_KEY=" + filepath.Join(t.TempDir(), "dns.key")}
	one := start(t, t.TempDir(), environ...)
	two := start(t, t.TempDir(), append(environ, "DEED_CHAIN_RPC_URL="+one.sandbox(t).RPCURL, "DEED_REGISTRAR_ALLOW_EMBEDDED=true")...)
	for _, n := range []*node{one, two} {
		if !strings.Contains(n.welcome, "PostgreSQL") {
			t.Errorf("got %s", n.welcome)
		}
		waitFor(t, func() bool { // a busy machine's first answers of Redis may come too late
			status, body, _ := n.get(t, n.callers+"/health")
			return status == 200 && strings.Contains(body, `"cache":{"status":"ok"`)
		})
	}
	if status, _, _ := two.get(t, two.callers+"/sandbox"); status != 404 {
		t.Errorf("the second node has a sandbox of its own: got %d", status)
	}
	two.stop(t)
	one.stop(t)
}

// A node with other token keys than its neighbours would refuse their tokens,
// and one with another secret for zones would make names bogus; neither starts.
func TestNodeWithOtherKeysIsRefused(t *testing.T) {
	url := "DEED_DATABASE_URL=" + sqldbtest.PostgresURL(t)
	dir := t.TempDir()
	start(t, dir, url)
	for key, same := range map[string]string{
		"signin.keys": "DEED_DNS_KEY=" + filepath.Join(dir, "dns.key"),
		"dns.key":     "DEED_SIGNIN_KEYS=" + filepath.Join(dir, "signin.keys"),
	} {
		cmd := exec.Command(binary, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0")
		cmd.Env = []string{url, same}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), key) {
			t.Errorf("another %s: got %v: %s", key, err, out)
		}
	}
}

// A restart, gentle or not, does not reset the daily window.
func TestRestartKeepsTheDailyWindow(t *testing.T) {
	dir := t.TempDir()
	register := func(n *node) string {
		res, err := n.client.Post(n.callers+"/domains/register", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close() // only the headers count
		return res.Header.Get("X-RateLimit-Remaining")
	}
	first := start(t, dir)
	before := register(first)
	first.stop(t)
	second := start(t, dir)
	after := register(second)
	if err := second.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	second.cmd.Wait() // it was killed
	third := start(t, dir)
	// At midnight UTC the window really is a new one.
	if got := before + after + register(third); got != "987" && time.Now().UTC().Hour() != 0 {
		t.Errorf("got %s left, want 9, 8 and 7", got)
	}
}

func TestSecondProcessOnOneFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	start(t, dir)
	out, err := exec.Command(binary, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another process is using this database") {
		t.Errorf("got %v: %s", err, out)
	}
}

// A request that is under way when the service is told to stop is answered.
func TestGracefulStop(t *testing.T) {
	n := start(t, t.TempDir())
	conn, err := net.Dial("tcp", strings.TrimPrefix(n.callers, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // the server closes it first
	const body = `{"message":"m","signature":"0x00"}`
	fmt.Fprintf(conn, "POST /auth/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100") { // the handler is reading now
		t.Fatalf("got %q, %v", line, err)
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(n.log.String(), "stopping") })
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	if _, err := answers.ReadString('\n'); err != nil { // ends the 100
		t.Fatal(err)
	}
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatalf("the answer was lost: %v", err)
	}
	res.Body.Close()           // only the status counts
	if res.StatusCode != 400 { // it is no sign-in message, and that was told
		t.Errorf("got %d", res.StatusCode)
	}
	if err := n.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, n.log)
	}
}

// waitFor waits until the condition holds; the test's own timeout is its limit.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		if t.Context().Err() != nil {
			t.Fatal("waited in vain")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestStartFailsWithAReason(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() // the port goes away with the test
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"port taken":        {[]string{"--listen", taken.Addr().String()}, "address already in use"},
		"no data folder":    {[]string{"--data", filepath.Join(file, "below")}, "data: make the folder"},
		"chain port taken":  {[]string{"--chain-listen", taken.Addr().String()}, "address already in use"},
		"another chain":     {[]string{"--chain-id", "8453"}, "chain.rpc_url"},
		"no such database":  {[]string{"--database-url", "postgres://u:hunter2@127.0.0.1:1/d"}, "127.0.0.1"},
		"an extra argument": {[]string{"got 1 argument"}, "got 1 argument"},
	} {
		args := append([]string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0"}, tt.args...)
		out, err := exec.Command(binary, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), tt.says) || strings.Contains(string(out), "hunter2") {
			t.Errorf("%s: got %v: %s", name, err, out)
		}
	}
}

func TestVersionAndConfigCheck(t *testing.T) {
	for args, want := range map[string]string{"version": "\n", "config check": "This would run:", "help": "serve"} {
		out, err := exec.Command(binary, strings.Fields(args)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("deed %s: got %v: %s", args, err, out)
		}
	}
}
