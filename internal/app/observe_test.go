package app

import (
	"bufio"
	"crypto/ecdsa"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/logtest"
)

// serveNode serves a node with its worker, and returns a client without money.
func serveNode(t *testing.T, c Config, key *ecdsa.PrivateKey) (*App, *client.Client) {
	t.Helper()
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	node := httptest.NewServer(a.API.Handler())
	t.Cleanup(node.Close)
	buyer, err := client.New(node.URL, client.WithWallet(client.NewKey(key)), client.WithMaxPayment(100*client.Dollar))
	if err != nil {
		t.Fatal(err)
	}
	return a, buyer
}

// serveSandbox is serveNode with test money for the client.
func serveSandbox(t *testing.T, c Config) (*App, *client.Client) {
	t.Helper()
	key := newKey(t)
	a, buyer := serveNode(t, c, key)
	if _, err := buyer.Faucet(t.Context(), api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex()}); err != nil {
		t.Fatal(err)
	}
	return a, buyer
}

// buyName buys a name and waits until it is registered, also on a slow machine.
func buyName(t *testing.T, c *client.Client, domain string) error {
	t.Helper()
	o, err := c.Register(t.Context(), api.RegisterRequest{Domain: domain})
	if err == nil && o.Done == nil {
		_, err = c.WaitJob(t.Context(), o.JobID)
	}
	return err
}

// linesOf returns the messages of the lines about a name, in their order.
func linesOf(t *testing.T, log, domain string) (messages []string) {
	t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(log)); lines.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line["domain"] == domain {
			messages = append(messages, line["msg"].(string))
		}
	}
	return messages
}

// A purchase is in the log step by step, with its ids, and so is one that fails and is
// refunded. No line has a secret.
func TestPurchaseIsInTheLog(t *testing.T) {
	var logged logtest.Buffer
	c := sandbox(t)
	c.Log = slog.New(slog.NewJSONHandler(&logged, nil))
	_, buyer := serveSandbox(t, c)
	o, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "logged.com"})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		return containsAll(linesOf(t, logged.String(), "logged.com"), "order.fulfilled", "domain.registered", "order")
	})
	if !containsAll(linesOf(t, logged.String(), "logged.com"), "order.accepted", "payment.sent", "payment.settled", "job.completed") {
		t.Errorf("got %v", linesOf(t, logged.String(), "logged.com"))
	}
	if !strings.Contains(logged.String(), `"jobId":"`+o.JobID) {
		t.Errorf("the log does not have job %s", o.JobID)
	}
	if _, err := buyer.SetFaults(t.Context(), api.FaultsRequest{Registrar: "refuse", Times: new(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.Register(t.Context(), api.RegisterRequest{Domain: "refused.com"}); err == nil {
		t.Fatal("it was sold")
	}
	waitFor(t, func() bool {
		return containsAll(linesOf(t, logged.String(), "refused.com"), "job.failed", "refund.due", "refund.sending", "refund.sent")
	})
}

func containsAll(got []string, want ...string) bool {
	for _, w := range want {
		found := false
		for _, g := range got {
			found = found || g == w
		}
		if !found {
			return false
		}
	}
	return true
}
