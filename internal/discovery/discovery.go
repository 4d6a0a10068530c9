// Package discovery serves the discovery documents: what agents, crawlers and
// registries read before they call the service. httpapi routes to it, behind the
// same middleware.
//
// New builds the documents from their sources: the calls and their prices come from
// api/openapi.yaml, the limits and the public URL from the configuration. Those with
// the price list of the catalogue are built again when prices change (guides). No
// document is written by hand, so that none can contradict the service. Each follows
// its specification and has an entity tag.
package discovery

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

// A Site has the data of the documents.
type Site struct {
	PublicURL string // base URL that callers use, without a path
	Version   string
	Contact   string // e-mail address for security reports
	Limits    deed.Limits
	Network   string // of payments, such as base-sepolia; "" without payments
	Sandbox   bool   // test money
	Now       func() time.Time

	// Listings returns the price list: another slice when prices have changed.
	Listings func() []catalog.Listing

	Keys []*ecdsa.PrivateKey // on P-256, at least one; the first signs the agent card, all are published
}

const (
	name    = "Deed"
	summary = "Domain names and their DNS for wallets: sign in with Ethereum, pay USDC through x402."
)

// Server serves the documents. Create it with New.
type Server struct {
	site  Site
	host  string          // of PublicURL, without a port
	calls []call          // of openapi.yaml
	codes []string        // of errors, likewise
	pages map[string]page // without the guides

	guides atomic.Pointer[guides] // of the current prices
}

// New builds the documents.
func New(site Site) (*Server, error) {
	u, err := url.Parse(site.PublicURL)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("describe ourselves: %q is not our address", site.PublicURL)
	}
	s := &Server{site: site, host: u.Hostname()}
	if s.calls, s.codes, err = readDescription(); err != nil {
		return nil, err
	}
	keys, err := publicKeys(site.Keys)
	if err != nil {
		return nil, err
	}
	card, err := s.signedCard(keys[0])
	if err != nil {
		return nil, err
	}
	s.pages = map[string]page{
		cardPath:                               object("application/json", card),
		keysPath:                               object("application/json", api.JWKS{Keys: keys}),
		"/llms.txt":                            text("text/plain", s.llms()),
		"/robots.txt":                          text("text/plain", robots),
		"/.well-known/api-catalog":             object(linksetMedia, s.linkset()),
		"/.well-known/ai-catalog.json":         object("application/ai-catalog+json", s.aiCatalog()),
		"/.well-known/agent-registration.json": object("application/json", s.registration()),
		"/mcp/server-card":                     object("application/mcp-server-card+json", s.serverCard()),
	}
	return s, nil
}

// at returns the public URL of a path.
func (s *Server) at(path string) string { return s.site.PublicURL + path }

// A page is an encoded document with its entity tag.
type page struct {
	media string
	body  []byte
	tag   string
}

func newPage(media string, body []byte) page {
	sum := sha256.Sum256(body)
	return page{media, body, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

func text(media, body string) page { return newPage(media+"; charset=utf-8", []byte(body)) }

func object(media string, v any) page {
	raw, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // only a programming error can cause this
	}
	return newPage(media, append(raw, '\n'))
}

// ServeHTTP serves GET and HEAD of the documents.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := s.pages[r.URL.Path]
	switch r.URL.Path {
	case "/.well-known/security.txt":
		p, ok = text("text/plain", s.security()), true
	case "/llms-full.txt":
		p, ok = s.priced().full, true
	case "/SKILL.md":
		p, ok = s.priced().skill, true
	}
	if !ok {
		panic("discovery: no document at " + r.URL.Path) // a route without a document is a programming error
	}
	h := w.Header()
	if r.URL.Path == catalogPath { // RFC 9727, 3: also for HEAD
		h.Set("Link", `<`+s.at(catalogPath)+`>; rel="api-catalog"`)
	}
	h.Set("ETag", p.tag)
	h.Set("Cache-Control", "public, max-age=3600")
	if p.known(r) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.media)
	h.Set("Content-Length", strconv.Itoa(len(p.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(p.body) // the client is gone if this fails
}

// known reports whether If-None-Match has the tag of the page (RFC 9110, 13.1.2).
func (p page) known(r *http.Request) bool {
	for _, list := range r.Header.Values("If-None-Match") {
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == p.tag || tag == "*" {
				return true
			}
		}
	}
	return false
}
