package main

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// onOutsideChain are the flags of a service on a chain that is not the embedded one.
func onOutsideChain(dir, chainID string) []string {
	return []string{"--data", dir, "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--dns-listen", "off", "--chain-id", chainID, "--chain-rpc-url", "http://127.0.0.1:1"}
}

// Whoever takes money that may be real must not sell names of the embedded
// registry for it, unless it is said to be a rehearsal.
func TestRealMoneyIsRefusedWithTheEmbeddedRegistry(t *testing.T) {
	for _, chainID := range []string{"8453", "84532", "1"} {
		for _, command := range []string{"serve", "config check"} {
			dir := filepath.Join(t.TempDir(), "data")
			args := append(strings.Fields(command), onOutsideChain(dir, chainID)...)
			out, err := exec.Command(binary, args...).CombinedOutput()
			for _, want := range []string{"chain " + chainID + " is not the embedded one", "registrar: names come from the embedded registry", `contact: "security@deed.example" is a placeholder`, "registrar.allow_embedded = true"} {
				if err == nil || !strings.Contains(string(out), want) {
					t.Errorf("%s on chain %s: got %v: %s, want %q", command, chainID, err, out, want)
				}
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s made a data folder before it refused: %v", command, err)
			}
		}
		out, err := exec.Command(binary, append([]string{"config", "check", "--registrar-allow-embedded", "true"}, onOutsideChain(t.TempDir(), chainID)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "warning   REHEARSAL: registrar: names come from the embedded registry") {
			t.Errorf("a rehearsal on chain %s: got %v: %s", chainID, err, out)
		}
	}
	out, err := exec.Command(binary, "config", "check", "--chain-id", "8453", "--registrar-allow-embedded", "true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "set chain.rpc_url") {
		t.Errorf("the embedded chain as Base: got %v: %s", err, out)
	}
}

// A rehearsal starts, and says that it is one where nobody can miss it.
func TestRehearsalIsLoud(t *testing.T) {
	n := start(t, t.TempDir(), "DEED_CHAIN_RPC_URL="+start(t, t.TempDir()).sandbox(t).RPCURL, "DEED_REGISTRAR_ALLOW_EMBEDDED=true")
	if !strings.Contains(n.welcome, "this is a REHEARSAL") {
		t.Errorf("got %s", n.welcome)
	}
	for _, want := range []string{`"level":"WARN","msg":"REHEARSAL: registrar: names come from the embedded registry`, `"msg":"REHEARSAL: dns.nameservers`} {
		waitFor(t, func() bool { return strings.Contains(n.log.String(), want) })
	}
}

// A node on an outside chain that has no treasury starts, so that it can be
// looked at, and tells load balancers and payers to go elsewhere.
func TestNodeWithoutATreasuryIsNotReady(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { withoutTreasury(t) })
	t.Run("postgres", func(t *testing.T) { withoutTreasury(t, "DEED_DATABASE_URL="+sqldbtest.PostgresURL(t)) })
}

func withoutTreasury(t *testing.T, environ ...string) {
	dir := t.TempDir()
	before := start(t, dir, environ...) // a sandbox, in which a name is sold
	owner := before.rich(t)
	bought := before.buy(t, owner, "/domains/register", map[string]string{"domain": "treasury.com"}, 201)
	before.stop(t)
	n := start(t, dir, append(environ, "DEED_CHAIN_RPC_URL="+start(t, t.TempDir()).sandbox(t).RPCURL, "DEED_REGISTRAR_ALLOW_EMBEDDED=true")...)

	if status, body, _ := n.get(t, n.callers+"/readyz"); status != 503 || !strings.Contains(body, "pay_to") || !strings.Contains(body, "SERVICE_UNAVAILABLE") {
		t.Errorf("/readyz: got %d %s", status, body)
	}
	waitFor(t, func() bool { return strings.Contains(n.log.String(), "pay_to is not set") })
	n.token = n.signIn(t, owner).AccessToken
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/domains/register", ""}, {"POST", "/domains/register", `{"domain":"other.com"}`},
		{"POST", "/domains/renew", `{"domain":"treasury.com"}`}, {"POST", "/domains/transfer", `{"domain":"other.com","authCode":"code"}`},
		{"POST", "/dns/treasury.com", `{"type":"A","host":"@","value":"192.0.2.1"}`}, {"PUT", "/dns/treasury.com/rec_1", `{"ttl":60}`},
		{"DELETE", "/dns/treasury.com/rec_1", ""}, {"POST", "/dns/treasury.com/batch", `{"changes":[{"op":"delete","id":"rec_1"}]}`},
	} {
		status, body := n.try(t, call.method, call.path, call.body)
		if status != 503 || !strings.Contains(body, "pay_to") || strings.Contains(body, "accepts") {
			t.Errorf("%s %s: got %d %s, want 503 before any offer", call.method, call.path, status, body)
		}
	}
	for _, path := range []string{
		"/livez", "/health", "/domains/pricing/com", "/domains/search?query=other&tlds=com", "/domains/check?domains=other.com", "/domains/treasury.com", "/domains/status/" + bought.JobID,
		"/dns/treasury.com", "/dns/treasury.com/export", "/account", "/account/domains", "/account/transactions", "/rdap/domain/treasury.com", "/.well-known/agent-card.json", "/llms.txt",
	} {
		if status, body := n.try(t, "GET", path, ""); status != 200 {
			t.Errorf("%s is free: got %d %s", path, status, body)
		}
	}
	if status := n.call(t, "PUT", "/domains/treasury.com/lock", n.token, api.LockRequest{Locked: new(false)}, nil); status != 200 {
		t.Errorf("the owner cannot unlock the name: got %d", status)
	}
	var report api.Health
	if n.call(t, "GET", "/health", "", nil, &report); report.Status != "degraded" {
		t.Errorf("got health %+v", report)
	}
	n.stop(t)
}

// try makes a call as who is signed in, without a payment.
func (n *node) try(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, n.callers+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+n.token)
	res, err := n.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}
