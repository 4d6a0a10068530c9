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

// What would make the path that of another call is refused: get_domain of "pricing" would
// send the whole price list.
func TestPathsOfOtherCalls(t *testing.T) {
	called := ""
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called = r.URL.Path
		_, _ = w.Write([]byte(`{}`))
	})
	for tool, values := range map[string][]string{
		"get_domain":         {"pricing", "search", "check", "", ".", ".."},
		"get_job":            {"", ".", ".."},
		"list_dns_revisions": {"", ".", ".."},
		"cancel_domain":      {"", ".", ".."},
	} {
		argument := "domain"
		if tool == "get_job" {
			argument = "job_id"
		}
		for _, value := range values {
			called = ""
			a := do(t, service, tool, agent.Request{Arguments: []byte(`{"` + argument + `":"` + value + `"}`)})
			var got api.Error
			if err := json.Unmarshal(a.Body, &got); err != nil || a.Status != 400 || len(got.Details) != 1 || got.Details[0].Field != argument || called != "" {
				t.Errorf("%s of %q: called %q, got %d %s", tool, value, called, a.Status, a.Body)
			}
		}
	}
	if do(t, service, "get_domain", agent.Request{Arguments: []byte(`{"domain":"pricing.com"}`)}); called != "/domains/pricing.com" {
		t.Errorf("called %q", called)
	}
}
