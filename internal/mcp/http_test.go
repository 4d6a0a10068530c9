package mcp

import (
	"net/http/httptest"
	"strings"
	"testing"

	"deed.example/deed/internal/agent"
)

// The answer to a message has its ID, digit by digit: some clients use nanoseconds.
func TestIDsComeBackAsTheyWere(t *testing.T) {
	h := NewHandler(&agent.Executor{}, Site{PublicURL: "https://deed.example"})
	for _, id := range []string{`7`, `-7`, `0`, `"7"`, `""`, `9007199254740993`, `1795121880123456789`, `12345678901234567890123`, `1.5`, `2.0`, `1e3`} {
		for method, want := range map[string]string{"ping": `"result"`, "later": `"code":-32601`} {
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"id":`+id+`,`) || !strings.Contains(got, want) {
				t.Errorf("%s of %s: got %d %s", method, id, w.Code, got)
			}
		}
	}
}
