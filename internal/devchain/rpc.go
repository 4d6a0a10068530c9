package devchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/v1"
)

// Limits of one request, whole batches included.
const (
	maxBody     = 2 << 20  // bytes of a request
	maxAnswer   = 25 << 20 // bytes of a response
	maxBatch    = 1000     // calls; the maximum of common clients
	callTimeout = 10 * time.Second
)

// Error codes of JSON-RPC 2.0, and additional codes of common nodes.
const (
	codeParse         = -32700
	codeInvalid       = -32600
	codeNoMethod      = -32601
	codeInvalidParams = -32602
	codeServer        = -32000
	codeTooLarge      = -32003
	codeLimit         = -32005
	codeReverted      = 3
)

// An rpcError is an error with its own code. All others are sent as codeServer, as
// nodes do for errors of their pool.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func invalidParams(format string, args ...any) error {
	return &rpcError{Code: codeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

type rpcRequest struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // absent when no answer is wanted
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type rpcResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// Handler returns the chain's JSON-RPC. It has no keys but the faucet's, which no
// method uses, so pages of any origin may call it.
func (c *Chain) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.Method {
		case http.MethodOptions:
			w.Header().Set("Access-Control-Allow-Methods", "POST")
			w.Header().Set("Access-Control-Allow-Headers", "*")
			w.Header().Set("Access-Control-Allow-Private-Network", "true")
			w.Header().Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
		case http.MethodPost:
			c.serve(w, r)
		default:
			w.Header().Set("Allow", "POST, OPTIONS")
			http.Error(w, "JSON-RPC requires POST", http.StatusMethodNotAllowed)
		}
	})
}

func (c *Chain) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	status := http.StatusOK
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var answer []byte
	if err == nil {
		answer = c.answer(ctx, body)
	} else {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			status = http.StatusRequestEntityTooLarge
		} else {
			status = http.StatusBadRequest
		}
		answer = encode(refusal(nil, codeInvalid, "cannot read the request: "+err.Error()))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(answer) // the client has disconnected
}

// answer handles one request or a batch.
func (c *Chain) answer(ctx context.Context, body []byte) []byte {
	body = bytes.TrimSpace(body)
	if !json.Valid(body) {
		return encode(refusal(nil, codeParse, "parse error"))
	}
	if body[0] != '[' {
		res := c.one(ctx, body)
		if res == nil {
			return nil
		}
		return encode(res)
	}
	var calls []json.RawMessage
	if err := json.Unmarshal(body, &calls); err != nil {
		return encode(refusal(nil, codeParse, err.Error()))
	}
	if len(calls) == 0 {
		return encode(refusal(nil, codeInvalid, "empty batch"))
	}
	if len(calls) > maxBatch {
		return encode(refusal(nil, codeInvalid, "batch too large"))
	}
	answers, size := []*rpcResponse{}, 0
	for _, call := range calls {
		res := c.one(ctx, call)
		if res == nil {
			continue
		}
		if size += len(res.Result); size > maxAnswer {
			res = refusal(res.ID, codeTooLarge, "response too large")
		}
		answers = append(answers, res)
	}
	if len(answers) == 0 {
		return nil
	}
	return encode(answers)
}

// one handles one call, and returns nil for a notification.
func (c *Chain) one(ctx context.Context, body []byte) *rpcResponse {
	var req rpcRequest
	if err := json.Unmarshal(body, &req); err != nil || req.Version != "2.0" || req.Method == "" || !goodID(req.ID) {
		return refusal(nil, codeInvalid, "invalid request")
	}
	result, err := c.do(ctx, req)
	if req.ID == nil {
		return nil
	}
	if err == nil {
		var b []byte
		if b, err = json.Marshal(result); err == nil {
			return &rpcResponse{Version: "2.0", ID: req.ID, Result: b}
		}
	}
	res := refusal(req.ID, codeServer, err.Error())
	if e, ok := errors.AsType[*rpcError](err); ok {
		res.Error = e
	}
	return res
}

func (c *Chain) do(ctx context.Context, req rpcRequest) (any, error) {
	method, ok := methods[req.Method]
	if !ok {
		return nil, &rpcError{Code: codeNoMethod, Message: fmt.Sprintf("the method %s does not exist/is not available", req.Method)}
	}
	if err := ctx.Err(); err != nil {
		return nil, &rpcError{Code: codeServer, Message: "request timed out"}
	}
	var params []json.RawMessage
	if len(req.Params) > 0 {
		if err := json.Unmarshal(req.Params, &params); err != nil {
			return nil, invalidParams("non-array args")
		}
	}
	return method(c, ctx, params)
}

// goodID reports whether id is absent, a string, a number or null.
func goodID(id json.RawMessage) bool {
	return len(id) == 0 || id[0] != '{' && id[0] != '[' && id[0] != 't' && id[0] != 'f'
}

func refusal(id json.RawMessage, code int, message string) *rpcResponse {
	if id == nil {
		id = json.RawMessage("null")
	}
	return &rpcResponse{Version: "2.0", ID: id, Error: &rpcError{Code: code, Message: message}}
}

// encode marshals a response, which cannot fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
