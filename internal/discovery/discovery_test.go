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
	"deed.example/deed/api"
)

var today = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testSite() Site {
	return Site{
		PublicURL: "https://names.deed.example", Version: "1.2.3", Contact: "security@deed.example", Limits: deed.DefaultLimits(), Network: "base",
		Listings: []deed.Listing{{TLD: "com", Registration: 1_306 * deed.Cent, Renewal: 1_407 * deed.Cent, Transfer: 1_508 * deed.Cent}},
		Now:      func() time.Time { return today },
		Key:      testKey,
	}
}

// testKey is made once: two servers with one key are two nodes of one service.
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

// media are the types that the specifications of the documents name.
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

// docs/agents.md explains every document, and none that is not there.
func TestPaperNamesEveryDocument(t *testing.T) {
	paper, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"/openapi.json": true} // httpapi has that one
	for _, row := range regexp.MustCompile("(?m)^\\| `(/[^`]+)` \\|").FindAllStringSubmatch(string(paper), -1) {
		named[row[1]] = true
		if media[row[1]] == "" && row[1] != "/openapi.json" {
			t.Errorf("the paper names %s, which is not there", row[1])
		}
	}
	for path := range media {
		if !named[path] {
			t.Errorf("the paper does not name %s", path)
		}
	}
}

var address = regexp.MustCompile(`https://names\.deed\.example[^\s")'\x60>,]*`)

// Whatever a document of ours points to at our own address is a call of
// openapi.yaml, or one of the two that are not HTTP's own.
func TestEveryAddressAnswers(t *testing.T) {
	s := open(t, testSite())
	known := []string{"", "/", "/a2a", "/mcp"}
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

// The guides speak of every call, and of money and limits as they are.
func TestGuidesAreComplete(t *testing.T) {
	site := testSite()
	site.Limits.Search.Max = 61
	site.Sandbox = true
	s := open(t, site)
	for _, path := range []string{"/llms.txt", "/llms-full.txt"} {
		got := s.get(path)
		if !regexp.MustCompile(`^# Deed\n\n> \S[^\n]+\n`).MatchString(got) { // llmstxt.org: a title, then a quote
			t.Errorf("%s begins with %.100q", path, got)
		}
		for _, c := range s.calls {
			if !strings.Contains(got, c.String()) || !strings.Contains(got, c.terms()) {
				t.Errorf("%s does not speak of %s", path, c)
			}
		}
	}
	for _, path := range []string{"/llms-full.txt", "/SKILL.md"} {
		for _, want := range []string{"| .com | 13.06 | 14.07 | 15.08 |", "searches and checks: 61 in a minute", "`POST /dns/{domain}` costs 0.10 USDC", "SERVICE_UNAVAILABLE"} {
			if !strings.Contains(s.get(path), want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
	if short, long := len(s.get("/llms.txt")), len(s.get("/llms-full.txt")); short >= long {
		t.Errorf("the short guide has %d bytes, the long one %d", short, long)
	}
	if got := open(t, testSite()).get("/llms-full.txt"); strings.Contains(got, "faucet") {
		t.Error("a service with real money speaks of a faucet")
	}
}

// The lists of llms.txt are links with a note.
func TestLLMSIsListsOfLinks(t *testing.T) {
	item := regexp.MustCompile(`^- \[[^\]]+\]\(https://[^)]+\): \S`)
	_, lists, _ := strings.Cut(open(t, testSite()).get("/llms.txt"), "\n## ")
	for line := range strings.Lines(lists) {
		if strings.HasPrefix(line, "-") && !item.MatchString(line) || strings.HasPrefix(line, "# ") {
			t.Errorf("got %q", line)
		}
	}
}

// A skill has a name and a description in front (agentskills.io).
func TestSkillHasItsFront(t *testing.T) {
	front := regexp.MustCompile(`(?s)^---\nname: ([a-z0-9]+(?:-[a-z0-9]+)*)\ndescription: ([^\n]+)\n---\n`).FindStringSubmatch(open(t, testSite()).get("/SKILL.md"))
	if front == nil || len(front[1]) > 64 || len(front[2]) > 1024 || strings.ContainsAny(front[2], "<>") {
		t.Errorf("got %q", front)
	}
}

// RFC 9116, 2.5: one or more Contact, one Expires, less than a year ahead.
func TestSecurityText(t *testing.T) {
	site := testSite()
	now := today
	site.Now = func() time.Time { return now }
	s := open(t, site)
	fields := map[string][]string{}
	for line := range strings.Lines(s.get("/.well-known/security.txt")) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Errorf("got %q", line)
		}
		fields[key] = append(fields[key], value)
	}
	if !slices.Equal(fields["Contact"], []string{"mailto:security@deed.example"}) || !slices.Equal(fields["Canonical"], []string{"https://names.deed.example/.well-known/security.txt"}) || len(fields["Expires"]) != 1 {
		t.Fatalf("got %v", fields)
	}
	expires, err := time.Parse(time.RFC3339, fields["Expires"][0])
	if err != nil || !expires.After(today.AddDate(0, 3, 0)) || !expires.Before(today.AddDate(1, 0, 0)) {
		t.Errorf("it expires at %s, %v", expires, err)
	}
	before := s.get("/.well-known/security.txt")
	if now = today.Add(time.Hour); s.get("/.well-known/security.txt") != before {
		t.Error("it changes within a day")
	}
	if now = today.AddDate(0, 0, 1); s.get("/.well-known/security.txt") == before {
		t.Error("it does not move on")
	}
}

// RFC 9309: groups of a user agent and its rules.
func TestRobots(t *testing.T) {
	rule := regexp.MustCompile(`^(User-agent: \*|(Allow|Disallow): /\S*)\n$`)
	for line := range strings.Lines(open(t, testSite()).get("/robots.txt")) {
		if !rule.MatchString(line) {
			t.Errorf("got %q", line)
		}
	}
}

func read[T any](t *testing.T, s *Server, path string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.get(path)), &v, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// RFC 9727: a linkset (RFC 9264, 4.2) whose context is our API, and a Link that
// HEAD has too.
func TestAPICatalog(t *testing.T) {
	s := open(t, testSite())
	got := read[api.Linkset](t, s, catalogPath)
	if len(got.Linkset) != 1 || got.Linkset[0].Anchor != "https://names.deed.example/" {
		t.Fatalf("got %+v", got)
	}
	api := got.Linkset[0]
	if len(api.ServiceDesc) != 1 || api.ServiceDesc[0].Href != "https://names.deed.example/openapi.json" || len(api.ServiceDoc) == 0 || len(api.Status) != 1 {
		t.Errorf("got %+v", api)
	}
	for _, method := range []string{"GET", "HEAD"} {
		if link := s.ask(method, catalogPath).Header().Get("Link"); link != `<https://names.deed.example/.well-known/api-catalog>; rel="api-catalog"` {
			t.Errorf("%s: got Link %q", method, link)
		}
	}
}

func TestAICatalog(t *testing.T) {
	got := read[api.AICatalog](t, open(t, testSite()), "/.well-known/ai-catalog.json")
	if got.SpecVersion == "" || got.Host.DisplayName == "" || len(got.Entries) != 2 {
		t.Fatalf("got %+v", got)
	}
	for i, want := range []string{"application/a2a-agent-card+json", "application/mcp-server-card+json"} {
		e := got.Entries[i]
		if e.Type != want || e.DisplayName == "" || !regexp.MustCompile(`^urn:air:names\.deed\.example:[a-z0-9]+$`).MatchString(e.Identifier) {
			t.Errorf("got %+v", e)
		}
	}
}

// ERC-8004: the members that a registration file must have.
func TestAgentRegistration(t *testing.T) {
	site := testSite()
	got := read[api.AgentRegistration](t, open(t, site), "/.well-known/agent-registration.json")
	if got.Type != "https://eips.ethereum.org/EIPS/eip-8004#registration-v1" || got.Name == "" || got.Description == "" || !strings.HasPrefix(got.Image, "data:image/svg+xml,") || !got.X402Support || !got.Active {
		t.Errorf("got %+v", got)
	}
	names := []string{}
	for _, service := range got.Services {
		names = append(names, service.Name)
	}
	if !slices.Equal(names, []string{"web", "A2A", "MCP"}) {
		t.Errorf("got %v", names)
	}
	site.Network = ""
	if read[api.AgentRegistration](t, open(t, site), "/.well-known/agent-registration.json").X402Support {
		t.Error("a service that takes no payments says that it does")
	}
}

// SEP-2127: the required members and their patterns.
func TestServerCard(t *testing.T) {
	for public, want := range map[string]string{
		"https://names.deed.example": "example.deed.names/deed",
		"http://127.0.0.1:8080":      "127.0.0.1/deed",
		"http://[::1]:8080":          "..1/deed",
		"http://localhost:8080":      "localhost/deed",
	} {
		site := testSite()
		site.PublicURL = public
		got := read[api.ServerCard](t, open(t, site), "/mcp/server-card")
		if got.Name != want || !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(got.Name) {
			t.Errorf("%s: got %s, want %s", public, got.Name, want)
		}
		if got.Schema == "" || got.Version != "1.2.3" || len(got.Description) == 0 || len(got.Description) > 100 || len(got.Remotes) != 1 || got.Remotes[0].Type != "streamable-http" || got.Remotes[0].URL != public+"/mcp" {
			t.Errorf("got %+v", got)
		}
	}
}

func TestAddressMustBeOne(t *testing.T) {
	for _, bad := range []string{"", "/", "deed.example", "https://", "https://%zz"} {
		site := testSite()
		site.PublicURL = bad
		if _, err := New(site); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
