package agent_test

import (
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// A list that is empty, or has an item that would become two, is refused with an example
// of a list, and not with the words of the HTTP call, which has no lists.
func TestListsThatCannotBeSent(t *testing.T) {
	const example = `: e.g. ["example.com","example.io"]`
	sent := ""
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.URL.Query().Get("domains")
		_, _ = w.Write([]byte(`{"results":[]}`))
	})
	for arguments, want := range map[string]string{
		`{"domains":[]}`:                 `domains: cannot be []` + example,
		`{"domains":""}`:                 `domains: cannot be ""` + example,
		`{"domains":["a.com,b.com"]}`:    `domains: cannot be ["a.com,b.com"]` + example,
		`{"domains":[5]}`:                `domains: cannot be [5]` + example,
		`{"domains":["a.com","b.com"]}`:  "",
		`{"domains":"a.com,b.com"}`:      "",
		`{"domains":["a.com", "b.com"]}`: "",
	} {
		sent = ""
		a := do(t, service, "check_domains", agent.Request{Arguments: []byte(arguments)})
		var got api.Error
		if err := json.Unmarshal(a.Body, &got); err != nil {
			t.Fatal(err)
		}
		if got.Message != want || want == "" && sent != "a.com,b.com" {
			t.Errorf("%s: got %q, sent %q, want %q", arguments, got.Message, sent, want)
		}
	}
	if a := do(t, service, "search_domains", agent.Request{Arguments: []byte(`{"query":"a","tlds":[]}`)}); !a.Done() {
		t.Errorf("no TLDs, which are the standard set: got %s", a.Body)
	}
}
