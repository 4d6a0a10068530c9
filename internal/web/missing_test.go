package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A wrong address gets a page with the navigation, as strict as the others.
func TestMissingPage(t *testing.T) {
	w := httptest.NewRecorder()
	if err := open(t, nil).ServeMissing(w, httptest.NewRequest(http.MethodGet, "/nope%3Cb%3E", nil)); err != nil {
		t.Fatal(err)
	}
	res := w.Result()
	html := body(t, res)
	for _, want := range []string{"<h1>There is no such page</h1>", `<nav aria-label="Main">`, `href="/docs/"`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if res.StatusCode != http.StatusNotFound || res.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %d %v", res.StatusCode, res.Header)
	}
	if inline.MatchString(html) || strings.Contains(html, "<b>") {
		t.Error("the page has a script, a style or the path in it")
	}
}
