package e2e_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var routeRow = regexp.MustCompile("(?m)^\\| `([A-Z]+ [^`]+)` \\| (yes|not yet)")

// docs/routes.md lists every call with its correct state.
func TestRoutesDocIsTrue(t *testing.T) {
	page, err := os.ReadFile("../../docs/routes.md")
	if err != nil {
		t.Fatal(err)
	}
	h, _, _ := openSandbox(t, options{trusted: loopback})
	addr, wallet := caller(t)
	bodies := map[string]string{
		"POST /auth/verify":  `{"message":"m","signature":"0x00"}`,
		"POST /auth/refresh": `{"refreshToken":"r"}`,
		"POST /a2a":          `{"jsonrpc":"2.0","id":1,"method":"Fly"}`,
	}
	rows := routeRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 20 {
		t.Fatalf("the page has %d calls", len(rows))
	}
	for _, row := range rows {
		endpoint, built := row[1], row[2] == "yes"
		var got answer
		if body, ok := bodies[endpoint]; ok {
			method, path, _ := strings.Cut(endpoint, " ")
			got = h.do(t, method, path, body)
		} else {
			got = h.call(t, endpoint, addr, wallet)
		}
		if pending := got.status == 503 && strings.Contains(got.body, "not built yet"); pending == built || got.status == 404 && strings.Contains(got.body, "nothing at /") {
			t.Errorf("%s: the page says built is %v, the server answers %d %s", endpoint, built, got.status, got.body)
		}
	}
}

// example returns the JSON example of a page, on one line.
func example(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	block, _, _ := strings.Cut(rest, "\n```")
	return strings.ReplaceAll(block, "\n  ", "")
}
