// Package mcp lets agents use the service through the Model Context Protocol:
// over HTTP at /mcp, and on the standard streams of `deed mcp`.
//
// It shows the table of package agent as tools and holds no rule of its own. A
// tool call becomes the call of its HTTP twin (tool.go), with the caller's own
// address, token and payment, and the answer becomes a result: the body as
// structured content and as text, a refusal marked as an error. What costs money
// is refused with the offer of x402, in the two ways that clients look for it,
// and done when the same call comes again with a payment (payment.go).
//
// On the standard streams there is a wallet at hand, and a paid call buys at
// once; what is shown and said there follows from what its owner allowed
// (stdio.go).
//
// Over HTTP there are no sessions: every message stands for itself, so any node
// can answer any of them.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// instructions are what every agent reads first that comes over HTTP.
const instructions = `Deed sells domain names and runs their DNS. Prices are in USDC.
Searching, checking and prices are free and need nothing. register_domain, renew_domain and transfer_domain need a payment and no sign-in: the wallet that pays owns the name. DNS and account tools need a sign-in by that wallet (sign_in_message, sign_in, then the token as Authorization: Bearer or as access_token).
A tool that costs money answers with an offer (x402) until the call carries a payment in _meta["x402/payment"]. Use dry_run or check_domains to know the price first, and max_price_usd to be safe. Sending the same payment with the same call again never pays twice.`

// A manner is how a server speaks to those who come one way.
type manner struct {
	instructions string
	quickStart   string
	prompt       bool // it has the prompt that buys

	// present returns a tool as it is shown, or why it is not.
	present func(t agent.Tool) (shown agent.Tool, refusal string)
}

// overHTTP is for agents that carry payments along.
var overHTTP = manner{
	instructions: instructions,
	quickStart:   quickStart,
	prompt:       true,
	present:      func(t agent.Tool) (agent.Tool, string) { return t, "" },
}

// newServer returns the one server of both ways in.
func newServer(d *agent.Desk, version string, m manner) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "deed", Title: "Deed: domain names and DNS", Version: version}, &mcp.ServerOptions{
		Instructions: m.instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	var names []string
	refusals := map[string]string{}
	for _, t := range agent.Tools() {
		shown, refusal := m.present(t)
		if refusal != "" {
			refusals[t.Name] = refusal
			continue
		}
		names = append(names, t.Name)
		s.AddTool(describe(shown), handle(d, t))
	}
	s.AddReceivingMiddleware(knowTools(names, refusals))
	addResources(s, d.Caller, m.quickStart)
	if m.prompt {
		addPrompt(s)
	}
	return s
}

// knowTools tells who calls a tool that is not there which are, or why not.
func knowTools(names []string, refusals map[string]string) mcp.Middleware {
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

// describe says what a tool is, in the words of the protocol.
func describe(t agent.Tool) *mcp.Tool {
	openWorld := true
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema: json.RawMessage(t.Input), OutputSchema: json.RawMessage(t.Output),
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &openWorld,
		},
	}
}
