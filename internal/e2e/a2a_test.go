package e2e_test

import (
	stdjson "encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// The response to a message that is not a request for a skill explains the format.
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
		if len(skills) != len(agent.Tools(h.api.Sandbox != nil)) || skills[0].(map[string]any)["arguments"].(map[string]any)["type"] != "object" {
			t.Errorf("%s: got %v", name, skills)
		}
	}
	p.expect(t, ask("search_domains", `{"query":"a","colour":"red"}`, nil), 400, deed.CodeValidation)
	p.expect(t, ask("get_pricing", `{"tlds":["nosuchtld"]}`, nil), 400, deed.CodeTLDNotSupported)
	if got := answerBody[api.SearchResult](t, p.send(t, ask("search_domains", `{"query":"example","tlds":["com"]}`, nil))); len(got.Results) != 1 {
		t.Errorf("got %+v", got)
	}
}

// A text with names in it is answered with whether they are available, and what to send
// to buy one; a client of A2A 0.3 is told what to send instead.
func TestProseAndEarlierVersionOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	p := h.peer(t)
	got, ok := p.send(t, &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("Is Prose-Test.com free? Or prose-test.io, i.e. my 2nd choice. See readme.nosuchtld."))}).(*a2a.Message)
	if !ok || len(got.Parts) != 2 {
		t.Fatalf("got %+v", got)
	}
	for _, want := range []string{"prose-test.com is available and costs 13.06 USDC", `{"skill":"register_domain","arguments":{"domain":"prose-test.io"}}`, "readme.nosuchtld: we do not sell .nosuchtld."} {
		if !strings.Contains(got.Parts[0].Text(), want) {
			t.Errorf("got %q, without %q", got.Parts[0].Text(), want)
		}
	}
	res, err := http.Post("http://"+h.addr+"/a2a", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":"x","method":"message/send","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var reply struct {
		ID    string `json:"id"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.UnmarshalRead(res.Body, &reply); err != nil || reply.ID != "x" || !strings.Contains(reply.Error.Message, "A2A 1.0") || !strings.Contains(reply.Error.Message, "SendMessage") {
		t.Errorf("got %+v, %v", reply, err)
	}
}

// The example of docs/agents.md works.
func TestExampleOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableA2A(func() {})
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A2A\n")
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
	if check := answerBody[api.CheckResult](t, reply.Result.Message); len(check.Results) != 1 || check.Results[0].Domain != "first.com" || reply.Result.Message.Metadata["http.status"] != 200.0 {
		t.Errorf("got %s", got.body)
	}
}

// Invalid and unknown JSON-RPC requests get an error, and the response names the
// requested extension if it is supported.
func TestBadRequestsOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableA2A(func() {})
	for body, code := range map[string]float64{
		`{`:                        -32700,
		`{"jsonrpc":"2.0","id":1}`: -32600,
		`{"jsonrpc":"1.0","id":1,"method":"GetTask"}`:                 -32600,
		`{"jsonrpc":"2.0","id":1,"method":"Fly"}`:                     -32601,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`: -32602,
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`: -32009,
		`{"jsonrpc":"2.0","method":"tasks/get"}`: -32009,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[null]}}}`:                                            -32602,
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","taskId":"job_none","parts":[{"text":"how far are you?"}]}}}`: -32001,
	} {
		// Not with do: JSON-RPC responds 200 to requests that openapi.yaml does not allow.
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

// A request of another version is refused, wherever it says so; one that names no version
// is one of A2A 1.0.
func TestVersionsOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableA2A(func() {})
	const get = `{"jsonrpc":"2.0","id":"7","method":"GetTask","params":{"id":"job_none"}}`
	for _, tt := range []struct{ query, header, want string }{
		{"", "", `"code":-32001`},
		{"", "1.0", `"code":-32001`},
		{"", "1.0.1", `"code":-32001`}, // patch numbers do not count (A2A 1.0, 3.6)
		{"", "1.1.0", `"code":-32009`},
		{"", "0.3", `"code":-32009`},
		{"", "2.0", `"code":-32009`},
		{"?A2A-Version=0.3", "", `"code":-32009`},
		{"?A2A-Version=1.0", "", `"code":-32001`},
	} {
		got := h.do(t, "POST", "/a2a"+tt.query, get, "A2A-Version", tt.header)
		if !strings.Contains(got.body, tt.want) || !strings.Contains(got.body, `"id":"7"`) {
			t.Errorf("%+v: got %s", tt, got.body)
		}
	}
	for _, body := range []string{`5`, `"a"`, `null`, `true`} {
		h.do(t, "POST", "/a2a", body).expect(t, 400, deed.CodeValidation)
		h.do(t, "POST", "/mcp", body).expect(t, 400, deed.CodeValidation)
	}
}

// What only a sandbox has is neither listed nor found elsewhere.
func TestSandboxSkillsOverA2A(t *testing.T) {
	h := open(t, options{limits: generous()})
	p := h.peer(t)
	got, ok := p.send(t, ask("get_test_money", `{"wallet_address":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F"}`, nil)).(*a2a.Message)
	if !ok || len(got.Parts) != 2 || !strings.Contains(got.Parts[0].Text(), `no skill "get_test_money"`) {
		t.Fatalf("got %+v", got)
	}
	skills, _ := got.Parts[1].Data().(map[string]any)["skills"].([]any)
	for _, skill := range skills {
		if skill.(map[string]any)["skill"] == "get_test_money" {
			t.Error("the skills of a service without a sandbox have get_test_money")
		}
	}
}

// Messages count as their HTTP calls, by the caller's address.
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
