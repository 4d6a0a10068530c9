package e2e_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

func TestPricing(t *testing.T) {
	h := open(t, options{})
	var all api.Pricing
	got := h.get(t, "/domains/pricing")
	if err := json.Unmarshal([]byte(got.body), &all); err != nil {
		t.Fatal(err)
	}
	if got.status != 200 || all.Count < 500 || len(all.Pricing) != all.Count || all.Currency != "USDC" || all.UpdatedAt.IsZero() {
		t.Errorf("got %d with %d of %d prices in %s from %s", got.status, len(all.Pricing), all.Count, all.Currency, all.UpdatedAt)
	}
	for _, p := range all.Pricing { // the list and the single price agree
		if p.TLD != "com" && p.TLD != "ai" && p.TLD != "xn--p1acf" {
			continue
		}
		var one api.TLDPrice
		err := json.Unmarshal([]byte(h.get(t, "/domains/pricing/"+p.TLD).body), &one)
		if one.TLDSale = nil; err != nil || one != p { // the list has the prices only
			t.Errorf("%s: got %+v, %v, want %+v", p.TLD, one, err, p)
		}
	}
}

func TestPricingOfOneTLD(t *testing.T) {
	h := open(t, options{})
	const want = `{"tld":"com","registration_price_usd":"13.06","renewal_price_usd":"13.06","transfer_price_usd":"13.06","currency":"USDC","restore_price_usd":"54.50","minYears":1,"maxYears":10,"capabilities":["cancel","ds","glue","owner_registrant"],"registrant":"owner_optional"}` + "\n"
	for _, tld := range []string{"com", "COM", ".com", "com.", "%63om"} {
		if got := h.get(t, "/domains/pricing/"+tld); got.status != 200 || got.body != want {
			t.Errorf("%s: got %d %s", tld, got.status, got.body)
		}
	}
	if got := h.get(t, "/domains/pricing/%D1%80%D1%83%D1%81"); got.status != 200 || !strings.Contains(got.body, "xn--p1acf") {
		t.Errorf("рус: got %d %s", got.status, got.body)
	}
	for _, tld := range []string{"nope", "co.uk", "1", "com%2Fevil", "com%00", "com%0a", "%E2%80%AEcom", strings.Repeat("a", 300), "*", "..com", "%ff"} {
		h.get(t, "/domains/pricing/"+tld).expect(t, 400, deed.CodeTLDNotSupported)
	}
}

func TestPricingFilter(t *testing.T) {
	h := open(t, options{})
	var some api.Pricing
	if err := json.Unmarshal([]byte(h.get(t, "/domains/pricing?tlds=io,com,.IO,%20dev").body), &some); err != nil {
		t.Fatal(err)
	}
	if some.Count != 3 || some.Pricing[0].TLD != "io" || some.Pricing[1].TLD != "com" || some.Pricing[2].TLD != "dev" {
		t.Errorf("got %+v", some)
	}
	for _, list := range []string{"com,nope", ",", "com,,io"} {
		h.get(t, "/domains/pricing?tlds="+list).expect(t, 400, deed.CodeTLDNotSupported)
	}
	if got := h.get(t, "/domains/pricing?tlds="); got.status != 200 || !strings.Contains(got.body, `"zone"`) {
		t.Errorf("an empty filter: got %d", got.status)
	}
}

func TestConditionalReads(t *testing.T) {
	h := open(t, options{})
	for _, path := range []string{"/domains/pricing", "/domains/pricing?tlds=com", "/domains/pricing/com", "/openapi.json", "/.well-known/agent-card.json", "/.well-known/api-catalog", "/llms.txt"} {
		first := h.get(t, path)
		tag := first.header.Get("ETag")
		if tag == "" || h.get(t, path).header.Get("ETag") != tag {
			t.Fatalf("%s: the tag %q does not stay", path, tag)
		}
		for _, match := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			got := h.get(t, path, "If-None-Match", match)
			if got.status != http.StatusNotModified || got.body != "" || got.header.Get("ETag") != tag {
				t.Errorf("%s with %s: got %d %v", path, match, got.status, got.header)
			}
		}
		if got := h.get(t, path, "If-None-Match", `"other"`); got.status != 200 || got.body != first.body {
			t.Errorf("%s: got %d", path, got.status)
		}
		head := h.do(t, "HEAD", path, "")
		if head.status != 200 || head.header.Get("ETag") != tag || head.header.Get("Content-Length") != first.header.Get("Content-Length") {
			t.Errorf("HEAD %s: got %d %v", path, head.status, head.header)
		}
	}
	if a, b := h.get(t, "/domains/pricing/com").header.Get("ETag"), h.get(t, "/domains/pricing/net").header.Get("ETag"); a == b {
		t.Error("different prices have the same tag")
	}
}

// Large documents are compressed for clients that accept it, and both copies have
// equivalent tags.
func TestCompressedDocuments(t *testing.T) {
	h := open(t, options{})
	ask := func(path, accept, match string) answer {
		return h.raw(t, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: "+accept+"\r\nIf-None-Match: "+match+"\r\n\r\n")[0]
	}
	for _, path := range []string{"/domains/pricing", "/openapi.json"} {
		plain := h.get(t, path)
		tag := plain.header.Get("ETag")
		for _, accept := range []string{"gzip", "br, GZIP;q=0.001", "deflate, *", "*;q=0, gzip", "x-gzip", "gzip ; q=1.0"} {
			got := ask(path, accept, `"other"`)
			z, err := gzip.NewReader(strings.NewReader(got.body))
			if err != nil {
				t.Fatalf("%s with %s: %v in %v", path, accept, err, got.header)
			}
			text, err := io.ReadAll(z)
			if err != nil || string(text) != plain.body || len(got.body) > len(plain.body)/4 {
				t.Errorf("%s with %s: got %d bytes in %d, %v", path, accept, len(text), len(got.body), err)
			}
			if got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") != "Accept-Encoding" || got.header.Get("ETag") != "W/"+tag || got.header.Get("Content-Length") != strconv.Itoa(len(got.body)) {
				t.Errorf("%s with %s: got %v", path, accept, got.header)
			}
		}
		for _, accept := range []string{"", "identity", "br", "gzip;q=0", "gzip;q=0.000, *", "*;q=0"} {
			got := ask(path, accept, `"other"`)
			if got.body != plain.body || got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "Accept-Encoding" || got.header.Get("ETag") != tag {
				t.Errorf("%s with %q: got %v", path, accept, got.header)
			}
		}
		for _, match := range []string{tag, "W/" + tag} {
			got := ask(path, "gzip", match)
			if got.status != http.StatusNotModified || got.body != "" || got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "Accept-Encoding" || got.header.Get("ETag") != "W/"+tag {
				t.Errorf("%s with %s: got %d %v", path, match, got.status, got.header)
			}
		}
	}
	if got := ask("/domains/pricing/com", "gzip", `"other"`); got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "" {
		t.Errorf("a small document: got %v", got.header)
	}
}

func TestOpenAPIIsServed(t *testing.T) {
	h := open(t, options{})
	var doc struct {
		OpenAPI string                    `json:"openapi"`
		Servers []struct{ URL string }    `json:"servers"`
		Paths   map[string]map[string]any `json:"paths"`
		Rest    map[string]any            `json:",unknown"`
	}
	if err := json.Unmarshal([]byte(h.get(t, "/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) < 20 || len(doc.Servers) != 1 {
		t.Errorf("got %s with %d paths at %v", doc.OpenAPI, len(doc.Paths), doc.Servers)
	}
}
