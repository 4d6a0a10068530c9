package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A name in Unicode is looked for by its A-label, and shown in both forms.
func TestUnicodeWithoutJavaScript(t *testing.T) {
	s := open(t, nil)
	for query, want := range map[string]string{"münchen.com": "com", "MÜNCHEN": "com", "https://www.münchen.xyz/": "xyz", "xn--mnchen-3ya.com": "com"} {
		res := get(t, s, "/?q="+url.QueryEscape(query))
		html := body(t, res)
		row := `<span class="name">münchen.` + want + ` <small class="mono ascii">xn--mnchen-3ya.` + want + `</small></span>`
		link := `href="/app/buy/xn--mnchen-3ya.` + want + `" aria-label="Buy münchen.` + want + `"`
		if res.StatusCode != http.StatusOK || !strings.Contains(html, row) || !strings.Contains(html, link) {
			t.Errorf("%s: got %d, and the row or the link is missing", query, res.StatusCode)
		}
	}
	if res := get(t, s, "/?q="+url.QueryEscape("münchen.nope")); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a TLD that is not sold: got %d", res.StatusCode)
	}
}
