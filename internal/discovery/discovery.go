// Package discovery describes us to those who look for a service like ours: the
// documents that agents, crawlers and registries read before they call. It is a
// way in beside httpapi, behind the same door.
//
// A Server makes all documents once, when it is made (New), out of what is true
// elsewhere: the calls and what they cost stand in api/openapi.yaml, the prices
// in the catalogue, the limits and our address in the configuration. Nothing is
// said here that a caller could find to be otherwise, so a document is made from
// those and never by hand. Each keeps to its own specification, and has a tag by
// which a caller can ask whether it still has the same.
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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

// A Site is what the documents are made of.
type Site struct {
	PublicURL string // where callers reach us, without a path
	Version   string
	Contact   string // e-mail address for what is wrong with us
	Limits    deed.Limits
	Listings  []catalog.Listing // what we sell
	Network   string            // where we are paid, such as base-sepolia; "" when we are not
	Sandbox   bool              // the money is play money
	Now       func() time.Time

	Key *ecdsa.PrivateKey // on P-256, signs the agent card
}

const (
	name    = "Deed"
	summary = "Domain names and their DNS for wallets: sign in with Ethereum, pay USDC through x402."
)

// Server answers for the documents. Make one with New.
type Server struct {
	site  Site
	host  string   // of PublicURL, without a port
	calls []call   // of openapi.yaml
	codes []string // of errors, likewise
	pages map[string]page
}

// New makes the documents.
func New(site Site) (*Server, error) {
	u, err := url.Parse(site.PublicURL)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("describe ourselves: %q is not our address", site.PublicURL)
	}
	s := &Server{site: site, host: u.Hostname()}
	if s.calls, s.codes, err = readDescription(); err != nil {
		return nil, err
	}
	key, err := publicKey(site.Key)
	if err != nil {
		return nil, err
	}
	card, err := s.signedCard(key)
	if err != nil {
		return nil, err
	}
	s.pages = map[string]page{
		cardPath:                               object("application/json", card),
		keysPath:                               object("application/json", api.JWKS{Keys: []api.JWK{key}}),
		"/llms.txt":                            text("text/plain", s.llms()),
		"/llms-full.txt":                       text("text/plain", s.llmsFull()),
		"/SKILL.md":                            text("text/markdown", s.skill()),
		"/robots.txt":                          text("text/plain", robots),
		"/.well-known/api-catalog":             object(linksetMedia, s.linkset()),
		"/.well-known/ai-catalog.json":         object("application/ai-catalog+json", s.aiCatalog()),
		"/.well-known/agent-registration.json": object("application/json", s.registration()),
		"/mcp/server-card":                     object("application/mcp-server-card+json", s.serverCard()),
	}
	return s, nil
}

// at returns the address of one of our paths.
func (s *Server) at(path string) string { return s.site.PublicURL + path }

// A page is a document as it is sent.
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
		panic(fmt.Sprintf("encode %T: %v", v, err)) // plain data: only a programmer can make it fail
	}
	return newPage(media, append(raw, '\n'))
}

// ServeHTTP answers a GET or HEAD for one of the documents.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := s.pages[r.URL.Path]
	if r.URL.Path == "/.well-known/security.txt" {
		p, ok = text("text/plain", s.security()), true
	}
	if !ok {
		panic("discovery: no document at " + r.URL.Path) // a route without one is a programmer's mistake
	}
	h := w.Header()
	if r.URL.Path == catalogPath { // RFC 9727, 3: a HEAD learns it too
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

// known says whether the caller has the page (RFC 9110, 13.1.2).
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
