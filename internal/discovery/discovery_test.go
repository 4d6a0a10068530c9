package discovery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
)

var today = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testSite() Site {
	return Site{
		PublicURL: "https://names.deed.example", Version: "1.2.3", Contact: "security@deed.example", Limits: deed.DefaultLimits(), Network: "base",
		Listings: func() []catalog.Listing { return testListings },
		Now:      func() time.Time { return today },
		Keys:     []*ecdsa.PrivateKey{testKey},
	}
}

var testListings = []catalog.Listing{{TLD: "com", Registration: 1_306 * deed.Cent, Renewal: 1_407 * deed.Cent, Transfer: 1_508 * deed.Cent}}

// testKey is generated once: servers with the same key are nodes of one service.
var testKey = func() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}()

func open(t *testing.T, site Site) *Server {
	t.Helper()
	s, err := New(site)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Server) ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func (s *Server) get(path string) string { return s.ask("GET", path).Body.String() }

// media are the media types that the specifications of the documents require.
var media = map[string]string{
	cardPath:                               "application/json",
	keysPath:                               "application/json",
	"/llms.txt":                            "text/plain; charset=utf-8",
	"/llms-full.txt":                       "text/plain; charset=utf-8",
	"/SKILL.md":                            "text/markdown; charset=utf-8",
	"/robots.txt":                          "text/plain; charset=utf-8",
	"/.well-known/security.txt":            "text/plain; charset=utf-8",
	"/.well-known/api-catalog":             `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`,
	"/.well-known/ai-catalog.json":         "application/ai-catalog+json",
	"/.well-known/agent-registration.json": "application/json",
	"/mcp/server-card":                     "application/mcp-server-card+json",
}

func TestDocumentsAreCached(t *testing.T) {
	s := open(t, testSite())
	for path, want := range media {
		first := s.ask("GET", path)
		tag := first.Header().Get("ETag")
		if first.Code != 200 || first.Header().Get("Content-Type") != want || first.Header().Get("Cache-Control") != "public, max-age=3600" || tag == "" {
			t.Errorf("%s: got %d %v", path, first.Code, first.Header())
		}
		for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			if again := s.ask("GET", path, "If-None-Match", known); again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag {
				t.Errorf("%s with %s: got %d %v", path, known, again.Code, again.Header())
			}
		}
		if other := s.ask("GET", path, "If-None-Match", `"other"`); other.Code != 200 {
			t.Errorf("%s: got %d", path, other.Code)
		}
	}
	for path := range s.pages {
		if media[path] == "" {
			t.Errorf("%s is tested by nobody", path)
		}
	}
}

// docs/agents.md explains every document, and no other.
func TestDocsNameEveryDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"/openapi.json": true} // httpapi serves that one
	for _, row := range regexp.MustCompile("(?m)^\\| `(/[^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		named[row[1]] = true
		if media[row[1]] == "" && row[1] != "/openapi.json" {
			t.Errorf("the page names %s, which is not there", row[1])
		}
	}
	for path := range media {
		if !named[path] {
			t.Errorf("the page does not name %s", path)
		}
	}
}

var address = regexp.MustCompile(`https://names\.deed\.example[^\s")'\x60>,]*`)

// Every URL of the service in a document is a call of openapi.yaml, the endpoint of
// MCP or A2A, or a page of the docs.
func TestEveryURLExists(t *testing.T) {
	s := open(t, testSite())
	known := []string{"", "/", "/a2a", "/mcp", "/docs/", "/docs/api", "/docs/errors"}
	for _, c := range s.calls {
		known = append(known, c.path)
	}
	count := 0
	for path := range media {
		for _, found := range address.FindAllString(s.get(path), -1) {
			to, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(found, s.site.PublicURL), "."), "?")
			to, _, _ = strings.Cut(to, "#")
			count++
			if to == "/dns/example.com" {
				to = "/dns/{domain}"
			}
			if !slices.Contains(known, to) {
				t.Errorf("%s points to %s, and there is nothing", path, found)
			}
		}
	}
	if count < 50 {
		t.Errorf("found %d addresses", count)
	}
}

func read[T any](t *testing.T, s *Server, path string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.get(path)), &v, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

func TestInvalidPublicURL(t *testing.T) {
	for _, bad := range []string{"", "/", "deed.example", "https://", "https://%zz"} {
		site := testSite()
		site.PublicURL = bad
		if _, err := New(site); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
