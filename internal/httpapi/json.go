package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/wirejson"
)

// Limits of the size and the nesting of a JSON body.
const (
	maxAuthBody = 16 << 10
	maxDepth    = 16
	smallBody   = 4 << 10 // bodies up to this size are read into a buffer of their length
)

// decode reads the JSON value of the body into v. It must be UTF-8 without
// duplicate or unknown keys; keys are case-sensitive.
func decode(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	if noBody(r) {
		return errNoBody
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return refuse(http.StatusUnsupportedMediaType, "send the body as Content-Type: application/json")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return refuse(http.StatusUnsupportedMediaType, "send the body as it is, without Content-Encoding")
	}
	raw, err := readBody(w, r, limit)
	if err != nil {
		return unread(err)
	}
	if err := checkDepth(raw); err != nil {
		return malformed(err)
	}
	if err := unmarshal(raw, v); err != nil {
		return malformed(err)
	}
	if string(bytes.TrimSpace(raw)) == "null" { // it leaves v as it is, as if the body were {}
		return deed.Invalid("body", "cannot be a JSON null: send an object")
	}
	return nil
}

// unmarshal reads a JSON value into v. JSON Schema, and so openapi.yaml, calls 2.0 an
// integer, which programs send that have no other numbers than floats. It is 2 in the
// canonical form (RFC 8785).
func unmarshal(raw []byte, v any) error {
	strict := json.RejectUnknownMembers(true)
	err := json.Unmarshal(raw, v, strict)
	if e, ok := errors.AsType[*json.SemanticError](err); ok && e.JSONKind == '0' {
		canonical := jsontext.Value(bytes.Clone(raw))
		if err = canonical.Canonicalize(); err == nil {
			err = json.Unmarshal(canonical, v, strict)
		}
	}
	return err
}

// isJSON reports whether a Content-Type is that of JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == "application/json" { // as most callers write it
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// readBody reads the body up to the limit. http.MaxBytesReader tells the writer of
// net/http about a larger one, and does not find it inside another writer. net/http
// then closes only its side of the connection at first: if it closed both, a client
// that still sends would get a reset, and could lose the response.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength >= 0 && r.ContentLength <= min(limit, smallBody) {
		raw := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, raw)
		return raw, err
	}
	return io.ReadAll(http.MaxBytesReader(unwrapped(w), r.Body, limit))
}

// unwrapped returns the innermost writer, as http.ResponseController finds it.
func unwrapped(w http.ResponseWriter) http.ResponseWriter {
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = outer.Unwrap()
	}
}

// errNoBody is returned for a missing body, whatever the Content-Type is.
var errNoBody = deed.Errorf(deed.CodeValidation, "the body is empty: send a JSON object")

// noBody reports whether the request has no body. Without a Content-Length it
// tries to read the first byte.
func noBody(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0
	}
	ahead := bufio.NewReaderSize(r.Body, 16)
	_, err := ahead.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{ahead, r.Body}
	return errors.Is(err, io.EOF)
}

// unread returns the error for a body that could not be read completely.
func unread(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(http.StatusRequestEntityTooLarge, "the body is larger than the %d bytes this call takes", tooLarge.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return deed.Errorf(deed.CodeValidation, "the body did not arrive in time: send it within 10 seconds")
	}
	return &deed.Error{Code: deed.CodeValidation, Message: "the body ended before it was complete", Err: err}
}

// checkDepth fails if the value is nested too deeply.
func checkDepth(raw []byte) error {
	if bytes.Count(raw, []byte("{"))+bytes.Count(raw, []byte("[")) <= maxDepth {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	for {
		if _, err := dec.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		if dec.StackDepth() > maxDepth {
			return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
		}
	}
}

// malformed turns an error of the JSON library into a deed.Error.
func malformed(err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return deed.Invalid(field(semantic.JSONPointer), "%s", reason(semantic))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return deed.Errorf(deed.CodeValidation, "the body ends before its JSON value does")
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return deed.Errorf(deed.CodeValidation, "the body is not the JSON we expect: %v at byte %d", syntactic.Err, syntactic.ByteOffset)
	}
	return deed.Errorf(deed.CodeValidation, "the body is not the JSON we expect: %v", err)
}

func reason(e *json.SemanticError) string {
	switch {
	case errors.Is(e, json.ErrUnknownName):
		return "there is no such field"
	case e.JSONKind == 0:
		return "is not as we expect it"
	case e.JSONKind == '"' && e.GoType == timeType:
		return "is not " + timeForm
	}
	return fmt.Sprintf("cannot be a JSON %s%s", kind(e.JSONKind), instead(e.GoType))
}

// kind returns the word of JSON (RFC 8259) for a kind of value.
func kind(k jsontext.Kind) string {
	switch k {
	case '[':
		return "array"
	case '{':
		return "object"
	}
	return k.String()
}

const timeForm = "a time as in 2027-01-02T03:04:05Z (RFC 3339)"

var timeType = reflect.TypeFor[time.Time]()

// instead returns a hint about the expected kind of value, if the type implies
// one.
func instead(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return ""
	case t == timeType:
		return ": send " + timeForm
	case t.Kind() == reflect.String:
		return ": send a string"
	case t.Kind() == reflect.Bool:
		return ": send true or false"
	case t.Kind() >= reflect.Uint8 && t.Kind() <= reflect.Uint32:
		return fmt.Sprintf(": send a whole number from 0 to %d", uint64(1)<<t.Bits()-1)
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return ": send a whole number"
	case t.Kind() == reflect.Slice:
		return ": send an array"
	case t.Kind() == reflect.Struct:
		return ": send an object"
	}
	return ""
}

// field formats a JSON pointer as a field path: /dns_records/2/ttl becomes
// dns_records[2].ttl.
func field(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() == 0 {
		return "body"
	}
	return b.String()
}

// reply writes v as JSON.
func (s *Server) reply(w http.ResponseWriter, status int, v any) {
	write(w, status, encode(v))
}

// encode returns v as one line of JSON. Text that is not UTF-8 does not make it
// fail.
func encode(v any) []byte {
	raw, err := wirejson.Marshal(v)
	if err != nil {
		// Only a programming error can cause this; the middleware responds with 503.
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return append(raw, '\n')
}

func write(w http.ResponseWriter, status int, raw []byte) {
	h := w.Header()
	h["Content-Type"] = typeJSON
	h["Content-Length"] = []string{strconv.Itoa(len(raw))}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client is gone if this fails
}
