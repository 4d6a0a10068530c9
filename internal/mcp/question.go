package mcp

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/wirejson"
)

const (
	questionID   = "consent" // of the input request
	maxQuestions = 64        // that are open at a time; the oldest is forgotten
)

// questions are what the user has been asked and has not answered yet. An answer
// counts once, and only for the tool, the arguments and the price of its question.
// A nil *questions never asks.
type questions struct {
	mu    sync.Mutex // guards the fields below
	open  map[string]question
	order []string // keys of open, oldest first
}

type question struct {
	tool      string
	arguments []byte
	price     string
}

func newQuestions() *questions { return &questions{open: map[string]question{}} }

// ask returns the result that has the client ask the user (elicitation).
func (q *questions) ask(t agent.Tool, req *mcp.CallToolRequest, about agent.Question) *mcp.CallToolResult {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := rand.Text()
	q.open[key] = question{t.Name, canonical(req.Params.Arguments), about.Price}
	q.order = append(q.order, key)
	if len(q.order) > maxQuestions {
		delete(q.open, q.order[0])
		q.order = q.order[1:]
	}
	return &mcp.CallToolResult{RequestState: key, InputRequests: mcp.InputRequestMap{questionID: &mcp.ElicitParams{
		Mode: "form", Message: about.Text, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}}}
}

// agreed completes a request with whether the user can be asked, and with the
// price that the user agreed to. It returns the result if the user declined.
func (q *questions) agreed(t agent.Tool, req *mcp.CallToolRequest, r *agent.Request) *mcp.CallToolResult {
	if q == nil {
		return nil
	}
	r.Asks = canAsk(req.Session)
	answer, answered := req.Params.InputResponses[questionID].(*mcp.ElicitResult)
	if !answered {
		return nil
	}
	asked := q.take(req.Params.RequestState)
	if answer.Action == "accept" && asked.tool == t.Name && bytes.Equal(asked.arguments, canonical(req.Params.Arguments)) {
		r.Agreed = asked.price
		return nil
	}
	message := "the user did not agree: nothing was done"
	if answer.Action == "accept" {
		message = "the user agreed to another call, or too long ago: nothing was done"
	}
	said := api.Error{Error: "Ownership denied", Code: string(deed.CodeOwnershipDenied), Message: message, Hint: "do not repeat the call unless the user asks for it"}
	if t.Paid {
		said.Error, said.Code = "Payment required", string(deed.CodePaymentRequired)
	}
	body, _ := wirejson.Marshal(said) // strings cannot make it fail
	return result(agent.Answer{Status: http.StatusForbidden, Header: http.Header{}, Body: body})
}

// take returns an open question and removes it.
func (q *questions) take(key string) question {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.open[key]
	delete(q.open, key)
	return out
}

// canonical returns arguments in the one form of RFC 8785: a client may encode them
// again for the second call.
func canonical(arguments []byte) []byte {
	v := jsontext.Value(bytes.Clone(arguments))
	if v.Canonicalize() != nil {
		return arguments
	}
	return v
}

// canAsk reports whether the client of a session can ask its user (elicitation).
func canAsk(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // neither means form, as before there were two
}
