package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
)

// goWords are what errors of Go have and those of a service must not.
var goWords = regexp.MustCompile(`unmarshal|Go (value|struct)|json:|interface ?\{|mcp\.|a2a\.|jsonrpc message|base64 data`)

// wrongParams are parameters that the libraries of the protocols cannot read, by
// endpoint and method, and the field that is wrong.
var wrongParams = map[string][][3]string{
	"/mcp": {
		{"tools/call", `[]`, "params"},
		{"tools/call", `{"name":5}`, "params.name"},
		{"tools/call", `{"name":"check_domains","_meta":5}`, "params._meta"},
		{"tools/call", `{"name":"check_domains","requestState":5}`, "params.requestState"},
		{"tools/list", `{"cursor":5}`, "params.cursor"},
		{"tools/list", `{"cursor":"x"}`, "params.cursor"},
		{"resources/read", `{"uri":["x"]}`, "params.uri"},
		{"prompts/get", `{"name":"buy_domain","arguments":{"a":5}}`, "params.arguments.a"},
		{"initialize", `{"protocolVersion":5}`, "params.protocolVersion"},
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":5}`, "params.capabilities"},
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":5}}`, "params.clientInfo.name"},
		{"logging/setLevel", `{"level":5}`, "params.level"},
		{"completion/complete", `{"ref":5}`, "params.ref"},
	},
	"/a2a": {
		{"SendMessage", `null`, "params"},
		{"SendMessage", `{}`, "params.message"},
		{"SendMessage", `{"message":5}`, "params.message"},
		{"SendMessage", `{"message":{"parts":{}}}`, "params.message.parts"},
		{"SendMessage", `{"message":{"parts":[]}}`, "params.message.parts"},
		{"SendMessage", `{"message":{"parts":[{"text":5}]}}`, "params.message.parts[0].text"},
		{"SendMessage", `{"message":{"parts":[{"text":"a"},{"kind":"text"}]}}`, "params.message.parts[1]"},
		{"SendMessage", `{"message":{"parts":[{"text":"a","data":{}}]}}`, "params.message.parts[0]"},
		{"SendMessage", `{"message":{"parts":[{"raw":"%"}]}}`, "params.message.parts[0].raw"},
		{"SendMessage", `{"message":{"metadata":5,"parts":[{"text":"a"}]}}`, "params.message.metadata"},
		{"SendStreamingMessage", `{"message":{"role":5,"parts":[{"text":"a"}]}}`, "params.message.role"},
		{"SendMessage", `{"configuration":{"historyLength":"x"},"message":{"parts":[{"text":"a"}]}}`, "params.configuration.historyLength"},
		{"GetTask", `{"id":5}`, "params.id"},
		{"ListTasks", `{"statusTimestampAfter":"soon"}`, "params.statusTimestampAfter"},
		{"GetExtendedAgentCard", `5`, "params"},
	},
}

// Parameters of the wrong type are refused in words that name the field, and not in those
// of the libraries, with the error of the service beside them.
func TestWrongParamsInPlainWords(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableMCP(func() {})
	h.enableA2A(func() {})
	for path, all := range wrongParams {
		for _, wrong := range all {
			message := `{"jsonrpc":"2.0","id":"7","method":"` + wrong[0] + `","params":` + wrong[1] + `}`
			status, body := postRaw(t, h, path, message)
			var got struct {
				ID    string `json:"id"`
				Error struct {
					Code    int            `json:"code"`
					Message string         `json:"message"`
					Data    jsontext.Value `json:"data"`
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || got.ID != "7" || got.Error.Code != -32602 ||
				!strings.HasPrefix(got.Error.Message, wrong[2]+": ") || goWords.MatchString(body) {
				t.Errorf("%s: got %d %s, %v", message, status, body, err)
				continue
			}
			if said := ourError(t, got.Error.Data); said.Code != "VALIDATION_ERROR" || len(said.Details) != 1 || said.Details[0].Field != wrong[2] || said.Message != got.Error.Message {
				t.Errorf("%s: got %s", message, body)
			}
		}
	}
}

// What is no request is refused in plain words, too.
func TestWrongRequestsInPlainWords(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableMCP(func() {})
	h.enableA2A(func() {})
	for path := range wrongParams {
		for message, want := range map[string]string{
			`nonsense`:                                  "this is not JSON",
			`{"jsonrpc":"2.0","id":1,"method":5}`:       "method: cannot be 5: send a string",
			`{"jsonrpc":"2.0","id":{},"method":"x"}`:    "id: cannot be {}: send a string or a number",
			`{"jsonrpc":"1.0","id":1,"method":"x"}`:     "jsonrpc: is not",
			`{"jsonrpc":"2.0","id":1,"params":{"a":1}}`: "method: is missing",
		} {
			if _, body := postRaw(t, h, path, message); !strings.Contains(body, `"message":"`+want) || !strings.Contains(body, "VALIDATION_ERROR") || goWords.MatchString(body) {
				t.Errorf("%s %s: got %s", path, message, body)
			}
		}
	}
}

// A call of an unknown method gets an error of JSON-RPC, which a client can match with the
// call; a notification gets none, and is refused.
func TestUnknownMethod(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableMCP(func() {})
	h.enableA2A(func() {})
	for path := range wrongParams {
		status, body := postRaw(t, h, path, `{"jsonrpc":"2.0","id":"7","method":"Fly"}`)
		var got struct {
			Version string `json:"jsonrpc"`
			ID      string `json:"id"`
			Error   struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 || got.Version != "2.0" || got.ID != "7" || got.Error.Code != -32601 || got.Error.Message == "" {
			t.Errorf("%s: got %d %s, %v", path, status, body, err)
		}
	}
	status, body := postRaw(t, h, "/mcp", `{"jsonrpc":"2.0","method":"notifications/flown"}`)
	if status != 400 || strings.Contains(body, "jsonrpc") {
		t.Errorf("a notification: got %d %s", status, body)
	}
}

// ourError returns the error of the service in the data of an error of JSON-RPC: all of
// it, or the one of A2A's details that has a code.
func ourError(t *testing.T, data jsontext.Value) (out api.Error) {
	t.Helper()
	all := []jsontext.Value{data}
	if data.Kind() == '[' {
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range all {
		if err := json.Unmarshal(one, &out); err == nil && out.Code != "" {
			return out
		}
	}
	return api.Error{}
}

// postRaw posts a message that openapi.yaml does not allow.
func postRaw(t *testing.T, h *service, path, message string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+path, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}
