package e2e_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	deedmcp "deed.example/deed/internal/mcp"
)

// An mcpAgent is the official MCP client. Its exchanges are validated against
// openapi.yaml, and its results against the output schemas.
type mcpAgent struct {
	*mcp.ClientSession
	tools map[string]*mcp.Tool
}

// with is a transport that adds headers to every request.
type with struct {
	base    http.RoundTripper
	headers []string
}

func (w with) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for i := 0; i < len(w.headers); i += 2 {
		r.Header.Set(w.headers[i], w.headers[i+1])
	}
	return w.base.RoundTrip(r)
}

// agent connects an agent that sends the headers, alternating names and values.
func (h *service) agent(t *testing.T, headers ...string) *mcpAgent {
	t.Helper()
	if h.api.MCP == nil {
		h.enableMCP(func() {})
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: "http://" + h.addr + "/mcp", HTTPClient: &http.Client{Transport: with{h.client.Transport, headers}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() }) // there is nothing to close
	a := &mcpAgent{session, map[string]*mcp.Tool{}}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		a.tools[tool.Name] = tool
	}
	return a
}

// enableMCP enables POST /mcp. While a call waits, advance is called.
func (h *service) enableMCP(advance func()) {
	h.api.MCP = deedmcp.NewHandler(&agent.Executor{
		Caller: agent.Local{Handler: h.api.Handler()}, Now: time.Now, WaitSlots: make(chan struct{}, 8), Stopping: h.api.Draining,
		Pause: func(ctx context.Context, _ time.Duration) error { advance(); return ctx.Err() },
	}, deedmcp.Site{Version: "test", PublicURL: h.api.PublicURL, Limits: h.api.Limits})
}

// use calls a tool, with the payment if it is not nil.
func (a *mcpAgent) use(t *testing.T, tool, args string, payment any) *mcp.CallToolResult {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: raw(args)}
	if payment != nil {
		p.Meta = mcp.Meta{"x402/payment": payment}
	}
	res, err := a.CallTool(t.Context(), p)
	if err != nil {
		t.Errorf("%s %s: %v", tool, args, err)
		return &mcp.CallToolResult{}
	}
	checkOutput(t, a.tools[tool], res)
	return res
}

// body returns the structured content as JSON.
func body(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	out, err := json.Marshal(r.StructuredContent, json.Deterministic(true))
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

// done decodes the result of a successful call.
func done[T any](t *testing.T, r *mcp.CallToolResult) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(body(t, r)), &out); err != nil || r.IsError {
		t.Errorf("got %s, %v", body(t, r), err)
	}
	return out
}

// refusedWith fails unless the result is an error with the code.
func refusedWith(t *testing.T, r *mcp.CallToolResult, code deed.Code) {
	t.Helper()
	var e api.Error
	_ = json.Unmarshal([]byte(body(t, r)), &e) // other bodies have no code
	if !r.IsError || e.Code != string(code) {
		t.Errorf("got %s, want %s", body(t, r), code)
	}
}

// offeredBy fails unless the result has an offer in all places where clients look
// for one. It returns the offer and the text.
func offeredBy(t *testing.T, r *mcp.CallToolResult) (api.PaymentOffer, string) {
	t.Helper()
	var o api.PaymentOffer
	if err := json.Unmarshal([]byte(body(t, r)), &o); err != nil || !r.IsError || o.X402Version != 2 || len(r.Content) != 2 {
		t.Fatalf("got %s, %v", body(t, r), err)
	}
	for _, place := range []any{raw(r.Content[0].(*mcp.TextContent).Text), r.Meta["x402/error"]} {
		var again api.PaymentOffer
		text, err := json.Marshal(place)
		if err != nil || json.Unmarshal(text, &again) != nil || fmt.Sprint(again) != fmt.Sprint(o) {
			t.Errorf("got %s, %v, want %+v", text, err, o)
		}
	}
	return o, r.Content[1].(*mcp.TextContent).Text
}

// object returns the payment of a header as an object.
func object(t *testing.T, header string) map[string]any {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(header)
	var out map[string]any
	if err != nil || json.Unmarshal(text, &out) != nil {
		t.Fatalf("%s: %v", header, err)
	}
	return out
}
