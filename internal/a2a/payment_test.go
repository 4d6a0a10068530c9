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

// An offer's id carries its request, and the same request has the same id.
func TestOfferCarriesItsRequest(t *testing.T) {
	r := requestOf(t, "register_domain", `{"years":2,"domain":"first.com","access_token":"secret"}`)
	id := string(r.offerID())
	if id != string(r.offerID()) {
		t.Error("one request has two ids")
	}
	back, ok := carried(id)
	var args map[string]any
	if !ok || back.tool.Name != "register_domain" || json.Unmarshal(back.arguments, &args) != nil {
		t.Fatalf("got %+v, %v", back, ok)
	}
	if len(args) != 2 || args["domain"] != "first.com" || args["years"] != 2.0 {
		t.Errorf("got %v: all but the token must be there", args)
	}
}

// What is large or secret is not carried, and what carries nothing for us to do
// is no offer.
func TestOfferCarriesNoSecret(t *testing.T) {
	for _, r := range []request{
		requestOf(t, "transfer_domain", `{"domain":"moving.com","auth_code":"kQ3-9sd-2Lm"}`),
		requestOf(t, "register_domain", `{"domain":"`+strings.Repeat("a", maxCarried)+`"}`),
	} {
		id := string(r.offerID())
		if _, ok := carried(id); ok || !strings.HasPrefix(id, offerPrefix) || len(id) > 100 {
			t.Errorf("got %s", id)
		}
	}
	free := requestOf(t, "search_domains", `{"query":"a"}`)
	for _, id := range []string{"", "offer_", "offer_%", "offer_e30", "job_1", string(free.offerID())} {
		if r, ok := carried(id); ok {
			t.Errorf("%q carries %+v", id, r)
		}
	}
}
