// Package jsonrpc checks the messages of MCP and A2A before their libraries read them.
//
// The errors of the libraries have the words of Go: "cannot unmarshal number into Go
// struct field". Check finds the same mistakes first, and names the field, what was sent
// and what is expected. It is never stricter than the library: it decodes a message into
// the types that the library uses, and knows the rules that the library has.
package jsonrpc

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/api"
)

// Codes of errors (JSON-RPC 2.0, 5.1).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
)

// A Method says what the parameters of a method are.
type Method struct {
	Params   reflect.Type // of an object
	Optional bool         // they may be missing

	// Rule says what is wrong with parameters of the right type; nil if nothing can be.
	// It gets a pointer to them, and returns a field below params, such as message.parts.
	Rule func(params any) (field, reason string)
}

// An Error says what is wrong with a message.
type Error struct {
	Code   int64
	ID     jsontext.Value // of the message; null if it has none that can be read
	Field  string         // such as params.message.parts[0]; "" is the whole message
	Reason string
}

// lenient accepts what a library may accept: names that are there twice or in other
// letters, and text that is not UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), json.MatchCaseInsensitiveNames(true))

// Check returns what is wrong with a message to a server, or nil. Methods that are not
// listed, and answers, are left to the library.
func Check(raw []byte, methods map[string]Method) *Error {
	e := &Error{Code: CodeParse, ID: jsontext.Value("null"), Reason: "this is not JSON: send one message of JSON-RPC 2.0"}
	if !jsontext.Value(raw).IsValid(lenient) {
		return e
	}
	e.Code = CodeInvalidRequest
	var in struct {
		ID      jsontext.Value `json:"id"`
		Version *string        `json:"jsonrpc"`
		Method  *string        `json:"method"`
		Params  jsontext.Value `json:"params"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(raw, &in, lenient); err != nil {
		return e.because(raw, "", err)
	}
	switch in.ID.Kind() {
	case 0, 'n':
	case '"', '0':
		e.ID = in.ID
	default:
		return e.at("id", cannotBe(in.ID, "a string or a number"))
	}
	if in.Version == nil || *in.Version != "2.0" {
		return e.at("jsonrpc", `is not "2.0": this endpoint takes JSON-RPC 2.0`)
	}
	if in.Method == nil && in.Result.Kind() == 0 && in.Error.Kind() == 0 {
		return e.at("method", "is missing: send the name of a method")
	}
	if in.Method == nil {
		return nil // an answer to the server
	}
	m, known := methods[*in.Method]
	if !known {
		return nil
	}
	e.Code = CodeInvalidParams
	return e.checkParams(m, in.Params)
}

// ID returns the ID of a message that Check accepts, or nil if it has none.
func ID(raw []byte) jsontext.Value {
	var in struct {
		ID jsontext.Value `json:"id"`
	}
	if err := json.Unmarshal(raw, &in, lenient); err != nil || in.ID.Kind() == 'n' {
		return nil
	}
	return in.ID
}

func (e *Error) checkParams(m Method, raw jsontext.Value) *Error {
	if raw.Kind() == 0 || raw.Kind() == 'n' {
		if m.Optional {
			return nil
		}
		return e.at("params", "is missing: send an object")
	}
	params := reflect.New(m.Params).Interface()
	if err := json.Unmarshal(raw, params, lenient); err != nil {
		return e.because(raw, "params", err)
	}
	if m.Rule == nil {
		return nil
	}
	if field, reason := m.Rule(params); reason != "" {
		return e.at("params."+field, reason)
	}
	return nil
}

func (e *Error) at(field, reason string) *Error {
	e.Field, e.Reason = field, reason
	return e
}

// because describes an error of decoding raw, which is at the field below.
func (e *Error) because(raw jsontext.Value, below string, err error) *Error {
	bad, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return e.at(below, "cannot be read")
	}
	field := below
	for token := range bad.JSONPointer.Tokens() {
		var fields map[string]jsontext.Value
		var items []jsontext.Value
		if n, err := strconv.Atoi(token); err == nil && json.Unmarshal(raw, &items, lenient) == nil && n < len(items) {
			field, raw = fmt.Sprintf("%s[%d]", field, n), items[n]
			continue
		}
		_ = json.Unmarshal(raw, &fields, lenient) // a field that is not there is null
		field, raw = strings.TrimPrefix(field+"."+token, "."), fields[token]
	}
	return e.at(field, cannotBe(raw, expected(bad.GoType)))
}

// cannotBe says what was sent and what is expected.
func cannotBe(raw jsontext.Value, want string) string {
	const limit = 64
	sent := strings.ToValidUTF8(string(raw[:min(len(raw), limit)]), "\uFFFD")
	if len(raw) > limit {
		sent += "…"
	}
	return fmt.Sprintf("cannot be %s: send %s", sent, want)
}

// expected names what decodes into a type.
func expected(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "what the protocol describes"
	case t == reflect.TypeFor[time.Time]():
		return "a time, such as 2027-01-02T03:04:05Z"
	case t == reflect.TypeFor[[]byte]():
		return "base64"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "what the protocol describes"
}

// Message returns the error as a sentence.
func (e *Error) Message() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Body returns the error in the form of all errors of the service.
func (e *Error) Body() api.Error {
	out := api.Error{Error: "Invalid request", Message: e.Message(), Code: string(deed.CodeValidation)}
	if e.Field != "" {
		out.Details = []api.Detail{{Field: e.Field, Reason: e.Reason}}
	}
	return out
}
