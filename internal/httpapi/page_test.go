package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deed.example/deed"
)

// somePage is a Page that says which path it was asked for.
type somePage struct{}

func (somePage) ServePage(w http.ResponseWriter, r *http.Request) error {
	if strings.HasSuffix(r.URL.Path, "/nope") {
		return deed.Errorf(deed.CodeNotFound, "there is no such page")
	}
	_, err := io.WriteString(w, "page at "+r.URL.Path)
	return err
}

func (somePage) ServeMissing(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNotFound)
	_, err := io.WriteString(w, "no page")
	return err
}

// The page is at its own paths, for GET and HEAD only. Every other path is answered
// as before, and so is / without a page.
func TestPageRoutes(t *testing.T) {
	with, without := quietServer(io.Discard), quietServer(io.Discard)
	with.Page = somePage{}
	for _, tt := range []struct {
		server *Server
		call   string
		status int
		body   string
	}{
		{with, "GET /", 200, "page at /"},
		{with, "GET /?q=example", 200, "page at /"},
		{with, "GET /app/names/example.com", 200, "page at /app/names/example.com"},
		{with, "GET /docs/decisions/README", 200, "page at /docs/decisions/README"},
		{with, "POST /", 405, "NOT_FOUND"},
		{with, "PUT /app/names", 405, "NOT_FOUND"},
		{with, "GET /app/nope", 404, "NOT_FOUND"},
		{with, "GET /nope", 404, "NOT_FOUND"},
		{with, "POST /nope", 404, "NOT_FOUND"},
		{with, "GET /assets/a/b", 404, "NOT_FOUND"},
		{without, "GET /", 404, "NOT_FOUND"},
		{without, "GET /docs/", 404, "NOT_FOUND"},
	} {
		method, target, _ := strings.Cut(tt.call, " ")
		w := httptest.NewRecorder()
		tt.server.Handler().ServeHTTP(w, httptest.NewRequest(method, target, nil))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) {
			t.Errorf("%s: got %d %s, want %d %s", tt.call, w.Code, w.Body, tt.status, tt.body)
		}
		if allow := w.Header().Get("Allow"); tt.status == 405 && allow != "GET, HEAD" {
			t.Errorf("%s: got Allow %q", tt.call, allow)
		}
	}
}

// A browser at a wrong address gets a page. Programs, and browsers at a path of the
// API, get the error of the interface document.
func TestMissingPage(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	with, without := quietServer(io.Discard), quietServer(io.Discard)
	with.Page = somePage{}
	for _, tt := range []struct {
		server *Server
		call   string
		accept string
		body   string
	}{
		{with, "GET /nope", browser, "no page"},
		{with, "GET /app/nope", browser, "no page"},
		{with, "GET /docs/nope", browser, "no page"},
		{with, "GET /docs//nope", browser, "no page"},
		{with, "GET /docs/../nope", browser, "no page"},
		{with, "GET /nope", "application/json, TEXT/HTML;q=0.1", "no page"},
		{with, "GET /nope", "", "NOT_FOUND"},
		{with, "GET /nope", "*/*", "NOT_FOUND"},
		{with, "GET /nope", "text/html;q=0", "NOT_FOUND"},
		{with, "GET /docs/nope", "application/json", "NOT_FOUND"},
		{with, "GET /docs//nope", "*/*", "NOT_FOUND"},
		{with, "GET /domains//nope", browser, "NOT_FOUND"},
		{with, "POST /nope", browser, "NOT_FOUND"},
		{with, "GET /domains/a/b/c", browser, "NOT_FOUND"},
		{with, "GET /auth", browser, "NOT_FOUND"},
		{without, "GET /nope", browser, "NOT_FOUND"},
	} {
		method, target, _ := strings.Cut(tt.call, " ")
		r := httptest.NewRequest(method, target, nil)
		r.Header.Set("Accept", tt.accept)
		w := httptest.NewRecorder()
		tt.server.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), tt.body) {
			t.Errorf("%s, Accept %q: got %d %s, want 404 %s", tt.call, tt.accept, w.Code, w.Body, tt.body)
		}
	}
}
