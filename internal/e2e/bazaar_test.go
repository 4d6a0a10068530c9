package e2e_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/sqldb"
)

// probe sends an empty request to a paid route, like a crawler, and returns the
// offer.
func (s *env) probe(t *testing.T, path string) (offer api.PaymentOffer, header string) {
	t.Helper()
	got := s.do(t, "POST", path, "")
	got.expect(t, 402, deed.CodePaymentRequired)
	header = got.header.Get("PAYMENT-REQUIRED")
	raw, err := base64.StdEncoding.DecodeString(header)
	if err == nil {
		err = json.Unmarshal(raw, &offer)
	}
	if err != nil || len(offer.Accepts) != 1 {
		t.Fatalf("%s: got %s, %v", path, raw, err)
	}
	return offer, header
}

// The response to an empty request to a paid route has the price and the schemas
// of request and response, within the 8 KiB of a header.
func TestProbeDescribesTheCall(t *testing.T) {
	s := openEnv(t, options{limits: generous()})
	for path, wants := range map[string]string{
		"/domains/register": "dns_records",
		"/domains/renew":    "expectedExpiresAt",
		"/domains/transfer": "authCode",
	} {
		offer, header := s.probe(t, path)
		if t.Logf("%s: PAYMENT-REQUIRED has %d bytes", path, len(header)); len(header) >= 8<<10 {
			t.Errorf("%s: the header has %d bytes", path, len(header))
		}
		bazaar, _ := offer.Extensions["bazaar"].(map[string]any)
		checkBazaar(t, bazaar)
		in, _ := bazaar["info"].(map[string]any)["input"].(map[string]any)
		if in["type"] != "http" || in["method"] != "POST" || in["bodyType"] != "json" {
			t.Errorf("%s: got %v", path, in)
		}
		if !strings.Contains(string(encoded(t, bazaar["schema"])), `"`+wants+`"`) {
			t.Errorf("%s: the schema does not speak of %s", path, wants)
		}
	}
}

// checkBazaar validates the example against the schema beside it, like a catalogue
// would, and fails if the schema accepts anything.
func checkBazaar(t *testing.T, bazaar map[string]any) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	schema, _ := bazaar["schema"].(map[string]any)
	if schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Fatalf("got %v", bazaar)
	}
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded(t, schema))))
	if err == nil {
		err = compiler.AddResource("https://deed.example/bazaar", tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("https://deed.example/bazaar")
	if err != nil {
		t.Fatal(err)
	}
	info, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded(t, bazaar["info"]))))
	if err == nil {
		err = compiled.Validate(info)
	}
	if err != nil {
		t.Error(err)
	}
	delete(info.(map[string]any)["input"].(map[string]any)["body"].(map[string]any), "domain")
	if compiled.Validate(info) == nil {
		t.Error("a body without a domain is as good")
	}
	info.(map[string]any)["output"].(map[string]any)["example"] = map[string]any{}
	if compiled.Validate(info) == nil {
		t.Error("an empty answer is as good")
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// A service that sells none of the usual TLDs is found, searched and described with those
// that it sells.
func TestServiceOfOneTLD(t *testing.T) {
	s := openEnv(t, options{limits: generous()})
	var rest []catalog.Wholesale
	for _, l := range s.api.Catalog.Listings() {
		rest = append(rest, catalog.Wholesale{TLD: l.TLD, Closed: l.TLD != "de"})
	}
	if err := s.api.Catalog.Apply(t.Context(), sqldb.Prices{DB: s.db}, rest); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/domains/register", "/domains/renew", "/domains/transfer"} {
		if offer, _ := s.probe(t, path); offer.Accepts[0].Amount != "5930000" || offer.Resource.Description != "a .de name for 1 year" {
			t.Errorf("%s: got %+v", path, offer)
		}
	}
	var found api.SearchResult
	if got := s.get(t, "/domains/search?query=first"); json.Unmarshal([]byte(got.body), &found) != nil || len(found.Results) != 1 || found.Results[0].Domain != "first.de" {
		t.Errorf("a search: got %d %s", got.status, got.body)
	}
	if got := s.get(t, "/SKILL.md").body; !strings.Contains(got, "| .de | 5.93 |") {
		t.Errorf("got %s", got)
	}
}

// The documents that state prices follow those of registrars, which change while the
// service runs.
func TestDocumentsFollowPrices(t *testing.T) {
	s := openEnv(t, options{})
	stated := func() [3]bool {
		return [3]bool{
			strings.Contains(s.get(t, "/openapi.json").body, `"min":"1.70"`),
			strings.Contains(s.get(t, "/SKILL.md").body, "| .com | 1.70 | 26.90 | 26.90 |"),
			strings.Contains(s.get(t, "/llms-full.txt").body, "| .com | 1.70 | 26.90 | 26.90 |"),
		}
	}
	if got := stated(); got != [3]bool{} {
		t.Fatalf("before: got %v", got)
	}
	today := catalog.Wholesale{TLD: "com", Registration: 100 * deed.Cent, Renewal: 2_200 * deed.Cent, Transfer: 2_200 * deed.Cent}
	if err := s.api.Catalog.Apply(t.Context(), sqldb.Prices{DB: s.db}, []catalog.Wholesale{today}); err != nil {
		t.Fatal(err)
	}
	if got := stated(); got != [3]bool{true, true, true} {
		t.Errorf("openapi.json, SKILL.md and llms-full.txt: got %v", got)
	}
}

// openapi.json has the prices of paid calls, as the operator set them.
func TestOpenAPIHasPrices(t *testing.T) {
	h := open(t, options{config: func(c *app.Config) {
		c.Pricing.Ceiling, c.Contact = 4_200*deed.Cent, "ops@deed.example"
	}})
	var doc map[string]any
	if err := json.Unmarshal([]byte(h.get(t, "/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	price := func(path, method string) string {
		op := doc["paths"].(map[string]any)[path].(map[string]any)[method].(map[string]any)
		return string(encoded(t, op["x-payment-info"]))
	}
	for _, path := range []string{"/domains/register", "/domains/renew", "/domains/transfer"} {
		if got := price(path, "post"); !strings.Contains(got, `"max":"42.00"`) || !strings.Contains(got, `"mode":"dynamic"`) || !strings.Contains(got, `"x402":{}`) {
			t.Errorf("%s: got %s", path, got)
		}
	}
	if got := price("/dns/{domain}/batch", "post"); !strings.Contains(got, `"min":"0.10"`) || !strings.Contains(got, `"max":"42.00"`) {
		t.Errorf("a batch: got %s", got)
	}
	security := func(path string) string {
		op := doc["paths"].(map[string]any)[path].(map[string]any)["post"].(map[string]any)
		return string(encoded(t, op["security"]))
	}
	if free, owned := security("/domains/register"), security("/dns/{domain}"); free != "[]" || owned != `[{"bearer":[]}]` {
		t.Errorf("got %s and %s", free, owned)
	}
	for method, path := range map[string]string{"post": "/dns/{domain}", "put": "/dns/{domain}/{recordId}", "delete": "/dns/{domain}/{recordId}"} {
		if got := price(path, method); !strings.Contains(got, `"amount":"0.10"`) || !strings.Contains(got, `"mode":"fixed"`) {
			t.Errorf("%s %s: got %s", method, path, got)
		}
	}
	if got := price("/domains/search", "get"); got != "null" {
		t.Errorf("a search costs %s", got)
	}
	if got := string(encoded(t, doc["info"].(map[string]any)["contact"])); !strings.Contains(got, "ops@deed.example") {
		t.Errorf("got contact %s", got)
	}
}
