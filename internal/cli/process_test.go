package cli_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// A shell runs commands with its own environment.
type shell struct{ env []string }

func newShell(t *testing.T, server string) (*shell, *client.Key) {
	t.Helper()
	secret, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	key := client.NewKey(secret)
	return &shell{env: []string{
		"XDG_CONFIG_HOME=" + t.TempDir(), "DEED_SERVER=" + server,
		"DEED_PRIVATE_KEY=" + hex.EncodeToString(crypto.FromECDSA(secret)),
	}}, key
}

func (s *shell) command(args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(service.Binary, args...)
	cmd.Env = s.env
	said := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, said
}

func (s *shell) run(t *testing.T, want int, args ...string) string {
	t.Helper()
	cmd, said := s.command(args...)
	_ = cmd.Run() // the exit code is checked
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%v: got exit code %d, want %d: %s", args, got, want, said)
	}
	return said.String()
}

// Commands that find the same expired token refresh it once: using the refresh
// token twice would revoke the session.
func TestCommandsShareSignIn(t *testing.T) {
	s, _ := newShell(t, service.URL)
	s.run(t, 0, "login")
	folder := strings.TrimPrefix(s.env[0], "XDG_CONFIG_HOME=")
	s.env = s.env[:2] // without the key: signing in again is impossible
	for range 2 {
		age(t, folder)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { s.run(t, 0, "whoami") })
		}
		wg.Wait()
	}
}

// age makes the stored access token look expired.
func age(t *testing.T, folder string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "deed", "signin", "*.json"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("got %v, %v", paths, err)
	}
	raw, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var saved map[string]any
	if err := json.Unmarshal(raw, &saved); err != nil {
		t.Fatal(err)
	}
	saved["expires"] = time.Now().Add(-time.Hour).Format(time.RFC3339)
	if raw, err = json.Marshal(saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(paths[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// An interrupted purchase with a lost response is repeated by the same command,
// and paid once.
func TestInterruptedPurchaseIsRepeated(t *testing.T) {
	target, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	paid := make(chan string, 100) // paths
	var lose atomic.Bool           // responses to paid requests
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !lose.Load() || r.Header.Get("PAYMENT-SIGNATURE") == "" {
			forward.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(httptest.NewRecorder(), r.Clone(context.WithoutCancel(r.Context()))) // processed, but the response is lost
		paid <- r.URL.Path
		<-r.Context().Done()
	}))
	defer front.Close()
	s, key := newShell(t, front.URL)
	c, err := client.New(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Faucet(t.Context(), api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
		t.Fatal(err)
	}
	name := strings.ToLower("i" + key.Address().Hex()[2:12] + ".com")
	for _, step := range []struct{ command, balance string }{{"register", "986.94\n"}, {"renew", "973.88\n"}} {
		order := []string{step.command, name, "--max-price", "20"}
		lose.Store(true)
		cmd, said := s.command(order...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for <-paid != "/domains/"+step.command {
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the exit code is checked
		if got := cmd.ProcessState.ExitCode(); got != 130 || !strings.Contains(said.String(), "run the same command again") {
			t.Fatalf("%s: got exit code %d: %s", step.command, got, said)
		}
		lose.Store(false)
		if out := s.run(t, 0, order...); strings.Contains(out, "authorizing") || !strings.Contains(out, name) {
			t.Errorf("%s: it signed anew: %s", step.command, out)
		}
		if out := s.run(t, 0, "wallet", "balance"); out != step.balance {
			t.Errorf("%s: got %s", step.command, out)
		}
	}
}
