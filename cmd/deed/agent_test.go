package main

import (
	"bufio"
	"encoding/hex"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/internal/npmtest"
)

// An agent that others wrote, with nothing but a key and an address, buys a name
// over MCP and sets it up.
func TestStockAgent(t *testing.T) {
	const dir = "testdata/agents"
	npmtest.Install(t, dir)
	n := start(t, t.TempDir())
	got := npmtest.Run(t, dir, "node", "pay.mjs", n.callers, "0x"+hex.EncodeToString(crypto.FromECDSA(n.rich(t))), "my-agent.com")
	compareTranscript(t, "## MCP", got)
}

// Another one uses the wallet of its user, through `deed mcp`: the user is asked
// about each payment, and nothing is paid above the budget. Both ways to ask are
// tried: that of the protocol until 2025, and the one since 2026.
func TestStockAgentOnStdio(t *testing.T) {
	const dir = "testdata/agents"
	npmtest.Install(t, dir)
	n := start(t, t.TempDir(), "DEED_LIMITS_REGISTER=100")
	for mode, domain := range map[string]string{"legacy": "my-assistant.com", "auto": "my-other-assistant.com"} {
		key := "0x" + hex.EncodeToString(crypto.FromECDSA(n.rich(t)))
		got := npmtest.Run(t, dir, "node", "stdio.mjs", binary, n.callers, key, t.TempDir(), domain, mode)
		compareTranscript(t, "### A transcript with `deed mcp`", strings.ReplaceAll(got, domain, "my-assistant.com"))
	}
}

// Another does the same over A2A: it finds the service by its card, checks who
// signed that, and follows an order whose registry is late.
func TestStockAgentOverA2A(t *testing.T) {
	const dir = "testdata/finders"
	npmtest.Install(t, dir)
	n := start(t, t.TempDir())
	if status := n.call(t, "POST", "/sandbox/faults", "", api.FaultsRequest{Registrar: "late", Times: new(1)}, nil); status != 200 {
		t.Fatalf("make the registry late: got %d", status)
	}
	cmd := exec.CommandContext(t.Context(), "node", "a2a.mjs", n.callers, "0x"+hex.EncodeToString(crypto.FromECDSA(n.rich(t))), "my-peer.com")
	var trouble strings.Builder
	cmd.Dir, cmd.Stderr = dir, &trouble
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("node must be on the PATH: %v", err)
	}
	var got strings.Builder
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := waitReason.ReplaceAllString(lines.Text(), "$1")
		if line == last {
			continue
		}
		got.WriteString(line + "\n")
		if last = line; strings.HasSuffix(line, "verifying.") {
			n.age(t, "2m") // now the registry carries the order out
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s\n%s", err, &got, &trouble)
	}
	compareTranscript(t, "## A2A", got.String())
}

// A stock client of A2A 0.3 is told what to speak, and prose gets a helpful reply.
func TestOldClientAndProseOverA2A(t *testing.T) {
	const dir = "testdata/finders"
	npmtest.Install(t, dir)
	n := start(t, t.TempDir())
	got := npmtest.Run(t, dir, "node", "old.mjs", n.callers, "my-prose.com")
	compareTranscript(t, "### Older clients, and prose", got)
}

// waitReason is the reason of a wait, which only an order has that waits long enough.
var waitReason = regexp.MustCompile(`(: verifying\.) .*`)

// compareTranscript compares what an agent did with the first text below a
// heading of docs/agents.md, where [..] stands for anything.
func compareTranscript(t *testing.T, heading, got string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n"+heading+"\n")
	_, rest, _ := strings.Cut(section, "```text\n")
	want, _, found := strings.Cut(rest, "```")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\[\.\.\]`, `.*`)
	if !found || !regexp.MustCompile("^"+pattern+"$").MatchString(strings.TrimSpace(got)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
