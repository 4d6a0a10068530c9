package main

import (
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/npmtest"
)

// An agent that others wrote, with nothing but a key and an address, buys a name
// over MCP and sets it up. What it did is the transcript in docs/agents.md, where
// [..] stands for anything.
func TestStockAgent(t *testing.T) {
	const dir = "testdata/agents"
	npmtest.Install(t, dir)
	n := start(t, t.TempDir())
	got := npmtest.Run(t, dir, "node", "pay.mjs", n.callers, "0x"+hex.EncodeToString(crypto.FromECDSA(n.rich(t))), "my-agent.com")
	paper, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(paper), "```text\n")
	want, _, found := strings.Cut(rest, "```")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\[\.\.\]`, `.*`)
	if !found || !regexp.MustCompile("^"+pattern+"$").MatchString(strings.TrimSpace(got)) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
