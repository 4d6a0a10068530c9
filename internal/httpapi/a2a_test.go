package httpapi_test

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	deeda2a "deed.example/deed/internal/a2a"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/registrar/local"
)

// A peer is a program that speaks A2A to a house, with the protocol's own
// client. Its HTTP is held against openapi.yaml.
type peer struct{ *a2aclient.Client }

// peer connects a program that sends the headers given as names and values.
func (h *house) peer(t *testing.T, headers ...string) peer {
	t.Helper()
	if h.api.A2A == nil {
		h.speakA2A(func() {})
	}
	c, err := a2aclient.NewFromEndpoints(t.Context(), []*a2a.AgentInterface{a2a.NewAgentInterface("http://"+h.addr+"/a2a", a2a.TransportProtocolJSONRPC)},
		a2aclient.WithJSONRPCTransport(&http.Client{Transport: with{h.client.Transport, headers}}))
	if err != nil {
		t.Fatal(err)
	}
	return peer{c}
}

// speakA2A opens the way in for agents. While one waits, the rest of the world
// goes on.
func (h *house) speakA2A(goOn func()) {
	h.api.A2A = &deeda2a.Server{Log: h.api.Log, Stopping: h.api.Draining, Desk: &agent.Desk{
		Caller: agent.Local{Handler: h.api.Handler()}, Now: time.Now, Seats: make(chan struct{}, 8),
		Pause: func(ctx context.Context, _ time.Duration) error { goOn(); return ctx.Err() },
	}}
}

// ask is a message that asks for a skill, with a payment unless it is nil.
func ask(skill, arguments string, payment any) *a2a.SendMessageRequest {
	var args map[string]any
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		panic(err)
	}
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"skill": skill, "arguments": args}))
	return paying(m, payment)
}

// paying puts a payment on a message.
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

// task sends a message that begins or continues a task.
func (p peer) task(t *testing.T, in *a2a.SendMessageRequest) *a2a.Task {
	t.Helper()
	out := p.send(t, in)
	task, ok := out.(*a2a.Task)
	if !ok {
		t.Fatalf("got a message: %s", encoded(t, dataOf(t, out)))
	}
	return task
}

// dataOf returns what an answer holds.
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

// told reads an answer as what the HTTP interface says.
func told[T any](t *testing.T, out a2a.SendMessageResult) (v T) {
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
	if got := told[api.Error](t, out); got.Code != string(code) {
		t.Errorf("got %+v, want %s", got, code)
	}
	if m, ok := out.(*a2a.Message); ok && m.Metadata["http.status"] != float64(status) {
		t.Errorf("got %v, want %d", m.Metadata, status)
	}
}

// From an offer to a name, the payment with the data part again or with the
// task's id alone; and again for nothing.
func TestPayOverA2A(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		p, a := s.peer(t), s.buyer(t)
		const order = `{"domain":"first.com"}`
		offer := p.task(t, ask("register_domain", order, nil))
		meta := offer.Status.Message.Metadata
		if offer.Status.State != a2a.TaskStateInputRequired || meta["x402.payment.status"] != "payment-required" || offer.ContextID == "" {
			t.Fatalf("got %+v", offer)
		}
		required, _ := meta["x402.payment.required"].(map[string]any)
		accepts, _ := required["accepts"].([]any)
		if len(accepts) != 1 || required["x402Version"] != 1.0 || accepts[0].(map[string]any)["maxAmountRequired"] != "13060000" {
			t.Fatalf("got %s", encoded(t, required))
		}
		same, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: offer.ID})
		if err != nil || same.ID != offer.ID || same.Status.State != a2a.TaskStateInputRequired {
			t.Errorf("got %+v, %v", same, err)
		}
		payment := object(t, s.promise(a, comPrice).header(t))
		alone := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("here is the payment"))
		alone.TaskID, alone.ContextID = offer.ID, offer.ContextID
		done := p.task(t, paying(alone, payment))
		bought := told[api.Registration](t, done)
		if done.Status.State != a2a.TaskStateCompleted || string(done.ID) != bought.JobID || bought.Domain != "first.com" || bought.WalletAddress != string(a.wallet) || done.ContextID != offer.ContextID {
			t.Fatalf("got %+v %+v", done, bought)
		}
		if r := receipts(t, done); len(r) != 1 || !r[0].Success || r[0].Transaction != *bought.Payment.TxHash || done.Status.Message.Metadata["x402.payment.status"] != "payment-completed" {
			t.Errorf("got %+v", r)
		}
		again := p.task(t, ask("register_domain", order, payment))
		if again.ID != done.ID || told[api.Registration](t, again).TransactionID != bought.TransactionID {
			t.Errorf("got %+v", again)
		}
		later, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: done.ID})
		if err != nil || later.Status.State != a2a.TaskStateCompleted || told[api.Registration](t, later).Domain != "first.com" || len(receipts(t, later)) != 1 {
			t.Errorf("got %+v, %v", later, err)
		}
		s.audit(t)
	})
}

// A payment in the words of version 1 buys too.
func TestPayOverA2AInVersionOne(t *testing.T) {
	s := openShop(t, options{})
	done := s.peer(t).task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).headerV1(t))))
	if done.Status.State != a2a.TaskStateCompleted || len(receipts(t, done)) != 1 || receipts(t, done)[0].Network != "base-sepolia" {
		t.Errorf("got %+v", done)
	}
}

// What is no good payment over HTTP is none over A2A, and moves nothing.
func TestBadPaymentsOverA2A(t *testing.T) {
	s := openShop(t, options{})
	p, a := s.peer(t), s.buyer(t)
	before := s.balance(t, s.payTo)
	for name, spoil := range map[string]func(*promise){
		"too little":      func(p *promise) { p.value.SetInt64(int64(comPrice) - 1) },
		"too much":        func(p *promise) { p.value.SetInt64(int64(comPrice) + 1) },
		"another payee":   func(p *promise) { p.to = s.promise(a, 1).from },
		"another network": func(p *promise) { p.network = "eip155:8453" },
		"another key":     func(p *promise) { p.key = newAccount(t).key },
		"expired":         func(p *promise) { p.before.SetInt64(time.Now().Add(-time.Minute).Unix()) },
	} {
		bad := s.promise(a, comPrice)
		spoil(bad)
		got := p.task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, bad.header(t))))
		meta := got.Status.Message.Metadata
		if got.Status.State != a2a.TaskStateFailed || meta["x402.payment.status"] != "payment-failed" || meta["x402.payment.error"] != string(deed.CodePaymentInvalid) || meta["x402.payment.required"] == nil {
			t.Errorf("%s: got %+v %v", name, got, meta)
		}
	}
	for _, junk := range []any{"AAAA", 1, []any{}, map[string]any{}} {
		if out, err := p.SendMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, junk)); err == nil {
			if task, ok := out.(*a2a.Task); !ok || task.Status.State != a2a.TaskStateFailed {
				t.Errorf("%v: got %+v", junk, out)
			}
		}
	}
	if after := s.balance(t, s.payTo); after != before {
		t.Errorf("the treasury went from %s to %s", before, after)
	}
}

// A payment for one name buys no other, and no offer comes with the refusal.
func TestPaymentForAnotherNameOverA2A(t *testing.T) {
	s := openShop(t, options{})
	p, payment := s.peer(t), object(t, s.promise(s.buyer(t), comPrice).header(t))
	first := p.task(t, ask("register_domain", `{"domain":"first.com"}`, payment))
	got := p.task(t, ask("register_domain", `{"domain":"second.com"}`, payment))
	if got.Status.State != a2a.TaskStateFailed || got.Status.Message.Metadata["x402.payment.required"] != nil || told[api.PaymentRequired](t, got).JobID != string(first.ID) {
		t.Errorf("got %+v %v", got, got.Status.Message.Metadata)
	}
	s.audit(t)
}

// One payment that many messages carry at once buys one name, once.
func TestOnePaymentRacedOverA2A(t *testing.T) {
	s := openShop(t, options{})
	p, a := s.peer(t), s.buyer(t)
	payment := object(t, s.promise(a, comPrice).header(t))
	before := s.balance(t, s.payTo)
	ids := make([]a2a.TaskID, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			out, err := p.SendMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, payment))
			if task, ok := out.(*a2a.Task); err == nil && ok {
				ids[i] = task.ID
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || !strings.HasPrefix(string(id), "job_") {
			t.Errorf("got tasks %v", ids)
			break
		}
	}
	s.work(t)
	if got := s.balance(t, s.payTo) - before; got != comPrice {
		t.Errorf("%s were paid, want %s", got, comPrice)
	}
	s.audit(t)
}

// The records of a name are its owner's, whoever pays.
func TestOwnershipOverA2A(t *testing.T) {
	s := openShop(t, options{})
	owner, stranger := s.bought(t, "first.com"), s.buyer(t)
	const record = `{"domain":"first.com","type":"A","host":"www","value":"192.0.2.10"}`
	s.peer(t).expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 401, deed.CodeAuthRequired)
	s.peer(t, "Authorization", "Bearer nonsense").expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 401, deed.CodeTokenInvalid)
	thief := s.peer(t, "Authorization", s.bearer(t, stranger))
	before := s.balance(t, s.payTo)
	thief.expect(t, ask("list_dns_records", `{"domain":"first.com"}`, nil), 403, deed.CodeOwnershipDenied)
	thief.expect(t, ask("add_dns_record", record, object(t, s.promise(stranger, change).header(t))), 403, deed.CodeOwnershipDenied)
	if after := s.balance(t, s.payTo); after != before {
		t.Errorf("the treasury went from %s to %s", before, after)
	}
	mine := s.peer(t, "Authorization", s.bearer(t, owner))
	added := told[api.Record](t, mine.send(t, ask("add_dns_record", record, object(t, s.promise(stranger, change).header(t)))))
	if list := told[api.RecordList](t, mine.send(t, ask("list_dns_records", `{"domain":"first.com"}`, nil))); len(list.Records) != 1 || list.Records[0].ID != added.ID {
		t.Errorf("got %+v", list)
	}
	s.audit(t)
}

// A stream tells of an order until it has ended, and so does one that comes
// later.
func TestStreamOverA2A(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var turn sync.Mutex
		s.speakA2A(func() { turn.Lock(); defer turn.Unlock(); s.step(t) })
		s.faults.Set(local.FaultLate, 1)
		p := s.peer(t)
		var id a2a.TaskID
		states := []a2a.TaskState{}
		var result *a2a.Artifact
		for e, err := range p.SendStreamingMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t)))) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case *a2a.Task:
				id = e.ID
				states = append(states, e.Status.State)
			case *a2a.TaskStatusUpdateEvent:
				states = append(states, e.Status.State)
			case *a2a.TaskArtifactUpdateEvent:
				result = e.Artifact
			}
		}
		if len(states) < 2 || states[0] != a2a.TaskStateWorking || states[len(states)-1] != a2a.TaskStateCompleted || result == nil || !strings.HasPrefix(string(id), "job_") {
			t.Errorf("got %v, then %+v", states, result)
		}
		for _, err := range p.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
			if err == nil {
				t.Error("a task that has ended is told of")
			}
		}
		s.audit(t)
	})
}

// What is not a request for a skill is answered with how to ask.
func TestHelpOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	p := h.peer(t)
	for name, part := range map[string]*a2a.Part{
		"text":                 a2a.NewTextPart("please buy me a nice name"),
		"no object":            a2a.NewDataPart([]any{1}),
		"no skill":             a2a.NewDataPart(map[string]any{}),
		"another skill":        a2a.NewDataPart(map[string]any{"skill": "fly"}),
		"arguments beside":     a2a.NewDataPart(map[string]any{"skill": "search_domains", "query": "a"}),
		"arguments, no object": a2a.NewDataPart(map[string]any{"skill": "search_domains", "arguments": "a"}),
	} {
		got, ok := p.send(t, &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, part)}).(*a2a.Message)
		if !ok || len(got.Parts) != 2 || !strings.Contains(got.Parts[0].Text(), "data part") {
			t.Errorf("%s: got %+v", name, got)
			continue
		}
		skills, _ := got.Parts[1].Data().(map[string]any)["skills"].([]any)
		if len(skills) != len(agent.Tools()) || skills[0].(map[string]any)["arguments"].(map[string]any)["type"] != "object" {
			t.Errorf("%s: got %v", name, skills)
		}
	}
	p.expect(t, ask("search_domains", `{"query":"a","colour":"red"}`, nil), 400, deed.CodeValidation)
	p.expect(t, ask("get_pricing", `{"tlds":["nosuchtld"]}`, nil), 400, deed.CodeTLDNotSupported)
	if got := told[api.SearchResult](t, p.send(t, ask("search_domains", `{"query":"example","tlds":["com"]}`, nil))); len(got.Results) != 1 {
		t.Errorf("got %+v", got)
	}
}

// The example of docs/agents.md does what the paper says.
func TestExampleOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.speakA2A(func() {})
	paper, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(paper), "\n## A2A\n")
	_, block, _ := strings.Cut(section, "```json\n")
	block, _, _ = strings.Cut(block, "\n```")
	got := h.do(t, "POST", "/a2a", block)
	var reply struct {
		Result struct {
			Message *a2a.Message `json:"message"`
		} `json:"result"`
	}
	if err := stdjson.Unmarshal([]byte(got.body), &reply); err != nil || reply.Result.Message == nil {
		t.Fatalf("got %d %s, %v", got.status, got.body, err)
	}
	if check := told[api.CheckResult](t, reply.Result.Message); len(check.Results) != 1 || check.Results[0].Domain != "first.com" || reply.Result.Message.Metadata["http.status"] != 200.0 {
		t.Errorf("got %s", got.body)
	}
}

// Tasks that are not there, and what cannot be done with those that are.
func TestTasksOverA2A(t *testing.T) {
	s := openShop(t, options{})
	p := s.peer(t)
	for _, id := range []a2a.TaskID{"job_1", "offer_", "offer_AAAA", "../health", a2a.TaskID(strings.Repeat("a", 5000))} {
		if got, err := p.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); err == nil {
			t.Errorf("%.20s: got %+v", id, got)
		}
	}
	offer := p.task(t, ask("register_domain", `{"domain":"first.com"}`, nil))
	gone, err := p.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: offer.ID})
	if err != nil || gone.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %+v, %v", gone, err)
	}
	secret := p.task(t, ask("transfer_domain", fmt.Sprintf(`{"domain":"moving.com","auth_code":%q}`, s.elsewhere(t, "moving.com")), nil))
	if len(secret.ID) > 60 {
		t.Errorf("an offer carries a secret: %s", secret.ID)
	}
	done := p.task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t))))
	if _, err := p.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: done.ID}); err == nil {
		t.Error("an order that was paid for is given up")
	}
	no := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("no"))
	no.TaskID, no.Metadata = offer.ID, map[string]any{"x402.payment.status": "payment-rejected"}
	if got := p.task(t, &a2a.SendMessageRequest{Message: no}); got.Status.State != a2a.TaskStateCanceled {
		t.Errorf("got %+v", got)
	}
}

// elsewhere puts a name at another registrar, and returns its code.
func (s *shop) elsewhere(t *testing.T, domain deed.Name) string {
	t.Helper()
	code, err := s.registry.Elsewhere(t.Context(), domain)
	if err != nil {
		t.Fatal(err)
	}
	return code.Reveal()
}

// A stream ends when the node is about to; the order goes on.
func TestStreamEndsWithItsNodeOverA2A(t *testing.T) {
	s := openShop(t, options{})
	s.speakA2A(s.api.Drain)
	s.faults.Set(local.FaultLate, 1)
	var last a2a.Event
	for e, err := range s.peer(t).SendStreamingMessage(t.Context(), ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t)))) {
		if err != nil {
			t.Fatal(err)
		}
		last = e
	}
	task, ok := last.(*a2a.Task)
	if !ok || task.Status.State != a2a.TaskStateWorking {
		t.Fatalf("got %+v", last)
	}
	s.work(t)
	done, err := s.peer(t).GetTask(t.Context(), &a2a.GetTaskRequest{ID: task.ID})
	if err != nil || done.Status.State != a2a.TaskStateCompleted {
		t.Errorf("got %+v, %v", done, err)
	}
}

// What is no request of JSON-RPC, or none that we know, is told so, and the
// extension that a caller asks for is named when we have it.
func TestBadRequestsOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.speakA2A(func() {})
	for body, code := range map[string]float64{
		`{`:                        -32700,
		`{"jsonrpc":"2.0","id":1}`: -32600,
		`{"jsonrpc":"1.0","id":1,"method":"GetTask"}`:                 -32600,
		`{"jsonrpc":"2.0","id":1,"method":"Fly"}`:                     -32601,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`: -32602,
	} {
		// Not by do: JSON-RPC says 200 to what openapi.yaml calls no good request.
		res, err := http.Post("http://"+h.addr+"/a2a", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var reply struct {
			Error struct {
				Code float64 `json:"code"`
			} `json:"error"`
		}
		err = json.UnmarshalRead(res.Body, &reply)
		res.Body.Close() // it was read to its end
		if err != nil || res.StatusCode != 200 || reply.Error.Code != code {
			t.Errorf("%.80s: got %d %+v, %v, want %v", body, res.StatusCode, reply, err, code)
		}
	}
	if got := h.get(t, "/a2a"); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("got %d %v", got.status, got.header)
	}
	got := h.do(t, "POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"Fly"}`, "A2A-Extensions", "https://example.com/other, "+api.A2APaymentExtension)
	if got.header.Get("A2A-Extensions") != api.A2APaymentExtension {
		t.Errorf("got %v", got.header)
	}
}

// Messages are counted as the calls they stand for, by the caller's own address.
func TestLimitsOverA2A(t *testing.T) {
	h := open(t, options{limits: oneWindow(), trusted: loopback})
	from, _ := caller(t)
	p := h.peer(t, "X-Forwarded-For", from)
	for range 60 {
		p.send(t, ask("search_domains", `{"query":"example","tlds":["com"]}`, nil))
	}
	p.expect(t, ask("search_domains", `{"query":"example","tlds":["com"]}`, nil), 429, deed.CodeRateLimited)
	h.get(t, "/domains/search?query=a", "X-Forwarded-For", from).expect(t, 429, deed.CodeRateLimited)
	other, _ := caller(t)
	if got := h.get(t, "/domains/search?query=a", "X-Forwarded-For", other); got.status != 200 {
		t.Errorf("another caller: got %d", got.status)
	}
}
