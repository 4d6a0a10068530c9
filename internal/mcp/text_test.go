package mcp

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// A remote service, or a proxy in front of it, may respond with neither JSON nor
// UTF-8: the tool's result is valid anyway, and shows the response.
func TestResultOfResponseThatIsNotJSON(t *testing.T) {
	for body, want := range map[string]string{
		"":                      "",
		"<html>502\xff</html>":  `<html>502\\xff`,
		"{\"domain\":\"\xff\"}": `\\xff`,
		`{"a":1,"a":2}`:         "",
		"{":                     "{",
	} {
		for _, status := range []int{200, 402, 502} {
			wantBroken(t, result(agent.Answer{Status: status, Header: http.Header{}, Body: []byte(body)}), want)
		}
	}
	wantBroken(t, broken(errors.New("dial \xff: refused")), `dial \\xff: refused`)
}

func wantBroken(t *testing.T, r *mcp.CallToolResult, says string) {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil || !utf8.Valid(raw) {
		t.Fatalf("got %q, %v", raw, err)
	}
	said, err := json.Marshal(r.StructuredContent)
	if err != nil || !r.IsError || !strings.Contains(string(said), "SERVICE_UNAVAILABLE") || !strings.Contains(string(said), jsonEscaped(says)) {
		t.Errorf("got %s, %v, want an error that says %s", said, err, says)
	}
}

// jsonEscaped escapes angle brackets as encoding/json does.
func jsonEscaped(s string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(s)
}
