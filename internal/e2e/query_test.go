package e2e_test

import (
	"fmt"
	"testing"

	"deed.example/deed"
	"deed.example/deed/api"
)

// Every call reads its query in the same way: a parameter that it takes may be there
// once, and the query must be readable. What it does not take is ignored.
func TestQueriesAreReadAlike(t *testing.T) {
	s := openEnv(t, options{})
	owner := s.bought(t, "first.com")
	token := s.bearer(t, owner)
	hook := made[api.Webhook](t, s.do(t, "POST", "/account/webhooks", `{"url":"https://example.com/hook"}`, "Authorization", token))
	for _, tt := range []struct {
		method, path string
		parameters   []string
	}{
		{"GET", "/domains/search?query=a&", []string{"query", "tlds"}},
		{"GET", "/domains/check?", []string{"domains"}},
		{"GET", "/domains/pricing?", []string{"tlds"}},
		{"GET", "/dns/first.com?", []string{"type", "host"}},
		{"GET", "/account/domains?", []string{"limit", "offset", "cursor", "status", "expiringWithinDays"}},
		{"GET", "/account/transactions?", []string{"limit", "offset", "cursor"}},
		{"GET", "/account/events?", []string{"after", "limit"}},
		{"GET", "/account/webhooks/" + hook.ID + "/deliveries?", []string{"limit", "offset"}},
		{"GET", "/account/mandates/first.com/plan?", []string{"years", "capUsd"}},
		{"DELETE", "/account/mandates/first.com?", []string{"id"}},
		{"POST", "/dns/first.com/import?", []string{"mode", "ttl", "dryRun"}},
		{"POST", "/dns/first.com/rollback/1?", []string{"dryRun"}},
	} {
		body, kind := "", ""
		if tt.method == "POST" {
			body, kind = "; nothing\n", "text/dns"
		}
		for _, name := range tt.parameters {
			twice := fmt.Sprintf("%s%[2]s=1&%[2]s=1", tt.path, name)
			s.do(t, tt.method, twice, body, "Authorization", token, "Content-Type", kind).expectDetail(t, twice, name)
		}
		for _, unreadable := range []string{"%zz", "a;b"} {
			if got := s.do(t, tt.method, tt.path+unreadable, body, "Authorization", token, "Content-Type", kind); got.status != 400 || got.error(t).Code != string(deed.CodeValidation) {
				t.Errorf("%s%s: got %d %s", tt.path, unreadable, got.status, got.body)
			}
		}
	}
	if got := read[api.AccountDomains](t, s.get(t, "/account/domains?other=1&other=2", "Authorization", token)); got.Total != 1 {
		t.Errorf("what a call does not take: got %+v", got)
	}
}
