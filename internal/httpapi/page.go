package httpapi

import (
	"net/http"

	"deed.example/deed/internal/ratelimit"
)

// A Page serves what browsers show: the page, its assets and the docs. It returns
// the errors that are answered like those of any other route.
type Page interface {
	ServePage(w http.ResponseWriter, r *http.Request) error
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
		out[i] = route{pattern, s.handle(s.Page.ServePage)}
	}
	return out
}

// LimitSearch counts a search that the page makes on the server like a call of
// GET /domains/search by the same client.
func (s *Server) LimitSearch(w http.ResponseWriter, r *http.Request) error {
	return s.spend(w, r, s.Limits.Search, ratelimit.AddressKey(clientAddr(r, s.Trusted)))
}
