package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A refund is of one order or of the dust of a wallet, and always has an operator and a
// reason.
func TestRefundArguments(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "an order ID or --dust WALLET is required",
		"pay_1 --dust 0x1 --reason why": "an order ID and --dust cannot be used together",
		"pay_1":                         "--reason is required",
		"pay_1 --operator=":             "--operator is required",
		"--dust 0x1":                    "--reason is required",
	} {
		cmd := refundCommand()
		cmd.SetArgs(strings.Fields(args))
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		if err := cmd.Execute(); err == nil || err.Error() != want {
			t.Errorf("refund %s: got %v, want %s", args, err, want)
		}
	}
}

// The listener of a node is named by its address or its URL.
func TestNodeOfOperatorCommands(t *testing.T) {
	node, data := startFakeNode(t, `{"lines":["done"]}`)
	addr := node.Listener.Addr().String()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--node", addr}, {"--node", "localhost:" + port}, {"--node", node.URL}, {"--node", node.URL + "/"}, {"--metrics-listen", addr}, {"--metrics-listen", ":" + port}} {
		out, err := runActions(data, args...)
		if err != nil || out != "done\n" {
			t.Errorf("%v: got %q, %v", args, out, err)
		}
	}
	if _, err := runActions(data, "--metrics-listen", "off"); err == nil || !strings.Contains(err.Error(), "--node") {
		t.Errorf("without a listener: got %v", err)
	}
}

// A reason is what somebody wrote, and a cause what a registry said: neither makes another
// row, nor moves the cursor.
func TestOperatorCommandsPrintPlainText(t *testing.T) {
	node, data := startFakeNode(t, `{"lines":["AT\tREASON","1\tx\n2\tforged","3\t\u001b[2Jgone"]}`)
	out, err := runActions(data, "--node", node.URL)
	if want := "AT  REASON\n1   x 2  forged\n3   \ufffd[2Jgone\n"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

// startFakeNode starts an operators' listener that gives one answer, and returns the folder
// with its token.
func startFakeNode(t *testing.T, answer string) (node *httptest.Server, data string) {
	t.Helper()
	node = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/operator" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("got %s with %s", r.URL, r.Header)
		}
		_, _ = io.WriteString(w, answer) // the command reports what is missing
	}))
	t.Cleanup(node.Close)
	data = t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "operator.token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return node, data
}

// runActions runs `deed admin actions` and returns what it prints.
func runActions(data string, args ...string) (string, error) {
	cmd := lookCommand("actions", "", cobra.NoArgs)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(append([]string{"--data", data}, args...))
	err := cmd.Execute()
	return out.String(), err
}
