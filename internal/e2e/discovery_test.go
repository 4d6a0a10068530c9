package e2e_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// Every discovery document is served with a longer cache time than other
// responses, and matches openapi.yaml.
func TestDocumentsAreServed(t *testing.T) {
	h := open(t, options{})
	for _, path := range []string{
		"/.well-known/agent-card.json", "/.well-known/jwks.json", "/.well-known/api-catalog", "/.well-known/ai-catalog.json", "/.well-known/agent-registration.json",
		"/.well-known/security.txt", "/llms.txt", "/llms-full.txt", "/SKILL.md", "/robots.txt", "/mcp/server-card",
	} {
		got := h.get(t, path)
		if got.status != 200 || got.header.Get("Cache-Control") != "public, max-age=3600" || got.header.Get("ETag") == "" || len(got.body) < 20 {
			t.Errorf("%s: got %d %v %s", path, got.status, got.header, got.body)
		}
		if strings.Contains(got.header.Get("Content-Type"), "json") && json.Unmarshal([]byte(got.body), new(any)) != nil {
			t.Errorf("%s is not JSON: %s", path, got.body)
		}
		if strings.Contains(got.body, h.addr) {
			t.Errorf("%s gives away where we listen", path)
		}
	}
}
