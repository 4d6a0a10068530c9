package mcp

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/internal/agent"
)

//go:embed quickstart.md
var quickStartHTTP string

// quickStart returns the quick start with the limits of the service.
func quickStart(l deed.Limits) string {
	return strings.NewReplacer(
		"{{search}}", strconv.Itoa(l.Search.Max), "{{orders}}", strconv.Itoa(l.Register.Max), "{{dns}}", strconv.Itoa(l.DNS.Max),
	).Replace(quickStartHTTP)
}

// A resource is an MCP resource that an HTTP call returns.
type resource struct {
	uri, name, title, about, path string
}

var resources = []resource{
	{"deed://pricing", "pricing", "Prices of every TLD", "What registration, renewal and transfer cost under each TLD, in USDC.", "/domains/pricing"},
	{"deed://openapi", "openapi", "The HTTP interface", "The OpenAPI 3.1 description of every call, the same that these tools make.", "/openapi.json"},
}

// addResources adds the quick start, the price list and the OpenAPI description.
func addResources(s *mcp.Server, c agent.Caller, quickStart string) {
	const uri, kind = "deed://quickstart", "text/markdown"
	s.AddResource(&mcp.Resource{URI: uri, Name: "quickstart", Title: "Quick start", Description: "How to find, buy and set up a name with these tools.", MIMEType: kind},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(uri, kind, quickStart), nil
		})
	for _, p := range resources {
		s.AddResource(&mcp.Resource{URI: p.uri, Name: p.name, Title: p.title, Description: p.about, MIMEType: "application/json"},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				a, err := c.Call(ctx, agent.Call{Method: "GET", Path: p.path, From: originOf(headerOf(req.Extra))})
				if err != nil {
					return nil, err
				}
				if !a.Done() {
					return nil, fmt.Errorf("read %s: %s", p.uri, a.Body)
				}
				return contents(p.uri, "application/json", string(a.Body)), nil
			})
	}
}

func contents(uri, kind, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}

// addPrompt adds the prompt buy_domain.
func addPrompt(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{
		Name: "buy_domain", Title: "Find and buy a domain", Description: "Find a good available name for something, and buy it within a budget.",
		Arguments: []*mcp.PromptArgument{
			{Name: "idea", Title: "Idea", Description: "What the name is for, or words it should hold.", Required: true},
			{Name: "budget_usd", Title: "Budget", Description: "The most that the first year may cost, such as 15.", Required: false},
		},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		idea, budget := req.Params.Arguments["idea"], req.Params.Arguments["budget_usd"]
		if idea == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "say what the name is for: the argument idea is empty"}
		}
		limit := "Ask me how much I want to spend before you buy, and pass it as max_price_usd."
		if budget != "" {
			limit = fmt.Sprintf("Spend at most %s USDC on the first year: pass it as max_price_usd.", budget)
		}
		text := fmt.Sprintf("Find me a domain name for: %s\n\nThink of short labels, look them up with search_domains, and show me the best available names with the price of the first year and of renewal. %s "+
			"When I have chosen one, make a dry run of register_domain, tell me the price, and buy it only when I say yes. If the order is still running, follow it with get_job.", idea, limit)
		return &mcp.GetPromptResult{Description: "Find and buy a domain", Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
}
