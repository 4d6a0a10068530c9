package discovery

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"deed.example/deed/api"
)

// RFC 9727: a linkset (RFC 9264, 4.2) whose context is the API, and a Link header,
// also for HEAD.
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
	if strings.ContainsAny(got.Image, " \"<>") { // not in a URI (RFC 3986, 2)
		t.Errorf("the image is no URL: %s", got.Image)
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
