package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// Without a usable wallet, the first line says why, and no paid tool is offered.
func TestMCPSaysWhyNoWalletCanSign(t *testing.T) {
	home := t.TempDir()
	passwords := map[string]string{}
	for _, word := range []string{"right", "wrong"} {
		passwords[word] = filepath.Join(t.TempDir(), word)
		if err := os.WriteFile(passwords[word], []byte(word), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := exec.Command(service.Binary, "wallet", "new", "--password-file", passwords["right"])
	made.Env = []string{"XDG_CONFIG_HOME=" + home}
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	limits := []string{"--max-price", "20", "--budget", "50"}
	for name, c := range map[string]struct {
		environ, args []string
		says          string
	}{
		"no wallet":            {nil, limits, "deed wallet new"},
		"no wallet, no limits": {nil, nil, "deed wallet new"},
		"a bad key":            {[]string{"DEED_PRIVATE_KEY=hunter2"}, limits, "DEED_PRIVATE_KEY"},
		"no password":          {[]string{"XDG_CONFIG_HOME=" + home}, limits, "--password-file"},
		"a wrong password":     {[]string{"XDG_CONFIG_HOME=" + home}, append([]string{"--password-file", passwords["wrong"]}, limits...), "password"},
		"no password file":     {[]string{"XDG_CONFIG_HOME=" + home}, append([]string{"--password-file", passwords["right"] + "s"}, limits...), "no such file"},
		"no such wallet":       {[]string{"XDG_CONFIG_HOME=" + home}, append([]string{"--wallet", "savings"}, limits...), "savings"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveAgent(t, c.environ, c.args...)
			s.said.await(t, "\n")
			for where, said := range map[string]string{"on stderr": s.said.String(), "the instructions": s.InitializeResult().Instructions} {
				if !strings.Contains(said, "no wallet can sign here") || !strings.Contains(said, c.says) || strings.Contains(said, "hunter2") || strings.Contains(said, "BUYS") {
					t.Errorf("%s: %s, want %q", where, said, c.says)
				}
			}
			tools := s.tools(t)
			for _, name := range paidTools {
				if tools[name] != nil {
					t.Errorf("%s is offered", name)
				}
			}
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "register_domain", Arguments: arguments(t, `{"domain":"free-for-agents.com"}`)}); err == nil || !strings.Contains(err.Error(), "not offered here: no wallet can sign here") {
				t.Errorf("got %v", err)
			}
			if r, text := s.use(t, "search_domains", `{"query":"free-for-agents","tlds":["com"]}`); r.IsError || !strings.Contains(text, `"available":true`) {
				t.Errorf("got %s", text)
			}
			if r, text := s.use(t, "get_account", `{}`); !r.IsError || !strings.Contains(text, "AUTH_REQUIRED") {
				t.Errorf("got %s", text)
			}
			got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "deed://openapi"})
			if err != nil || !strings.Contains(got.Contents[0].Text, `"openapi"`) {
				t.Errorf("got %v", err)
			}
		})
	}
	// With its password the same wallet can sign.
	s := serveAgent(t, []string{"XDG_CONFIG_HOME=" + home}, append([]string{"--password-file", passwords["right"]}, limits...)...)
	s.said.await(t, "agents may spend up to 20.00 USDC")
	if got, want := s.tools(t), agent.Tools(true); len(got) != len(want) {
		t.Errorf("got %d tools, want %d", len(got), len(want))
	}
}

// Neither a dry run nor a free call is paid, even if the service responds with an
// offer.
func TestMCPNeverPaysForQuote(t *testing.T) {
	w := newFundedWallet(t)
	base, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	var paid atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(base)
	lying := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("PAYMENT-SIGNATURE") != "" {
			paid.Add(1)
		}
		body := `{"domain":"` + w.label + `.com"}` // turns every request into an order
		r.Method, r.URL.Path, r.URL.RawQuery, r.Body, r.ContentLength = "POST", "/domains/register", "", io.NopCloser(strings.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", "application/json")
		forward.ServeHTTP(rw, r)
	}))
	defer lying.Close()
	s := serveAgent(t, w.environ(), "--server", lying.URL, "--max-price", "20", "--budget", "50")
	for tool, args := range map[string]string{"register_domain": `{"domain":"` + w.label + `.com","dry_run":true}`, "check_domains": `{"domains":["a.com"]}`} {
		if r, text := s.use(t, tool, args); !r.IsError || !strings.Contains(text, "PAYMENT_REQUIRED") || !strings.Contains(text, "nothing was signed") {
			t.Errorf("%s: got %s", tool, text)
		}
	}
	if paid.Load() != 0 {
		t.Errorf("it paid %d times", paid.Load())
	}
	w.spent(t, 0)
}

func TestMCPInvalidLimits(t *testing.T) {
	for _, args := range [][]string{{"--budget", "much"}, {"--budget", "-1"}, {"--max-price", "1e6"}} {
		cmd := exec.Command(service.Binary, append([]string{"mcp"}, args...)...)
		cmd.Env = []string{"XDG_CONFIG_HOME=" + t.TempDir()}
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), args[0]) {
			t.Errorf("%v: got %v: %s", args, err, out)
		}
	}
}
