package main

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

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

// realConfig is a configuration in which everything but the registry is real.
func realConfig(t *testing.T) *config {
	t.Helper()
	c := defaultConfig()
	c.Data, c.ChainID, c.ChainRPCURL, c.ChainFirst, c.PayTo = t.TempDir(), 8453, "https://rpc.acme.net", 1, "0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
	c.PublicURL, c.Contact, c.Nameservers = "https://names.acme.net", "security@acme.net", []string{"ns1.acme.net", "ns2.acme.net"}
	c.Registrar.Name, c.Registrar.AbuseEmail, c.Registrar.AbusePhone = "Acme Names Ltd", "abuse@acme.net", "+44.2079460000"
	for path, at := range map[string]*string{"gas.key": &c.GasKey, "refund.key": &c.RefundKey} {
		*at = filepath.Join(t.TempDir(), path)
		writeHexKey(t, *at, hex.EncodeToString(crypto.FromECDSA(newKey(t))))
	}
	return c
}

func writeHexKey(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPlaceholdersAreRefusedWithRealMoney(t *testing.T) {
	if got := placeholders(realConfig(t)); len(got) != 0 {
		t.Errorf("real settings: got %q", got)
	}
	for key, spoil := range map[string]func(c *config){
		`public_url: ""`:                             func(c *config) { c.PublicURL = "" },
		`public_url: "https://deed.example"`:         func(c *config) { c.PublicURL = "https://deed.example" },
		`public_url: "http://127.0.0.1:8080"`:        func(c *config) { c.PublicURL = "http://127.0.0.1:8080" },
		`public_url: "http://localhost:8080"`:        func(c *config) { c.PublicURL = "http://localhost:8080" },
		`contact: "security@deed.example"`:           func(c *config) { c.Contact = defaultConfig().Contact },
		`contact: "me@example.com"`:                  func(c *config) { c.Contact = "me@example.com" },
		`rdap.registrar: "Deed"`:                     func(c *config) { c.Registrar.Name = "Deed" },
		`rdap.abuse_email: "abuse@deed.example"`:     func(c *config) { c.Registrar.AbuseEmail = defaultConfig().Registrar.AbuseEmail },
		`rdap.abuse_email: "abuse@mail.EXAMPLE.org"`: func(c *config) { c.Registrar.AbuseEmail = "abuse@mail.EXAMPLE.org" },
		`rdap.abuse_phone: "+1.2025550100"`:          func(c *config) { c.Registrar.AbusePhone = defaultConfig().Registrar.AbusePhone },
		`rdap.contact_url: "https://a.test/contact"`: func(c *config) { c.Registrar.Contact = "https://a.test/contact" },
		`dns.nameservers: "ns2.deed.example"`:        func(c *config) { c.Nameservers = []string{"ns1.acme.net", "ns2.deed.example"} },
	} {
		c := realConfig(t)
		spoil(c)
		if _, err := c.check(); err == nil || !strings.Contains(err.Error(), "\n  "+key+" is a placeholder\n") {
			t.Errorf("got %v, want it to name %s", err, key)
		}
		c.AllowEmbedded = true
		if warned, err := c.check(); err != nil || !slices.Contains(warned, "REHEARSAL: "+key+" is a placeholder") {
			t.Errorf("in a rehearsal: got %q, %v, want a warning of %s", warned, err, key)
		}
	}
	if got := placeholders(defaultConfig()); len(got) != 7 {
		t.Errorf("the defaults: got %q, want each of them", got)
	}
}

// Keys of a sandbox lie in a folder that nobody guards, and those of development
// chains are printed in every manual.
func TestSandboxKeysAreRefusedWithRealMoney(t *testing.T) {
	if _, err := realConfig(t).check(); err == nil || strings.Contains(err.Error(), "wallet") {
		t.Errorf("keys of our own: got %v", err)
	}
	const anvil = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // its first account
	treasury := newKey(t)
	inSandbox := func(c *config, name string) string { return filepath.Join(chainFolder(c), name) }
	for want, spoil := range map[string]func(c *config){
		"chain.gas_key: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 is the wallet of a development chain": func(c *config) {
			writeHexKey(t, c.GasKey, "0x"+anvil)
		},
		"pay_to: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 is the wallet of a development chain": func(c *config) {
			c.PayTo = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
		},
		"chain.refund_key: ": func(c *config) { // the file of the sandbox itself
			c.RefundKey = inSandbox(c, "refund.key")
			writeHexKey(t, c.RefundKey, hex.EncodeToString(crypto.FromECDSA(newKey(t))))
		},
		"chain.gas_key: ": func(c *config) { // a copy of it
			raw, err := os.ReadFile(c.GasKey)
			if err != nil {
				t.Fatal(err)
			}
			writeHexKey(t, inSandbox(c, "faucet.key"), string(raw))
		},
		"pay_to: " + crypto.PubkeyToAddress(treasury.PublicKey).Hex() + " is the wallet of the embedded chain": func(c *config) {
			writeHexKey(t, inSandbox(c, "treasury.key"), hex.EncodeToString(crypto.FromECDSA(treasury)))
			c.PayTo = crypto.PubkeyToAddress(treasury.PublicKey).Hex()
		},
	} {
		c := realConfig(t)
		spoil(c)
		if _, err := c.check(); err == nil || !strings.Contains(err.Error(), "\n  "+want) {
			t.Errorf("got %v, want it to say %s", err, want)
		}
		c.AllowEmbedded = true
		if warned, err := c.check(); err != nil || !slices.ContainsFunc(warned, func(w string) bool { return strings.HasPrefix(w, "REHEARSAL: "+want) }) {
			t.Errorf("in a rehearsal: got %q, %v, want %s", warned, err, want)
		}
	}
	for _, address := range developmentWallets {
		if common.HexToAddress(address).Hex() != address {
			t.Errorf("%s is misspelled", address)
		}
	}
	missing := realConfig(t)
	missing.RefundKey, missing.AllowEmbedded = "", true
	if _, err := missing.check(); err == nil || !strings.Contains(err.Error(), "chain.refund_key") {
		t.Errorf("no refund key: got %v", err)
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
