// Package rdap is the RDAP adapter (RFC 7480, 9082, 9083) for registered names.
// httpapi routes to it, behind the same middleware.
//
// GET /rdap/domain/{name} shows the same data as GET /domains/{domain},
// /rdap/nameserver/{name} one of the service's name servers or one within a
// registered name, /rdap/help the available queries. Every other query is 501
// (RFC 9082). Registrant data is redacted, and each redacted field is listed (RFC
// 9537). An error has the fields of RDAP and of the API in one object. Responses
// follow the gTLD registrar profile of 2024, and claim conformance if the
// operator has an IANA ID and a page to contact registrants.
package rdap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/logcause"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/wirejson"
)

// Names are the registered names. *registration.Service implements it.
type Names interface {
	// Name returns a name with its events, or CodeNotFound.
	Name(ctx context.Context, name deed.Name) (registration.View, error)
}

// A Registrar is the operator's registrar data for responses.
type Registrar struct {
	Name       string
	IANAID     string // "" if not accredited
	AbuseEmail string
	AbusePhone string // such as +1.2025550100
	Contact    string // URL of a page that forwards messages to registrants; optional
}

// accredited reports whether the data meets the ICANN profile.
func (r Registrar) accredited() bool { return r.IANAID != "" && r.Contact != "" }

// Server serves RDAP. Set every field.
type Server struct {
	Names       Names
	Nameservers []string // of this service
	Registrar   Registrar
	Countries   map[string]string // of the registrant of record, by backend; two letters
	PublicURL   string            // base URL that callers use, without a path
	Now         func() time.Time  // the registry's clock
	Log         *slog.Logger
}

// media is the content type of every response (RFC 7480, 4.2).
const media = "application/rdap+json"

// ServeHTTP serves GET and HEAD of paths below /rdap/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(r.Context(), s.PublicURL+r.URL.EscapedPath(), strings.TrimPrefix(r.URL.Path, "/rdap/"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, http.StatusOK, answer)
}

// answer returns the object for a query such as "domain/example.com". requestURL
// is the URL as the caller wrote it.
func (s *Server) answer(ctx context.Context, requestURL, question string) (any, error) {
	kind, value, _ := strings.Cut(question, "/")
	switch kind {
	case "domain":
		return s.domain(ctx, requestURL, value)
	case "nameserver":
		return s.nameserver(ctx, requestURL, value)
	case "help":
		if value == "" {
			return s.help(), nil
		}
	}
	return nil, errUnsupported
}

// errUnsupported is the error for unsupported and for unknown queries (RFC 9082,
// 1).
var errUnsupported = deed.Errorf(deed.CodeNotFound, "we answer domain/{name}, nameserver/{name} and help, and nothing else")

// statuses maps the codes that can occur here to their HTTP status, as in the
// interface document.
var statuses = map[deed.Code]int{
	deed.CodeValidation:  http.StatusBadRequest,
	deed.CodeNotFound:    http.StatusNotFound,
	deed.CodeUnavailable: http.StatusServiceUnavailable,
}

// errInternal is what a caller sees of an error without a code.
var errInternal = &deed.Error{
	Code: deed.CodeUnavailable, Message: "the service is unavailable: try again in a moment", Hint: "GET /health says what is wrong", Retry: 2 * time.Second,
}

// fail writes an error with the fields of RDAP and of the API.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*deed.Error](err)
	if !ok || statuses[e.Code] == 0 {
		e = errInternal
	}
	status, h := statuses[e.Code], w.Header()
	if errors.Is(err, errUnsupported) {
		status = http.StatusNotImplemented
	}
	if status == http.StatusServiceUnavailable && !logcause.CallerIsGone(r.Context(), err) {
		s.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "status", status, "requestId", h.Get("X-Request-Id"), "err", err)
	}
	retry := int(e.Retry.Seconds())
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(retry))
	}
	out := api.RDAPError{
		RDAPAnswer: api.RDAPAnswer{Conformance: s.conformance()},
		ErrorCode:  status, Title: http.StatusText(status), Description: []string{e.Message},
		Error: api.Error{Error: http.StatusText(status), Message: e.Message, Code: string(e.Code), RequestID: h.Get("X-Request-Id"), Hint: e.Hint, RetryAfter: retry, DocURL: api.DocURL(s.PublicURL, string(e.Code))},
	}
	for _, d := range e.Details {
		out.Details = append(out.Details, api.Detail{Field: d.Field, Reason: d.Reason})
	}
	write(w, status, out)
}

func write(w http.ResponseWriter, status int, v any) {
	raw, err := wirejson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // only a programming error can cause this
	}
	raw = append(raw, '\n')
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client is gone if this fails
}
