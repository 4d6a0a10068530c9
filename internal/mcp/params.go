package mcp

import (
	"bytes"
	"io"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/api"
	"deed.example/deed/internal/jsonrpc"
)

// methods are the requests of the protocol that the library reads. Notifications are not
// among them, because they have no answer.
var methods = map[string]jsonrpc.Method{
	"initialize":               {Params: reflect.TypeFor[mcp.InitializeParams]()},
	"ping":                     {Params: reflect.TypeFor[mcp.PingParams](), Optional: true},
	"tools/list":               {Params: reflect.TypeFor[mcp.ListToolsParams](), Optional: true, Rule: noCursor},
	"tools/call":               {Params: reflect.TypeFor[mcp.CallToolParamsRaw]()},
	"prompts/list":             {Params: reflect.TypeFor[mcp.ListPromptsParams](), Optional: true, Rule: noCursor},
	"prompts/get":              {Params: reflect.TypeFor[mcp.GetPromptParams]()},
	"resources/list":           {Params: reflect.TypeFor[mcp.ListResourcesParams](), Optional: true, Rule: noCursor},
	"resources/templates/list": {Params: reflect.TypeFor[mcp.ListResourceTemplatesParams](), Optional: true, Rule: noCursor},
	"resources/read":           {Params: reflect.TypeFor[mcp.ReadResourceParams]()},
	"resources/subscribe":      {Params: reflect.TypeFor[mcp.SubscribeParams]()},
	"resources/unsubscribe":    {Params: reflect.TypeFor[mcp.UnsubscribeParams]()},
	"completion/complete":      {Params: reflect.TypeFor[completeParams]()},
	"logging/setLevel":         {Params: reflect.TypeFor[levelParams]()},
}

// completeParams are mcp.CompleteParams, whose decoder hides which field is wrong.
type completeParams struct {
	Ref struct {
		Type string `json:"type"`
		Name string `json:"name"`
		URI  string `json:"uri"`
	} `json:"ref"`
	Argument struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"argument"`
}

// levelParams are mcp.SetLoggingLevelParams, which is deprecated. Clients still send them.
type levelParams struct {
	Meta  map[string]any `json:"_meta"`
	Level string         `json:"level"`
}

// noCursor refuses cursors: every list of this server is one page, so it gives none.
func noCursor(params any) (field, reason string) {
	var cursor string
	switch p := params.(type) {
	case *mcp.ListToolsParams:
		cursor = p.Cursor
	case *mcp.ListPromptsParams:
		cursor = p.Cursor
	case *mcp.ListResourcesParams:
		cursor = p.Cursor
	case *mcp.ListResourceTemplatesParams:
		cursor = p.Cursor
	}
	if cursor == "" {
		return "", ""
	}
	return "cursor", "is not a cursor of this server, which gives none: leave it out, the list is one page"
}

// firstStatusVersion is the first version of the protocol whose errors have an HTTP
// status of their own (SEP-2575).
const firstStatusVersion = "2026-07-28"

// refuse answers a message that the library cannot read, and reports whether it did. A
// message without an ID that can be read gets the JSON error body of the service.
func (w *jsonErrorWriter) refuse(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), r.Body), r.Body}
	if err != nil || len(raw) > maxMessage {
		return false
	}
	e := jsonrpc.Check(raw, methods)
	if e == nil {
		w.id = jsonrpc.ID(raw)
		return false
	}
	status := http.StatusBadRequest
	body := e.Body()
	body.RequestID, body.DocURL = w.Header().Get("X-Request-Id"), api.DocURL(w.publicURL, body.Code)
	var out any = body
	if e.Code == jsonrpc.CodeInvalidParams {
		out = rpcError(e.Code, e.ID, body)
		if r.Header.Get("Mcp-Protocol-Version") < firstStatusVersion {
			status = http.StatusOK
		}
	}
	w.send(status, out)
	return true
}

// rpcError returns an error response of JSON-RPC, with the error of the service as data.
func rpcError(code int64, id jsontext.Value, body api.Error) any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": body.Message, "data": body}}
}
