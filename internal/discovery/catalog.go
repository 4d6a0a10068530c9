package discovery

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"deed.example/deed/api"
)

const (
	catalogPath  = "/.well-known/api-catalog"
	linksetMedia = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
)

// linkset returns the API catalogue (RFC 9727, 4.1).
func (s *Server) linkset() api.Linkset {
	return api.Linkset{Linkset: []api.LinkContext{{
		Anchor:      s.at("/"),
		ServiceDesc: []api.Link{{Href: s.at("/openapi.json"), Type: "application/json"}},
		ServiceDoc:  []api.Link{{Href: s.at("/llms-full.txt"), Type: "text/plain"}, {Href: s.at("/SKILL.md"), Type: "text/markdown"}},
		ServiceMeta: []api.Link{
			{Href: s.at("/.well-known/agent-card.json"), Type: "application/json"},
			{Href: s.at("/mcp/server-card"), Type: "application/mcp-server-card+json"},
			{Href: s.at("/.well-known/ai-catalog.json"), Type: "application/ai-catalog+json"},
			{Href: s.at("/.well-known/agent-registration.json"), Type: "application/json"},
		},
		Status: []api.Link{{Href: s.at("/health"), Type: "application/json"}},
	}}}
}

// aiCatalog lists the interfaces for agents.
func (s *Server) aiCatalog() api.AICatalog {
	entry := func(id, title, media, path string) api.AICatalogEntry {
		return api.AICatalogEntry{
			Identifier: "urn:air:" + strings.ReplaceAll(s.host, ":", ".") + ":" + id, DisplayName: title, Type: media, URL: s.at(path),
			Description: summary, Tags: []string{"domains", "dns", "x402"},
		}
	}
	return api.AICatalog{
		SpecVersion: "1.0",
		Host:        api.AICatalogHost{DisplayName: name, DocumentationURL: s.at("/llms.txt")},
		Entries: []api.AICatalogEntry{
			entry("a2a", name+" (A2A)", "application/a2a-agent-card+json", "/.well-known/agent-card.json"),
			entry("mcp", name+" (MCP)", "application/mcp-server-card+json", "/mcp/server-card"),
		},
	}
}

// image is the picture that ERC-8004 requires, a name tag, as a data URL.
const image = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2024%2024'%3E%3Cpath%20d='M3%204h10l8%208-8%208H3z'%20fill='%23246'/%3E%3Ccircle%20cx='7'%20cy='12'%20r='2'%20fill='%23fff'/%3E%3C/svg%3E"

// registration returns the document that an on-chain registry of agents points to.
// The service is not registered in any yet.
func (s *Server) registration() api.AgentRegistration {
	return api.AgentRegistration{
		Type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
		Name: name, Description: summary, Image: image,
		Services: []api.AgentService{
			{Name: "web", Endpoint: s.at("/")},
			{Name: "A2A", Endpoint: s.at("/.well-known/agent-card.json"), Version: protocolVersion},
			{Name: "MCP", Endpoint: s.at("/mcp")},
		},
		X402Support: s.site.Network != "", Active: true, Registrations: []api.AgentIdentity{},
	}
}

func (s *Server) serverCard() api.ServerCard {
	return api.ServerCard{
		Schema:  "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
		Name:    s.reverseHost() + "/deed",
		Version: s.site.Version, Title: name, Description: summary, WebsiteURL: s.at("/"),
		Remotes: []api.ServerRemote{{Type: "streamable-http", URL: s.at("/mcp")}},
	}
}

// reverseHost returns the host name with its labels reversed; an IP address stays
// as it is.
func (s *Server) reverseHost() string {
	if addr, err := netip.ParseAddr(s.host); err == nil {
		return strings.ReplaceAll(addr.String(), ":", ".")
	}
	labels := strings.Split(s.host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// robots is robots.txt: it excludes the paths that need a wallet.
const robots = `User-agent: *
Allow: /
Disallow: /account
Disallow: /auth/
Disallow: /dns/
Disallow: /sandbox
`

// security returns security.txt (RFC 9116). It expires in half a year, and changes
// once a day.
func (s *Server) security() string {
	expires := s.site.Now().UTC().Truncate(24*time.Hour).AddDate(0, 6, 0)
	return fmt.Sprintf("Contact: mailto:%s\nExpires: %s\nPreferred-Languages: en\nCanonical: %s\n",
		s.site.Contact, expires.Format(time.RFC3339), s.at("/.well-known/security.txt"))
}
