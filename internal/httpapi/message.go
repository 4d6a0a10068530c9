package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// What an agent may send, over either protocol.
const (
	maxMessage      = 128 << 10 // the largest body of a call, and a payment
	maxMessageDepth = 64        // of a body of ours, in an envelope, beside what a payer adds
	maxAtOnce       = 32        // messages of one address that are being answered
)

// mcp hands a message to the way in for agents, where there is one.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request) error {
	return s.message(w, r, s.MCP, "MCP")
}

// a2a hands a message to the other way in for agents, where there is one.
func (s *Server) a2a(w http.ResponseWriter, r *http.Request) error {
	return s.message(w, r, s.A2A, "A2A")
}

// message hands one message of a protocol on. What it asks for is counted as the
// call it stands for; here are the bounds of the message itself, which may ask
// for much (the list of all tools) or for long (a stream).
func (s *Server) message(w http.ResponseWriter, r *http.Request, way http.Handler, protocol string) error {
	if way == nil {
		return deed.Errorf(deed.CodeUnavailable, "this node does not speak %s: call the HTTP interface, GET /openapi.json describes it", protocol)
	}
	caller := clientKey(clientAddr(r, s.Trusted))
	if !s.talking.enter(caller, maxAtOnce) {
		return s.tooManyAtOnce(w)
	}
	defer s.talking.leave(caller)
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		return unread(err)
	}
	if err := checkMessage(raw); err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	way.ServeHTTP(w, r)
	return nil
}

// tooManyAtOnce refuses an address whose messages are all being answered.
func (s *Server) tooManyAtOnce(w http.ResponseWriter) error {
	const wait = 2 * time.Second
	setLimitHeaders(w.Header(), &ratelimit.Decision{Limit: deed.Limit{Max: maxAtOnce}, Reset: s.Now().Add(wait)})
	return &deed.Error{
		Code:    deed.CodeRateLimited,
		Message: fmt.Sprintf("%d messages of yours are being answered: wait %d seconds, or until a stream or a wait of yours has ended", maxAtOnce, seconds(wait)),
		Retry:   wait,
	}
}

// checkMessage says why raw is not one message, or is too deep to be one. What
// is no JSON passes: each protocol has words of its own for that. A list of
// calls would be answered at once, whatever it costs us.
func checkMessage(raw []byte) error {
	notOne := deed.Errorf(deed.CodeValidation, "send one message at a time, as one JSON object")
	if text := bytes.TrimLeft(raw, " \t\r\n"); len(text) == 0 || text[0] == '[' {
		return notOne
	}
	// Names that come twice, and bytes that are no text, are for the protocol.
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for whole := false; ; {
		_, err := dec.ReadToken()
		switch {
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
