// Package web serves the page for browsers: search, purchase and management of
// names at / and below /app/, the docs at /docs/ and the API reference at
// /docs/api. httpapi routes to it, behind the same middleware.
//
// The files in dist are built from the folder web by `npm run build` and committed,
// so that Go alone builds the service; a test rebuilds and compares them. Their
// names have hashes, so browsers keep them for good. The HTML is rendered here:
// the list of results and the docs work without JavaScript, and everything else
// needs a wallet, which needs JavaScript. No page has an inline script or style,
// sets a cookie, or loads anything from elsewhere.
package web

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/network"
)

// A Site has the facts about the service that the page shows and signs for.
type Site struct {
	PublicURL string
	Version   string
	Network   network.Network // of payments
	Payments  bool            // false on a node that takes none
	Forwards  bool            // FORWARD records are accepted
	Email     bool            // notices are sent by e-mail
	RPCURL    string          // of the embedded chain; "" outside a sandbox
}

// Server serves the page. Create it with New.
type Server struct {
	Search func(ctx context.Context, query string, under []catalog.Listing) ([]catalog.Result, error)
	Prices *catalog.Service

	// Limit counts a search of the client. Its error is shown in place of results.
	Limit func(w http.ResponseWriter, r *http.Request) error

	site   Site
	assets *assets
	docs   func() (*library, error) // rendered at the first request for one
	shells map[string]asset         // of pages without results, by the start of their paths
	policy string                   // Content-Security-Policy
}

// New reads the embedded files.
func New(site Site) (*Server, error) {
	files, err := embedded()
	if err != nil {
		return nil, err
	}
	s := &Server{site: site, assets: files, policy: policy(site), shells: map[string]asset{}}
	if err := s.renderShells(); err != nil {
		return nil, err
	}
	s.docs = sync.OnceValues(s.renderDocs)
	return s, nil
}

// policy returns the Content-Security-Policy. Wallets announce their icons as data
// URLs. In a sandbox the page asks the embedded chain for balances, because the
// wallet would ask the public chain that it emulates.
func policy(site Site) string {
	connect := "'self'"
	if site.RPCURL != "" {
		connect += " " + site.RPCURL
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " + connect +
		"; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" +
		"; require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
}

// ServePage serves GET and HEAD of one of the routes of httpapi.
func (s *Server) ServePage(w http.ResponseWriter, r *http.Request) error {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/assets/"):
		return s.assets.serve(w, r)
	case strings.HasPrefix(path, "/docs"):
		docs, err := s.docs()
		if err != nil {
			return err
		}
		s.setHeaders(w.Header())
		return docs.serve(w, r)
	}
	s.setHeaders(w.Header())
	return s.servePage(w, r)
}

func (s *Server) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups") // some wallets open a window to sign in
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Content-Type", "text/html; charset=utf-8")
}

// errNoPage is the error of a path below /assets/ or /docs/ that does not exist.
func errNoPage(path string) error {
	return deed.Errorf(deed.CodeNotFound, "there is nothing at %s: the docs begin at /docs/", path)
}
