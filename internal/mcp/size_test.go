package mcp

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// maxToolsList limits the list of tools: every agent has it in its context.
const maxToolsList = 24 << 10

func TestToolsListIsSmall(t *testing.T) {
	stdio := func(c agent.Consent) options {
		s := Stdio{Consent: c, Sandbox: true}
		return options{present: s.present, sandbox: true}
	}
	spends := agent.Consent{Wallet: "0x71C7656EC7ab88b098defB751B7401B5f6d8976F", MaxPrice: "1000.00", Budget: "1000.00", AskAbove: "0.00"}
	for name, o := range map[string]options{
		"http, sandbox":      httpOptions(Site{Sandbox: true}),
		"http":               httpOptions(Site{}),
		"stdio":              stdio(spends),
		"stdio, only quotes": stdio(agent.Consent{Wallet: spends.Wallet}),
		"stdio, no wallet":   stdio(agent.Consent{Problem: "no wallet"}),
	} {
		raw, err := json.Marshal(listTools(t, o))
		if err != nil {
			t.Fatal(err)
		}
		if t.Logf("%s: tools/list has %d bytes", name, len(raw)); len(raw) > maxToolsList {
			t.Errorf("%s: tools/list has %d bytes, more than %d", name, len(raw), maxToolsList)
		}
	}
}

func listTools(t *testing.T, o options) *mcp.ListToolsResult {
	t.Helper()
	clientEnd, serverEnd := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server, err := newServer(&agent.Executor{}, "1", o).Connect(ctx, serverEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out, err := c.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
