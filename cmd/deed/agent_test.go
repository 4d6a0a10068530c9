package main

import "testing"

// An agent that others wrote pays unchanged, over MCP.
func TestStockAgent(t *testing.T) {
	buyWith(t, start(t, t.TempDir()), "testdata/agents", "pay.mjs", "agent-bought.com")
}
