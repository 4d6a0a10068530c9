package cli_test

import (
	"encoding/hex"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// An agentServer is `deed mcp` with an agent connected to it.
type agentServer struct {
	*mcp.ClientSession
	said *buffer // on stderr
}

// buffer collects the output of a process.
type buffer struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// await waits until the process has written a text.
func (b *buffer) await(t *testing.T, text string) {
	t.Helper()
	for !strings.Contains(b.String(), text) {
		if t.Context().Err() != nil {
			t.Fatalf("waited in vain for %q: %s", text, b)
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serveAgent runs `deed mcp` with the given environment and arguments. Its client
// cannot ask a user.
func serveAgent(t *testing.T, environ []string, args ...string) agentServer {
	t.Helper()
	return serveAsking(t, nil, environ, args...)
}

// serveAsking is serveAgent with a client of the given abilities.
func serveAsking(t *testing.T, abilities *mcp.ClientOptions, environ []string, args ...string) agentServer {
	t.Helper()
	s := agentServer{said: &buffer{}}
	cmd := exec.Command(service.Binary, append([]string{"mcp"}, args...)...)
	cmd.Env = append([]string{"XDG_CONFIG_HOME=" + t.TempDir(), "DEED_SERVER=" + service.URL}, environ...)
	cmd.Stderr = s.said
	var err error
	if s.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, abilities).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil); err != nil {
		t.Fatalf("%v: %s", err, s.said)
	}
	t.Cleanup(func() { s.Close() }) // the command ends with its input
	return s
}

// use calls a tool and returns its result and its text.
func (s agentServer) use(t *testing.T, tool, args string) (*mcp.CallToolResult, string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments(t, args)})
	if err != nil {
		t.Fatal(err)
	}
	return r, textOf(r)
}

func arguments(t *testing.T, args string) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(args), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func textOf(r *mcp.CallToolResult) string {
	text := ""
	for _, c := range r.Content {
		text += c.(*mcp.TextContent).Text + "\n"
	}
	return text
}

// tools returns the tools that are offered, by name.
func (s agentServer) tools(t *testing.T) map[string]*mcp.Tool {
	t.Helper()
	out := map[string]*mcp.Tool{}
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		out[tool.Name] = tool
	}
	return out
}

// A fundedWallet has 1000 test USDC.
type fundedWallet struct {
	key, address, label string // label is an unused name
}

func newFundedWallet(t *testing.T) fundedWallet {
	t.Helper()
	k, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	address := crypto.PubkeyToAddress(k.PublicKey).Hex()
	w := fundedWallet{hex.EncodeToString(crypto.FromECDSA(k)), address, "m" + strings.ToLower(address[2:18])}
	if got := w.faucet(t, ""); got != "1000.00" {
		t.Fatalf("got %s", got)
	}
	return w
}

func (w fundedWallet) environ() []string { return []string{"DEED_PRIVATE_KEY=" + w.key} }

// faucet funds the wallet and returns the new balance.
func (w fundedWallet) faucet(t *testing.T, amount string) string {
	t.Helper()
	c, err := client.New(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.Faucet(t.Context(), api.FaucetRequest{WalletAddress: w.address, Amount: amount})
	if err != nil {
		t.Fatal(err)
	}
	return out.Balance
}

// spent fails unless the wallet has spent this amount.
func (w fundedWallet) spent(t *testing.T, want client.USDC) {
	t.Helper()
	if got, left := w.faucet(t, "1.00"), (1001*client.Dollar - want).String(); got != left {
		t.Errorf("got a balance of %s, want %s", got, left)
	}
}
