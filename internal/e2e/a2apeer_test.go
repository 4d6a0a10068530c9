package e2e_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	deeda2a "deed.example/deed/internal/a2a"
	"deed.example/deed/internal/agent"
)

// A peer is the official A2A client. Its exchanges are validated against
// openapi.yaml.
type peer struct{ *a2aclient.Client }

// peer returns a client that sends the headers, alternating names and values.
func (h *service) peer(t *testing.T, headers ...string) peer {
	t.Helper()
	if h.api.A2A == nil {
		h.enableA2A(func() {})
	}
	c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{a2a.NewAgentInterface("http://"+h.addr+"/a2a", a2a.TransportProtocolJSONRPC)},
		a2aclient.WithJSONRPCTransport(&http.Client{Transport: with{h.client.Transport, headers}}))
	if err != nil {
		t.Fatal(err)
	}
	return peer{c}
}

// enableA2A enables POST /a2a. While a call waits, advance is called.
func (h *service) enableA2A(advance func()) {
	h.api.A2A = &deeda2a.Server{Log: h.api.Log, Sandbox: h.api.Sandbox != nil, Executor: &agent.Executor{
		Caller: agent.Local{Handler: h.api.Handler()}, Now: time.Now, WaitSlots: make(chan struct{}, 8), Stopping: h.api.Draining,
		Pause: func(ctx context.Context, _ time.Duration) error { advance(); return ctx.Err() },
	}}
}

// ask returns a request for a skill, with the payment if it is not nil.
func ask(skill, arguments string, payment any) *a2a.SendMessageRequest {
	var args map[string]any
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		panic(err)
	}
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"skill": skill, "arguments": args}))
	return paying(m, payment)
}

// paying adds a payment to a message.
func paying(m *a2a.Message, payment any) *a2a.SendMessageRequest {
	if payment != nil {
		m.Metadata = map[string]any{"x402.payment.status": "payment-submitted", "x402.payment.payload": payment}
	}
	return &a2a.SendMessageRequest{Message: m}
}

func (p peer) send(t *testing.T, in *a2a.SendMessageRequest) a2a.SendMessageResult {
	t.Helper()
	out, err := p.SendMessage(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// task sends a message that starts or continues a task.
func (p peer) task(t *testing.T, in *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	out := p.send(t, in)
	task, ok := out.(*a2a.Task)
	if !ok {
		t.Fatalf("got a message: %s", encoded(t, dataOf(t, out)))
	}
	return task
}

// dataOf returns the data part of a result.
func dataOf(t *testing.T, out a2a.SendMessageResult) any {
	t.Helper()
	switch v := out.(type) {
	case *a2a.Message:
		for _, part := range v.Parts {
			if part.Data() != nil {
				return part.Data()
			}
		}
	case *a2a.Task:
		if len(v.Artifacts) == 1 {
			return v.Artifacts[0].Parts[0].Data()
		}
	}
	t.Fatalf("there is no data in %+v", out)
	return nil
}

// answerBody decodes the data part of a result as a body of the HTTP interface.
func answerBody[T any](t *testing.T, out a2a.SendMessageResult) (v T) {
	t.Helper()
	if err := json.Unmarshal(encoded(t, dataOf(t, out)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// receipts returns the receipts of a task.
func receipts(t *testing.T, task *a2a.Task) (out []api.SettleResponse) {
	t.Helper()
	if err := json.Unmarshal(encoded(t, task.Status.Message.Metadata["x402.payment.receipts"]), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (p peer) expect(t *testing.T, in *a2a.SendMessageRequest, status int, code deed.Code) {
	t.Helper()
	out := p.send(t, in)
	if got := answerBody[api.Error](t, out); got.Code != string(code) {
		t.Errorf("got %+v, want %s", got, code)
	}
	if m, ok := out.(*a2a.Message); ok && m.Metadata["http.status"] != float64(status) {
		t.Errorf("got %v, want %d", m.Metadata, status)
	}
}
