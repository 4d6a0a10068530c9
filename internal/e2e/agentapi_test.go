package e2e_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/internal/agent"
)

// An outcome is the result of a tool call, the same for MCP and A2A.
type outcome struct {
	code  deed.Code // "" on success
	offer bool      // the error has an offer
	jobID string    // of the order, or of the one that the payment belongs to
	text  string    // the whole text
}

// An agentAPI calls a tool with an access token and a payment header; both may be
// "".
type agentAPI func(t *testing.T, tool, args, token, payment string) outcome

// agentAPIs returns MCP and A2A of an env.
func (s *env) agentAPIs(t *testing.T) map[string]agentAPI {
	t.Helper()
	p, a := s.peer(t), s.agent(t)
	return map[string]agentAPI{
		"MCP": func(t *testing.T, tool, args, token, payment string) outcome {
			t.Helper()
			var paid any
			if payment != "" {
				paid = payment
			}
			args, headers := withToken(tool, args, token)
			if len(headers) > 0 {
				return overMCP(t, s.agent(t, headers...).use(t, tool, args, paid))
			}
			return overMCP(t, a.use(t, tool, args, paid))
		},
		"A2A": func(t *testing.T, tool, args, token, payment string) outcome {
			t.Helper()
			var paid any
			if raw, err := base64.StdEncoding.DecodeString(payment); payment != "" && (err != nil || json.Unmarshal(raw, &paid) != nil) {
				paid = payment
			}
			args, headers := withToken(tool, args, token)
			if len(headers) > 0 {
				return overA2A(t, s.peer(t, headers...).send(t, ask(tool, args, paid)))
			}
			return overA2A(t, p.send(t, ask(tool, args, paid)))
		},
	}
}

// eachAgentAPI runs f with MCP and A2A, on each database.
func eachAgentAPI(t *testing.T, f func(t *testing.T, s *env, use agentAPI)) {
	for _, name := range []string{"MCP", "A2A"} {
		t.Run(name, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) { f(t, s, s.agentAPIs(t)[name]) })
		})
	}
}

// withToken adds a token to a tool call: as an argument, or as a header.
func withToken(tool, args, token string) (string, []string) {
	switch t, _ := agent.Find(tool); {
	case token == "":
		return args, nil
	case !t.Bearer:
		return args, []string{"Authorization", "Bearer " + token}
	}
	return strings.Replace(args, "{", fmt.Sprintf(`{"access_token":%q,`, token), 1), nil
}

func overMCP(t *testing.T, r *mcp.CallToolResult) outcome {
	t.Helper()
	var result struct {
		Code    deed.Code        `json:"code"`
		JobID   string           `json:"jobId"`
		Version int              `json:"x402Version"`
		Accepts []map[string]any `json:"accepts"`
	}
	if err := json.Unmarshal([]byte(body(t, r)), &result); err != nil {
		t.Errorf("got %s: %v", body(t, r), err)
	}
	out := outcome{code: result.Code, jobID: result.JobID, offer: len(result.Accepts) > 0, text: body(t, r)}
	if result.Version == 2 && len(r.Content) == 2 { // an offer; its explanation is in the second text
		words := r.Content[1].(*mcp.TextContent).Text
		code, _, _ := strings.Cut(words, ":")
		_, job, _ := strings.Cut(words, "belongs to ")
		job, _, _ = strings.Cut(job, ":")
		out.code, out.jobID, out.text = deed.Code(code), job, out.text+words
	}
	if r.IsError != (out.code != "") {
		t.Errorf("isError is %v: %s", r.IsError, out.text)
	}
	return out
}

func overA2A(t *testing.T, r a2a.SendMessageResult) outcome {
	t.Helper()
	var result struct {
		Code  deed.Code `json:"code"`
		JobID string    `json:"jobId"`
	}
	raw, err := json.Marshal(dataOf(t, r), json.Deterministic(true))
	if err != nil || json.Unmarshal(raw, &result) != nil {
		t.Errorf("got %s: %v", raw, err)
	}
	out := outcome{code: result.Code, jobID: result.JobID, text: string(raw)}
	if task, ok := r.(*a2a.Task); ok {
		out.offer = task.Status.Message.Metadata["x402.payment.required"] != nil
		if failed := task.Status.State == a2a.TaskStateFailed || task.Status.State == a2a.TaskStateInputRequired; failed != (out.code != "") {
			t.Errorf("the task is %s: %s", task.Status.State, raw)
		}
	}
	return out
}

func (o outcome) expect(t *testing.T, code deed.Code) {
	t.Helper()
	if o.code != code {
		t.Errorf("got %s, want %q", o.text, code)
	}
}
