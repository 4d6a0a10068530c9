package app

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// fromOutside sends a request as another machine does: to an address that is no
// loopback address.
func fromOutside(t *testing.T, a *App, method, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	outside := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 8080}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, outside))
	w := httptest.NewRecorder()
	a.API.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Other machines use a sandbox only if it is public, so many times a minute, and are
// told where its chain is.
func TestPublicSandbox(t *testing.T) {
	const order = `{"walletAddress":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f"}`
	private, _ := serveNode(t, sandbox(t), newKey(t))
	if status, body := fromOutside(t, private, "POST", "/sandbox/faucet", order); status != http.StatusNotFound || !strings.Contains(body, "sandbox.public") {
		t.Errorf("a private sandbox: got %d %s", status, body)
	}
	c := sandbox(t)
	c.SandboxPublic, c.ChainListen, c.PublicURL = true, "0.0.0.0:0", "http://sandbox.internal:8080"
	warnings, err := c.Validate()
	if err != nil || !strings.Contains(strings.Join(warnings, "\n"), "PUBLIC SANDBOX") {
		t.Errorf("it is not loud: %v, %v", warnings, err)
	}
	public, _ := serveNode(t, c, newKey(t))
	if status, body := fromOutside(t, public, "POST", "/sandbox/faucet", order); status != http.StatusOK {
		t.Errorf("a public sandbox: got %d %s", status, body)
	}
	var shown api.Sandbox
	_, body := fromOutside(t, public, "GET", "/sandbox", "")
	if err := json.Unmarshal([]byte(body), &shown); err != nil || !strings.HasPrefix(shown.RPCURL, "http://sandbox.internal:") {
		t.Errorf("got %s, %v", body, err)
	}
	waitFor(t, func() bool { // a minute may end meanwhile, and another begin
		status, _ := fromOutside(t, public, "GET", "/sandbox", "")
		return status == http.StatusServiceUnavailable
	})
}

// A public sandbox cannot have another chain, whose money may be real.
func TestPublicSandboxOnAnotherChain(t *testing.T) {
	c := sandbox(t)
	c.SandboxPublic, c.ChainRPCURL, c.AllowEmbedded = true, "http://127.0.0.1:1", true
	if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "sandbox.public") {
		t.Errorf("got %v", err)
	}
}
