package cli_test

import (
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// serveAgent runs `deed mcp` for an agent, with a key unless it is "".
func serveAgent(t *testing.T, key string, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(service.Binary, append([]string{"mcp"}, args...)...)
	cmd.Env = []string{"XDG_CONFIG_HOME=" + t.TempDir(), "DEED_SERVER=" + service.URL, "DEED_PRIVATE_KEY=" + key}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() }) // the command ends with its input
	return session
}

// use calls a tool and returns its result with all that it said as text.
func use(t *testing.T, s *mcp.ClientSession, tool, args string) (*mcp.CallToolResult, string) {
	t.Helper()
	var arguments map[string]any
	if err := json.Unmarshal([]byte(args), &arguments); err != nil {
		t.Fatal(err)
	}
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text + "\n"
	}
	return r, text
}

// richKey returns the key of a wallet with 1000 play USDC, and a label of its own.
func richKey(t *testing.T) (key, label string) {
	t.Helper()
	k, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	address := crypto.PubkeyToAddress(k.PublicKey).Hex()
	c, err := client.New(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Faucet(t.Context(), api.FaucetRequest{WalletAddress: address}); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(crypto.FromECDSA(k)), "m" + strings.ToLower(address[2:18])
}

// An agent buys below the cap that a person set, and not above it, whatever it
// says itself.
func TestAgentPaysBelowTheCap(t *testing.T) {
	key, label := richKey(t)
	order := `{"domain":"` + label + `.com","max_price_usd":"100"}`
	for name, c := range map[string]struct {
		key  string
		args []string
		want string
	}{
		"no cap":    {key, nil, "the local wallet pays nothing until a person says how much: deed mcp --max-price"},
		"yes only":  {key, []string{"--yes"}, "the local wallet pays nothing until a person says how much: deed mcp --max-price"},
		"low cap":   {key, []string{"--max-price", "13"}, "Only a person can raise the limit: deed mcp --max-price 13.06"},
		"no wallet": {"", []string{"--max-price", "20"}, "there is no local wallet to pay with"},
	} {
		if r, text := use(t, serveAgent(t, c.key, c.args...), "register_domain", order); !r.IsError || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
	s := serveAgent(t, key, "--max-price", "20")
	if r, text := use(t, s, "register_domain", order); r.IsError || !strings.Contains(text, `"status":"active"`) || r.Meta["x402/payment-response"] == nil {
		t.Errorf("got %s", text)
	}
	// The wallet signs in by itself.
	if r, text := use(t, s, "list_my_domains", `{}`); r.IsError || !strings.Contains(text, label+".com") {
		t.Errorf("got %s", text)
	}
	if r, text := use(t, s, "get_account", `{"access_token":"a.b.c"}`); !r.IsError || !strings.Contains(text, "TOKEN_INVALID") {
		t.Errorf("another's token: got %s", text)
	}
	if r, text := use(t, s, "list_transactions", `{}`); r.IsError || strings.Count(text, "transactionId") != 1 {
		t.Errorf("got %s", text)
	}
}

// Without a wallet there is still all that everyone may do.
func TestAgentWithoutAWallet(t *testing.T) {
	s := serveAgent(t, "")
	if r, text := use(t, s, "search_domains", `{"query":"free-for-agents","tlds":["com"]}`); r.IsError || !strings.Contains(text, `"available":true`) {
		t.Errorf("got %s", text)
	}
	if r, text := use(t, s, "get_account", `{}`); !r.IsError || !strings.Contains(text, "AUTH_REQUIRED") {
		t.Errorf("got %s", text)
	}
	got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "deed://openapi"})
	if err != nil || !strings.Contains(got.Contents[0].Text, `"openapi"`) {
		t.Errorf("got %v", err)
	}
}
