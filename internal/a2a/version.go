package a2a

import (
	"bytes"
	"io"
	"net/http"
	"strings"

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

// refuseLegacy answers a request of A2A 0.3 and earlier, whose methods have a slash,
// with what to send instead. It reports whether it did.
func refuseLegacy(w http.ResponseWriter, r *http.Request) bool {
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
	if json.Unmarshal(body, &in) != nil || !strings.Contains(in.Method, "/") {
		return false
	}
	message := "this endpoint implements A2A 1.0, and " + in.Method + " is a method of an earlier version"
	if now, ok := legacyMethods[in.Method]; ok {
		message += ": send " + now + ` with the header A2A-Version: 1.0, the role "ROLE_USER", and parts such as {"data": {"skill": "check_domains", "arguments": {"domains": ["example.com"]}}}`
	}
	if len(in.ID) == 0 {
		in.ID = jsontext.Value("null")
	}
	raw, err := wirejson.Marshal(map[string]any{"jsonrpc": "2.0", "id": in.ID, "error": map[string]any{
		"code": versionNotSupported, "message": message, "data": map[string]any{"supportedVersions": []string{"1.0"}, "agentCard": "/.well-known/agent-card.json"},
	}})
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the client is gone if this fails
	return true
}

// failingReader is the end of a body that could not be read.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
