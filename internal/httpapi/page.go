package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// A Page serves what browsers show: the page, its assets and the docs. It returns
// the errors that are answered like those of any other route. ServeMissing answers 404
// with a page, to people who follow a wrong address.
type Page interface {
	ServePage(w http.ResponseWriter, r *http.Request) error
	ServeMissing(w http.ResponseWriter, r *http.Request) error
}

// pagePatterns are the routes of the page. They are no part of the interface that
// openapi.json describes.
var pagePatterns = []string{
	"GET /{$}",
	"GET /app/buy/{domain}",
	"GET /app/jobs/{jobId}",
	"GET /app/names",
	"GET /app/names/{domain}",
	"GET /app/account",
	"GET /app/login",
	"GET /assets/{file}",
	"GET /docs/{$}",
	"GET /docs/{page...}",
}

// pageRoutes returns the routes of the page; none without one.
func (s *Server) pageRoutes() []route {
	if s.Page == nil {
		return nil
	}
	out := make([]route, len(pagePatterns))
	for i, pattern := range pagePatterns {
		out[i] = route{pattern, s.handle(s.page)}
	}
	return out
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) error {
	err := s.Page.ServePage(w, r)
	if deed.CodeOf(err) == deed.CodeNotFound && acceptsHTML(r) {
		return s.Page.ServeMissing(w, r)
	}
	return err
}

// wantsMissingPage reports whether the response to a path that does not exist is the
// page of ServeMissing: a browser asks, and the path is not below one of the API.
func (s *Server) wantsMissingPage(r *http.Request) bool {
	if s.Page == nil || r.Method != http.MethodGet && r.Method != http.MethodHead || !acceptsHTML(r) {
		return false
	}
	return !slices.ContainsFunc(s.routes(), func(known route) bool {
		_, path, _ := strings.Cut(known.pattern, " ")
		return firstPart(path) == firstPart(r.URL.Path)
	})
}

// firstPart returns "domains" of "/domains/search".
func firstPart(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// acceptsHTML reports whether Accept names HTML, as that of browsers does. The wildcard,
// which most programs send, is not enough.
func acceptsHTML(r *http.Request) bool { return acceptWeight(r, "text/html") > 0 }

// LimitSearch counts a search that the page makes on the server like a call of
// GET /domains/search by the same client.
func (s *Server) LimitSearch(w http.ResponseWriter, r *http.Request) error {
	return s.spend(w, r, s.Limits.Search, ratelimit.AddressKey(clientAddr(r, s.Trusted)))
}
