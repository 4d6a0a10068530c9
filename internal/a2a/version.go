package a2a

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// refuseVersion answers a request of another version with what to send instead (A2A 1.0,
// 3.6.2). A client says its version in A2A-Version; the methods of 0.3 and earlier have a
// slash. Without both, the request is one of this version. It reports whether it answered.
func refuseVersion(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err}))
		return false
	}
	var in struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
	}
	if json.Unmarshal(body, &in) != nil {
		return false
	}
	message := ""
	switch asked := versionOf(r); {
	case strings.Contains(in.Method, "/"):
		message = legacyMessage(in.Method)
	case asked != "" && asked != protocolVersion:
		message = fmt.Sprintf("this endpoint implements A2A 1.0, and not the version %.20q: send the header A2A-Version: 1.0", asked)
	default:
		return false
	}
	if len(in.ID) == 0 {
		in.ID = jsontext.Value("null")
	}
	raw, err := wirejson.Marshal(map[string]any{"jsonrpc": "2.0", "id": in.ID, "error": map[string]any{
		"code": versionNotSupported, "message": message, "data": map[string]any{"supportedVersions": []string{protocolVersion}, "agentCard": "/.well-known/agent-card.json"},
	}})
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the client is gone if this fails
	return true
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
