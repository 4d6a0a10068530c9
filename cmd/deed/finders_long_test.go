//go:build long

package main

import (
	"strings"
	"testing"

	"deed.example/deed/internal/npmtest"
)

// A client that looks for paid services finds ours, and no fault with its offers.
func TestStockDiscovery(t *testing.T) {
	npmtest.Install(t, "testdata/finders")
	n := start(t, t.TempDir())
	out := npmtest.Run(t, "testdata/finders", "node", "discovery.mjs", n.callers)
	if strings.Count(out, "is well offered") != 3 {
		t.Errorf("got %s", out)
	}
	t.Log(out)
}

// A linter that others wrote takes the description as it is served.
func TestDescriptionIsLinted(t *testing.T) {
	npmtest.Install(t, "testdata/finders")
	n := start(t, t.TempDir())
	out := npmtest.Run(t, "testdata/finders", "node", "node_modules/@redocly/cli/bin/cli.js", "lint", "--config", "../../../../redocly.yaml", n.callers+"/openapi.json")
	if !strings.Contains(out, "Your API description is valid") {
		t.Errorf("got %s", out)
	}
}
