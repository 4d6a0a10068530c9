// Package mcp lets agents use the service through the Model Context Protocol:
// over HTTP at /mcp, and on the standard streams of `deed mcp`.
//
// It exposes the table of package agent as tools and has no rules of its own. A
// tool call becomes the corresponding HTTP call (tool.go), with the caller's
// address, token and payment, and the response becomes a result: the body as
// structured content and as text, an error marked as such. A paid tool without a
// payment returns the x402 offer, in both places where clients look for it, and
// runs when the same call is repeated with a payment (payment.go).
//
// On the standard streams there is a local wallet, and a paid call buys at once;
// the tools and texts depend on what the user has allowed (stdio.go).
//
// Over HTTP there are no sessions: every message is independent, so any node can
// serve it.
package mcp

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// instructions are the server instructions for agents that connect over HTTP.
const instructions = `Deed sells domain names and runs their DNS. Prices are in USDC.
Searching, checking and prices are free and need nothing. register_domain, renew_domain and transfer_domain need a payment and no sign-in: the wallet that pays owns the name. DNS and account tools need a sign-in by that wallet (sign_in_message, sign_in, then the token as Authorization: Bearer or as access_token).
A tool that costs money answers with an offer (x402) until the call carries a payment in _meta["x402/payment"]. Use dry_run or check_domains to know the price first, and max_price_usd to be safe. Sending the same payment with the same call again never pays twice.`

// options are the differences between the HTTP and the stdio server.
type options struct {
	instructions string
	quickStart   string
	prompt       bool       // offer the prompt buy_domain
	sandbox      bool       // offer the tools that only a sandbox has
	questions    *questions // nil if the user is not asked

	// present returns a tool as it is listed, or why it is not offered.
	present func(t agent.Tool) (shown agent.Tool, refusal string)
}

// httpOptions are for agents that send payments with their calls.
func httpOptions(site Site) options {
	return options{
		instructions: instructions,
		quickStart:   quickStart(site.Limits),
		prompt:       true,
		sandbox:      site.Sandbox,
		present:      func(t agent.Tool) (agent.Tool, string) { return t, "" },
	}
}

// newServer returns the server for either transport.
func newServer(e *agent.Executor, version string, m options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "deed", Title: "Deed: domain names and DNS", Version: version}, &mcp.ServerOptions{
		Instructions: m.instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	var names []string
	refusals := map[string]string{}
	for _, t := range agent.Tools(m.sandbox) {
		shown, refusal := m.present(t)
		if refusal != "" {
			refusals[t.Name] = refusal
			continue
		}
		names = append(names, t.Name)
		s.AddTool(describe(shown), handle(e, t, m.questions))
	}
	s.AddReceivingMiddleware(rejectUnknownTools(names, refusals))
	addResources(s, e.Caller, m.quickStart)
	if m.prompt {
		addPrompt(s)
	}
	return s
}

// rejectUnknownTools returns an error for unknown tools that lists the known
// ones, or says why a tool is not offered.
func rejectUnknownTools(names []string, refusals map[string]string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, ok := req.(*mcp.CallToolRequest)
			if !ok || call.Params == nil || slices.Contains(names, call.Params.Name) {
				return next(ctx, method, req)
			}
			message := fmt.Sprintf("unknown tool %.64q: there are %s", call.Params.Name, strings.Join(names, ", "))
			if refusal := refusals[call.Params.Name]; refusal != "" {
				message = call.Params.Name + " is not offered here: " + refusal
			}
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
		}
	}
}

// describe returns the MCP definition of a tool.
func describe(t agent.Tool) *mcp.Tool {
	destructive := &t.Destructive
	if t.ReadOnly {
		destructive = nil // it says nothing then
	}
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: t.Input, OutputSchema: t.Output,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly, DestructiveHint: destructive, IdempotentHint: t.Idempotent, // openWorldHint is true by default
		},
	}
}
