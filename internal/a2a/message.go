package a2a

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/internal/agent"
)

// A request is a parsed message: a skill, its arguments and the payment.
type request struct {
	tool      agent.Tool
	arguments []byte // a JSON object
	payment   agent.Payment
	contextID string     // the caller's; optional
	offer     a2a.TaskID // of the payment; optional
}

// check fails for what is no message, and for a message to a task that takes none.
func (h *requestHandler) check(ctx context.Context, m *a2a.Message) error {
	if m == nil || len(m.Parts) == 0 || slices.Contains(m.Parts, nil) {
		return a2a.NewError(a2a.ErrInvalidParams, "send a message with a part")
	}
	if m.TaskID == "" || strings.HasPrefix(string(m.TaskID), offerPrefix) {
		return nil
	}
	if _, err := h.job(ctx, m.TaskID, ""); err != nil {
		return err
	}
	return a2a.NewError(a2a.ErrUnsupportedOperation, "this task takes no messages: GetTask tells how far it is")
}

// read parses a message. If there is nothing to run, it returns the result
// instead.
func (h *requestHandler) read(m *a2a.Message) (request, a2a.SendMessageResult, error) {
	r, why := h.find(m)
	if why != "" {
		return request{}, h.help(m, why), nil
	}
	r.contextID, r.offer = m.ContextID, m.TaskID
	if status(m) == statusRejected {
		return r, r.declined(), nil
	}
	r.payment = agent.PaymentOf(m.Metadata[keyPayload])
	return r, nil, nil
}

// find returns the skill and the arguments of a message, or the problem with it.
func (h *requestHandler) find(m *a2a.Message) (r request, why string) {
	for _, part := range m.Parts {
		if data := part.Data(); data != nil {
			return h.parse(data)
		}
	}
	if r, ok := parseOfferID(string(m.TaskID)); ok {
		return r, ""
	}
	return request{}, "There is no data part in this message."
}

// parse parses the content of a data part.
func (h *requestHandler) parse(data any) (r request, why string) {
	fields, ok := data.(map[string]any)
	if !ok {
		return r, "The data part is no object."
	}
	for key := range fields {
		if key != "skill" && key != "arguments" {
			return r, fmt.Sprintf("A data part has skill and arguments, and no %q: what a skill takes belongs into its arguments.", key)
		}
	}
	name, _ := fields["skill"].(string)
	if r.tool, ok = agent.Find(name); !ok || r.tool.Sandbox && !h.Sandbox {
		return r, fmt.Sprintf("There is no skill %q.", name)
	}
	arguments, ok := fields["arguments"]
	if !ok || arguments == nil {
		arguments = map[string]any{}
	}
	if _, ok := arguments.(map[string]any); !ok {
		return r, "The arguments are no object."
	}
	raw, err := encode(arguments)
	if err != nil {
		return r, "The arguments cannot be read."
	}
	r.arguments = raw
	return r, ""
}

// help explains the format of messages, with the schemas of all skills.
func (h *requestHandler) help(m *a2a.Message, why string) *a2a.Message {
	skills := []any{}
	for _, t := range agent.Tools(h.Sandbox) {
		skills = append(skills, map[string]any{
			"skill": t.Name, "title": t.Title, "description": t.Description, "arguments": t.Input, "example": jsontext.Value(t.Example), "paid": t.Paid, "signIn": t.Bearer,
		})
	}
	out := a2a.NewMessage(a2a.MessageRoleAgent,
		a2a.NewTextPart(why+` Send a data part such as {"skill":"search_domains","arguments":{"query":"example"}}; the next part has all skills, with the schemas of their arguments and an example of each.`),
		a2a.NewDataPart(map[string]any{"skills": skills}))
	out.ContextID = m.ContextID
	return out
}

// reply turns an answer of the HTTP interface into an A2A result.
func (r request) reply(a agent.Answer) a2a.SendMessageResult {
	var body struct {
		JobID string `json:"jobId"`
	}
	_ = json.Unmarshal(a.Body, &body) // an answer without a job is not an order
	switch {
	case a.Status == 402:
		return r.unpaid(a)
	case r.tool.Paid && body.JobID != "":
		return r.order(a, a2a.TaskID(body.JobID))
	}
	out := a2a.NewMessage(a2a.MessageRoleAgent, dataPart(a.Body))
	out.ContextID = r.contextID
	out.Metadata = map[string]any{statusKey: a.Status}
	receipt(a.Header, out.Metadata)
	return out
}

// statusKey is the metadata key of the HTTP status. The body of an error is the
// same as over HTTP.
const statusKey = "http.status"

// encode returns v as JSON, the same bytes for the same value. They are part of the
// ids of offers, which stand as they are: with < > & escaped.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
}

// dataPart returns a JSON body as a part.
func dataPart(raw []byte) *a2a.Part {
	p := a2a.NewDataPart(jsontext.Value(raw))
	p.MediaType = "application/json"
	return p
}

// context returns the context id of a task, which A2A requires: the caller's, or
// the task id.
func (r request) context(id a2a.TaskID) string {
	if r.contextID != "" {
		return r.contextID
	}
	return string(id)
}
