package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// Limits of the messages of MCP and A2A.
const (
	maxMessage        = 128 << 10 // the largest body of a call, plus a payment
	maxMessageDepth   = 64        // a body in the protocol's envelope, plus what a payer adds
	maxActiveMessages = 32        // per client
)

// mcp serves POST /mcp, if MCP is enabled.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) error {
	return s.message(w, r, s.MCP, "MCP")
}

// a2a serves POST /a2a, if A2A is enabled.
func (s *Server) a2a(w http.ResponseWriter, r *http.Request) error {
	return s.message(w, r, s.A2A, "A2A")
}

// message passes one message to the protocol's handler. The call in the message
// has its own rate limit; this limits the messages themselves, because one may
// cause a large response (the list of all tools) or a long one (a stream).
func (s *Server) message(w http.ResponseWriter, r *http.Request, next http.Handler, protocol string) error {
	if next == nil {
		return deed.Errorf(deed.CodeUnavailable, "this node does not speak %s: call the HTTP interface, GET /openapi.json describes it", protocol)
	}
	caller := ratelimit.AddressKey(clientAddr(r, s.Trusted))
	if !s.activeMessages.acquire(caller, maxActiveMessages) {
		return errTooManyMessages
	}
	defer s.activeMessages.release(caller)
	raw, err := readBody(w, r, maxMessage)
	if err != nil {
		return unread(err)
	}
	if err := checkMessage(raw); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	next.ServeHTTP(w, r)
	return nil
}

// errTooManyMessages is returned to a client at its limit of active messages.
var errTooManyMessages = deed.RateLimited(2*time.Second, maxActiveMessages, "%d messages of yours are being answered; try again when a stream or a wait of yours has ended", maxActiveMessages)

// checkMessage fails if raw is not one message, or is nested too deeply. Invalid
// JSON passes: each protocol has its own error for it. A JSON-RPC batch is
// rejected, because its calls would run at once and bypass the limits.
func checkMessage(raw []byte) error {
	notOne := deed.Errorf(deed.CodeValidation, "send one message at a time, as one JSON object")
	if len(bytes.TrimLeft(raw, " \t\r\n")) == 0 {
		return notOne
	}
	// Duplicate names and invalid UTF-8 are left to the protocol, too.
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first, whole := true, false; ; first = false {
		token, err := dec.ReadToken()
		switch {
		case first && err == nil && token.Kind() != '{':
			return notOne
		case err == nil && whole, err != nil && whole && !errors.Is(err, io.EOF):
			return notOne
		case err != nil:
			return nil
		case dec.StackDepth() > maxMessageDepth:
			return deed.Errorf(deed.CodeValidation, "the message is nested deeper than %d levels", maxMessageDepth)
		}
		whole = dec.StackDepth() == 0
	}
}
