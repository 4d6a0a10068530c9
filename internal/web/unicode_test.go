package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What people type or paste is read as the script of the page reads it.
func TestTypedWithoutJavaScript(t *testing.T) {
	s := open(t, nil)
	for query, want := range map[string]string{
		"my name": "myname.com", " My Name.xyz ": "myname.xyz", "example.com?ref=1": "example.com", "https://www.example.xyz#top": "example.xyz",
		"日本。com": "日本.com", "xn--": "xn--.com",
	} {
		res := get(t, s, "/?q="+url.QueryEscape(query))
		if html := body(t, res); res.StatusCode != http.StatusOK || !strings.Contains(html, `<span class="name">`+want) {
			t.Errorf("%q: got %d, and no row of %s", query, res.StatusCode, want)
		}
	}
}

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
