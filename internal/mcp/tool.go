package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/wirejson"
)

// handle returns the handler of a tool. If it returns a question, the protocol asks
// the user and calls the handler again with the answer.
func handle(e *agent.Executor, t agent.Tool, q *questions) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		header := headerOf(req.Extra)
		r := agent.Request{
			Arguments: req.Params.Arguments,
			Bearer:    bearerOf(header),
			Payment:   agent.PaymentOf(req.Params.Meta[metaPayment]),
			From:      originOf(header),
		}
		if declined := q.agreed(t, req, &r); declined != nil {
			return declined, nil
		}
		a, err := e.Do(ctx, t, r)
		if err != nil {
			return broken(err), nil
		}
		if a.Question != nil && r.Asks {
			return q.ask(t, req, *a.Question), nil
		}
		return result(a), nil
	}
}

func headerOf(extra *mcp.RequestExtra) http.Header {
	if extra == nil {
		return nil
	}
	return extra.Header
}

// bearerOf returns the access token of the headers, or "".
func bearerOf(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// result turns the response of a call into the result of a tool.
func result(a agent.Answer) *mcp.CallToolResult {
	r := &mcp.CallToolResult{IsError: !a.Done()}
	r.Meta = receipt(a.Header)
	if offer, ok := offerOf(a); ok {
		return unpaid(r, offer, a)
	}
	if !jsontext.Value(a.Body).IsValid() { // a remote service, or a proxy in front of it, may send anything
		return broken(fmt.Errorf("the service answered %d with what is not JSON: %.200q", a.Status, a.Body))
	}
	r.StructuredContent = jsontext.Value(a.Body)
	r.Content = []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(string(a.Body))}}
	return r
}

// broken returns the result of a call without a response.
func broken(err error) *mcp.CallToolResult {
	e := api.Error{Error: "Service unavailable", Message: err.Error(), Code: "SERVICE_UNAVAILABLE"}
	raw, _ := wirejson.Marshal(e) // strings cannot make it fail
	return &mcp.CallToolResult{IsError: true, StructuredContent: jsontext.Value(raw), Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}
}
