package app

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/miekg/dns"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/operatorapi"
)

// operate sends a request to the operators' listener of a node.
func operate(t *testing.T, a *App, token string, in operatorapi.Request) (int, operatorapi.Response) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", a.OperatorsURL()+"/operator", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	var out operatorapi.Response
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return res.StatusCode, out
}

// operated serves operators and returns a function that acts with the node's token.
func operated(t *testing.T, a *App) func(action string, args ...string) string {
	t.Helper()
	go a.operators.Serve(a.operators.Listener) // ends when the listener is closed
	t.Cleanup(func() { a.operators.Close() })  // likewise
	token, err := os.ReadFile(a.config.OperatorTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return func(action string, args ...string) string {
		t.Helper()
		status, out := operate(t, a, strings.TrimSpace(string(token)), operatorapi.Request{Action: action, Args: args, Operator: "anna", Reason: "a test"})
		if status != 200 {
			t.Fatalf("%s %v: got %d %s", action, args, status, out.Error)
		}
		return strings.Join(out.Lines, "\n")
	}
}

// Operators stop sales, block a wallet and suspend a name while the node runs, and each
// act is written down. Nobody else does.
func TestOperate(t *testing.T) {
	key := newKey(t)
	a, buyer := serveNode(t, sandbox(t), key)
	wallet := client.NewKey(key).Address().Hex()
	if _, err := buyer.Faucet(t.Context(), api.FaucetRequest{WalletAddress: wallet}); err != nil {
		t.Fatal(err)
	}
	do := operated(t, a)
	buy := func(domain string) string {
		_, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: domain, DNSRecords: []api.RecordRequest{{Type: "A", Host: "www", Value: "192.0.2.7"}}})
		return client.CodeOf(err)
	}
	if code := buy("first.com"); code != "" {
		t.Fatalf("got %s", code)
	}
	for _, token := range []string{"", "wrong"} {
		if status, _ := operate(t, a, token, operatorapi.Request{Action: "stop", Args: []string{"purchases"}, Operator: "eve", Reason: "x"}); status != 401 {
			t.Errorf("token %q: got %d", token, status)
		}
	}
	do("stop", "purchases")
	if code := buy("second.com"); code != client.CodeUnavailable {
		t.Errorf("while purchases are stopped: got %q", code)
	}
	do("start", "purchases")
	do("block", wallet)
	if code := buy("second.com"); code != client.CodeOwnershipDenied {
		t.Errorf("a blocked wallet: got %q", code)
	}
	do("unblock", wallet)
	if code := buy("second.com"); code != "" {
		t.Errorf("an unblocked wallet: got %q", code)
	}
	do("suspend", "first.com")
	waitFor(t, func() bool { return !resolves(t, a, "www.first.com.") })
	do("unsuspend", "first.com")
	waitFor(t, func() bool { return resolves(t, a, "www.first.com.") })
	if actions := do("actions"); strings.Count(actions, "anna") != 6 || strings.Contains(actions, "eve") {
		t.Errorf("got %s", actions)
	}
	if found := do("find", "first.com"); !strings.Contains(found, "consumed") {
		t.Errorf("got %s", found)
	}
	if float := do("float"); !strings.Contains(float, "gas wallet") {
		t.Errorf("got %s", float)
	}
}

// resolves reports whether the name server of the node has an address of the host.
func resolves(t *testing.T, a *App, host string) bool {
	t.Helper()
	r, err := dns.Exchange(new(dns.Msg).SetQuestion(host, dns.TypeA), a.DNS())
	return err == nil && len(r.Answer) > 0
}

// While publishing is stopped, name servers keep what they have; afterwards they catch
// up. While refunds are stopped, they wait.
func TestStopPublishingAndRefunds(t *testing.T) {
	a, buyer := serveSandbox(t, sandbox(t))
	do := operated(t, a)
	do("stop", "publishing")
	do("stop", "refunds")
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "kept.com", DNSRecords: []api.RecordRequest{{Type: "A", Host: "www", Value: "192.0.2.7"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.SetFaults(t.Context(), api.FaultsRequest{Registrar: "refuse", Times: new(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "refused.com"}); err == nil {
		t.Fatal("it was sold")
	}
	waitFor(t, func() bool {
		return strings.Contains(do("timeline", "refused.com"), "refunds are stopped by an operator")
	})
	if resolves(t, a, "www.kept.com.") {
		t.Error("it was published")
	}
	do("start", "publishing")
	do("start", "refunds")
	do("retry", "refused.com")
	waitFor(t, func() bool { return resolves(t, a, "www.kept.com.") })
	waitFor(t, func() bool { return strings.Contains(do("find", "refused.com"), "refunded") })
}

// The operators' page shows what is under way without a token, and nothing of customers.
func TestOperatorsPage(t *testing.T) {
	key := newKey(t)
	a, buyer := serveNode(t, sandbox(t), key)
	wallet := client.NewKey(key).Address().Hex()
	if _, err := buyer.Faucet(t.Context(), api.FaucetRequest{WalletAddress: wallet}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "private.com"}); err != nil {
		t.Fatal(err)
	}
	do := operated(t, a)
	do("stop", "refunds")
	var page string
	waitFor(t, func() bool {
		status, body := get(t, a.OperatorsURL()+"/")
		page = body
		return status == 200 && strings.Contains(body, "seen ")
	})
	for _, want := range []string{"database", "next nonce", "Stopped by an operator", "local"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "private.com") || strings.Contains(strings.ToLower(page), strings.ToLower(wallet)) {
		t.Error("the page tells of a customer")
	}
	if status, _ := get(t, a.OperatorsURL()+"/metrics"); status != 200 {
		t.Errorf("metrics: got %d", status)
	}
}
