package discovery

import (
	"fmt"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
)

// guides are the documents with an edition of the price list.
type guides struct {
	listings    []catalog.Listing
	full, skill page
}

// priced returns the guides with the current prices. Registrars change them while the
// service runs.
func (s *Server) priced() *guides {
	listings := s.site.Listings()
	if g := s.guides.Load(); g != nil && catalog.SameEdition(g.listings, listings) {
		return g
	}
	g := &guides{listings, text("text/plain", s.llmsFull(listings)), text("text/markdown", s.skill(listings))}
	s.guides.Store(g)
	return g
}

// A guide is a Markdown text.
type guide struct{ strings.Builder }

func (g *guide) line(format string, args ...any) { fmt.Fprintf(g, format+"\n", args...) }

func (g *guide) section(title string) { g.line("\n## %s\n", title) }

// llms returns the short guide in the format of llmstxt.org: a title, a summary,
// and lists of links.
func (s *Server) llms() string {
	g := &guide{}
	s.opening(g)
	g.section("Start here")
	for _, l := range []struct{ title, path, note string }{
		{"Skill", "/SKILL.md", "how to buy a name and set its DNS, step by step"},
		{"Everything in one text", "/llms-full.txt", "every call, price, limit and error"},
		{"Docs", "/docs/", "for people: tutorial, payments, DNS, errors"},
		{"Errors", "/docs/errors", "what each code means and what to do"},
		{"API reference", "/docs/api", "every call with an example, for people"},
		{"OpenAPI 3.1", "/openapi.json", "every call with its schemas; `x-payment-info` marks those that cost money"},
		{"Agent card", "/.well-known/agent-card.json", "A2A: JSON-RPC at `/a2a`, signed with the keys at `/.well-known/jwks.json`"},
		{"MCP server card", "/mcp/server-card", "MCP: streamable HTTP at `/mcp`"},
		{"Prices", "/domains/pricing", "of every TLD, in USDC"},
		{"Health", "/health", "whether the service and its parts work"},
	} {
		g.line("- [%s](%s): %s", l.title, s.at(l.path), l.note)
	}
	for _, topic := range s.topics() {
		g.section(topic)
		for _, c := range s.about(topic) {
			g.line("- [%s](%s): %s %s", c, s.at(c.pointer()), c.summary, c.terms())
		}
	}
	return g.String()
}

// llmsFull returns the complete guide, which replaces the linked documents.
func (s *Server) llmsFull(listings []catalog.Listing) string {
	g := &guide{}
	s.opening(g)
	g.section("How to buy a name")
	s.steps(g)
	g.section("Prices")
	s.prices(g, listings)
	g.section("Limits")
	s.limits(g)
	g.section("Errors")
	s.errors(g)
	for _, topic := range s.topics() {
		g.section(topic)
		for _, c := range s.about(topic) {
			g.line("### %s\n\n%s %s\n\n%s\n", c, c.summary, c.terms(), c.description)
		}
	}
	return g.String()
}

// skill returns the guide as an agent skill: front matter with a name and a
// description, then the instructions.
func (s *Server) skill(listings []catalog.Listing) string {
	g := &guide{}
	g.line("---\nname: deed-domains\ndescription: Search, register, renew and transfer domain names and manage their DNS at %s. Use it when somebody wants a domain name, its price, its expiry or its DNS records changed. Pays USDC through x402; signs in with Ethereum.\n---\n", s.site.PublicURL)
	g.line("# Domain names at %s", s.site.PublicURL)
	g.section("Buy a name")
	s.steps(g)
	g.section("Prices")
	s.prices(g, listings)
	g.section("Limits")
	s.limits(g)
	g.section("When a call fails")
	s.errors(g)
	g.section("More")
	g.line("- %s has every call with its schemas, %s describes them in words.", s.at("/openapi.json"), s.at("/llms-full.txt"))
	g.line("- The same can be done over MCP at %s and over A2A at %s.", s.at("/mcp"), s.at("/a2a"))
	return g.String()
}

func (s *Server) opening(g *guide) {
	g.line("# %s\n\n> %s\n", name, summary)
	g.line("There are no accounts, passwords or API keys: a caller is a wallet. Reading is free; orders and DNS changes cost USDC on %s.", s.network())
	if s.site.Sandbox {
		g.line("\nThis is a sandbox: it uses test money from `POST /sandbox/faucet`, and no name bought here exists elsewhere.")
	}
}

func (s *Server) network() string {
	if s.site.Network == "" {
		return "a network that the operator has not named yet"
	}
	return s.site.Network
}

// steps lists the calls from a search to a name that resolves.
func (s *Server) steps(g *guide) {
	for i, step := range []string{
		"`GET %[1]s/domains/search?query=example` says under which TLDs a name is available and what it costs, the first year and later ones.",
		"`POST %[1]s/domains/register` with `{\"domain\":\"example.com\",\"maxPriceUsd\":\"20.00\"}` is answered 402 with an offer: in the header `PAYMENT-REQUIRED` (x402 version 2) and in the body (version 1). With `\"dryRun\":true` every check is made and nothing is bought.",
		"Sign the offer with the wallet that is to own the name (EIP-3009, scheme exact) and repeat the call with `PAYMENT-SIGNATURE` or `X-PAYMENT`. Stock x402 clients refuse more than 1 USDC: raise their cap.",
		"201 is the name. 202 is a job: ask `poll_url` until it is completed, and never pay again for it. Repeating a call with the same payment repeats its answer and never charges twice; what cannot be delivered is paid back. Stock clients sign a new payment instead, so send `expectedExpiresAt` with a renewal: a second one is refused before it is paid.",
		"For DNS, sign in: `GET %[1]s/auth/nonce`, sign the message (EIP-4361), `POST %[1]s/auth/verify`, and send the token as `Authorization: Bearer`.",
		"`POST %[1]s/dns/example.com` with `{\"type\":\"A\",\"host\":\"@\",\"value\":\"192.0.2.10\"}` adds a record; it is paid like an order.",
	} {
		g.line("%d. "+strings.ReplaceAll(step, "%[1]s", s.site.PublicURL), i+1)
	}
}

// prices lists the prices of popular TLDs.
func (s *Server) prices(g *guide, listings []catalog.Listing) {
	g.line("%d TLDs; `GET /domains/pricing` lists all. Per year, in USDC:\n", len(listings))
	g.line("| TLD | registration | renewal | transfer |\n|---|---|---|---|")
	for _, l := range shown(listings) {
		g.line("| .%s | %s | %s | %s |", l.TLD, l.Registration, l.Renewal, l.Transfer)
	}
	g.line("")
	for _, c := range s.calls {
		if c.price != "" {
			g.line("- `%s` costs %s.", c, c.price)
		}
	}
}

// shown returns the listings of popular TLDs, or as many others if none of these is sold.
func shown(listings []catalog.Listing) []catalog.Listing {
	popular := []deed.TLD{"com", "net", "org", "io", "xyz", "dev", "app", "ai"}
	out := slices.DeleteFunc(slices.Clone(listings), func(l catalog.Listing) bool { return !slices.Contains(popular, l.TLD) })
	if len(out) == 0 {
		return listings[:min(len(listings), len(popular))]
	}
	return out
}

func (s *Server) limits(g *guide) {
	l := s.site.Limits
	for _, row := range []struct {
		what, who string
		limit     deed.Limit
	}{
		{"searches and checks", "address", l.Search},
		{"orders", "address", l.Register},
		{"DNS calls and other calls of an owner", "wallet", l.DNS},
		{"account calls", "wallet", l.Account},
		{"sign-in calls", "address", l.SignIn},
		{"messages to /mcp and /a2a", "address", l.Agents},
	} {
		g.line("- %s: %d in %s, per %s", row.what, row.limit.Max, row.limit.Period(), row.who)
	}
	g.line("\n`X-RateLimit-*` says what is left; 429 says in `Retry-After` how many seconds to wait.")
}

// errors lists the error codes of openapi.yaml.
func (s *Server) errors(g *guide) {
	g.line("Every error is JSON with `error`, `message`, `code`, and often a `hint`. The codes: %s. `doc_url` leads to the code in %s.", strings.Join(s.codes, ", "), s.at("/docs/errors"))
	g.line("\nOn PAYMENT_INVALID with an empty `accepts`, and on 503 with `settlement_pending`, do not sign again: the first payment is under way. Repeat the same call with the same payment.")
}

// topics returns the topics of the calls, in the order of openapi.yaml.
func (s *Server) topics() []string {
	var out []string
	for _, c := range s.calls {
		if !slices.Contains(out, c.topic) && (c.topic != "Sandbox" || s.site.Sandbox) {
			out = append(out, c.topic)
		}
	}
	return out
}

func (s *Server) about(topic string) []call {
	return slices.DeleteFunc(slices.Clone(s.calls), func(c call) bool { return c.topic != topic })
}
