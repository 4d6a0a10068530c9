package a2a

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/errordetails"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/internal/jsonrpc"
	"deed.example/deed/internal/wirejson"
)

// versionNotSupported is the error code of A2A for another version of the protocol.
const versionNotSupported = -32009

// legacyMethods are the methods of A2A 0.3, and what A2A 1.0 calls them.
var legacyMethods = map[string]string{
	"message/send":      "SendMessage",
	"message/stream":    "SendStreamingMessage",
	"tasks/get":         "GetTask",
	"tasks/cancel":      "CancelTask",
	"tasks/resubscribe": "SubscribeToTask",
}

// protocolVersion is the version that this package implements, as A2A-Version has it.
const protocolVersion = "1.0"

// refuse answers a request that the library does not take: one of another version, or one
// that it cannot read, in which case its words would be those of Go (params.go). It
// reports whether it answered.
func refuse(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err}))
		return false
	}
	if message, id := otherVersion(r, body); message != "" {
		more := map[string]any{"supportedVersions": []string{protocolVersion}, "agentCard": "/.well-known/agent-card.json"}
		writeError(w, versionNotSupported, id, message, errordetails.NewFromStruct(more), errordetails.NewErrorInfo("VERSION_NOT_SUPPORTED", a2a.ProtocolDomain, nil))
		return true
	}
	if e := jsonrpc.Check(body, methods); e != nil {
		writeParamsError(w, e)
		return true
	}
	return false
}

// otherVersion says what to send instead of a request of another version (A2A 1.0,
// 3.6.2), and returns the request's ID. A client says its version in A2A-Version; the
// methods of 0.3 and earlier have a slash. Without both, the request is one of this
// version, and the message is "".
func otherVersion(r *http.Request, body []byte) (message string, id jsontext.Value) {
	var in struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(body, &in) != nil {
		return "", nil
	}
	if len(in.ID) == 0 {
		in.ID = jsontext.Value("null")
	}
	switch asked := versionOf(r); {
	case strings.Contains(in.Method, "/"):
		message = legacyMessage(in.Method)
	case asked != "" && withoutPatch.ReplaceAllString(asked, "$1") != protocolVersion:
		message = fmt.Sprintf("this endpoint implements A2A 1.0, and not the version %.20q: send the header A2A-Version: 1.0", asked)
	}
	return message, in.ID
}

// withoutPatch matches a version with a patch number, which does not count (A2A 1.0, 3.6).
var withoutPatch = regexp.MustCompile(`^(\d+\.\d+)\.\d+$`)

// writeError writes an error response of JSON-RPC with details (A2A 1.0, 9.5).
func writeError(w http.ResponseWriter, code int64, id jsontext.Value, message string, details ...*errordetails.Typed) {
	raw, err := wirejson.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message, "data": details}})
	if err != nil {
		raw = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the error cannot be written"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the client is gone if this fails
}

// versionOf returns the version that a client asks for, or "". One that cannot set
// headers sends it in the query.
func versionOf(r *http.Request) string {
	if text := strings.TrimSpace(r.Header.Get(a2a.SvcParamVersion)); text != "" {
		return text
	}
	return strings.TrimSpace(r.URL.Query().Get(a2a.SvcParamVersion))
}

// legacyMessage says what to send instead of a method of A2A 0.3.
func legacyMessage(method string) string {
	message := "this endpoint implements A2A 1.0, and " + method + " is a method of an earlier version"
	if now, ok := legacyMethods[method]; ok {
		message += ": send " + now + ` with the header A2A-Version: 1.0, the role "ROLE_USER", and parts such as {"data": {"skill": "check_domains", "arguments": {"domains": ["example.com"]}}}`
	}
	return message
}

// failingReader is the end of a body that could not be read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
