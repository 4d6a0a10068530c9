package a2a

import (
	"encoding/json"
	"strings"
	"testing"

	"deed.example/deed/internal/agent"
)

func requestOf(t *testing.T, skill, arguments string) request {
	t.Helper()
	tool, ok := agent.Find(skill)
	if !ok {
		t.Fatalf("there is no skill %s", skill)
	}
	return request{tool: tool, arguments: []byte(arguments)}
}

// The id of an offer encodes its request, and equal requests have equal ids.
func TestOfferIDEncodesRequest(t *testing.T) {
	r := requestOf(t, "register_domain", `{"years":2,"domain":"first.com","access_token":"secret"}`)
	id := string(r.offerID())
	if id != string(r.offerID()) {
		t.Error("one request has two ids")
	}
	back, ok := parseOfferID(id)
	var args map[string]any
	if !ok || back.tool.Name != "register_domain" || json.Unmarshal(back.arguments, &args) != nil {
		t.Fatalf("got %+v, %v", back, ok)
	}
	if len(args) != 2 || args["domain"] != "first.com" || args["years"] != 2.0 {
		t.Errorf("got %v: all but the token must be there", args)
	}
}

// Large requests and requests with secrets are not encoded, and an id without a
// valid request is not an offer.
func TestOfferIDHasNoSecret(t *testing.T) {
	for _, r := range []request{
		requestOf(t, "transfer_domain", `{"domain":"moving.com","auth_code":"kQ3-9sd-2Lm"}`),
		requestOf(t, "register_domain", `{"domain":"`+strings.Repeat("a", maxOfferRequest)+`"}`),
	} {
		id := string(r.offerID())
		if _, ok := parseOfferID(id); ok || !strings.HasPrefix(id, offerPrefix) || len(id) > 100 {
			t.Errorf("got %s", id)
		}
	}
	free := requestOf(t, "search_domains", `{"query":"a"}`)
	for _, id := range []string{"", "offer_", "offer_%", "offer_e30", "job_1", string(free.offerID())} {
		if r, ok := parseOfferID(id); ok {
			t.Errorf("%q carries %+v", id, r)
		}
	}
}
