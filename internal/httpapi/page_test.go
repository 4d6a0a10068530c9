package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// somePage is a Page that says which path it was asked for.
type somePage struct{}

func (somePage) ServePage(w http.ResponseWriter, r *http.Request) error {
	_, err := io.WriteString(w, "page at "+r.URL.Path)
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
