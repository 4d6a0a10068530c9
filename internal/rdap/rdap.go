// Package rdap tells the world about the names we hold, in the words of RDAP
// (RFC 7480, 9082, 9083): a way in beside httpapi, behind the same door.
//
// GET /rdap/domain/{name} shows the same rows as GET /domains/{domain},
// /rdap/nameserver/{name} a name server of ours or of the name it stands below,
// /rdap/help what there is. Every other question is 501, as RFC 9082 wants it.
// Of the registrant nothing is shown, and each thing that is not shown is named
// (RFC 9537). An error has RDAP's fields and ours in one object. Answers follow
// the profile for registrars of gTLDs of 2024, and say so when the operator has
// an IANA ID and a page where registrants can be written to.
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
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/wirejson"
)

// Names are the names we hold. *registration.Service is one.
type Names interface {
	// Name returns a name with what has happened to it, or CodeNotFound.
	Name(ctx context.Context, name deed.Name) (registration.View, error)
}

// A Registrar is who we are to those who ask about a name.
type Registrar struct {
	Name       string
	IANAID     string // "" without an accreditation
	AbuseEmail string
	AbusePhone string // such as +1.2025550100
	Contact    string // address of a page that passes messages on to registrants; "" without one
}

// accredited says whether all is there that the profile of ICANN asks for.
func (r Registrar) accredited() bool { return r.IANAID != "" && r.Contact != "" }

// Server answers RDAP. Fill every field.
type Server struct {
	Names       Names
	Nameservers []string // ours
	Registrar   Registrar
	PublicURL   string           // where callers reach us, without a path
	Now         func() time.Time // the registry's clock
	Log         *slog.Logger
}

// media is the content type of every answer (RFC 7480, 4.2).
const media = "application/rdap+json"

// ServeHTTP answers a GET or HEAD of a path below /rdap/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(r.Context(), s.PublicURL+r.URL.EscapedPath(), strings.TrimPrefix(r.URL.Path, "/rdap/"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, http.StatusOK, answer)
}

// answer returns the object that a question such as "domain/example.com" asks
// for. Asked is the whole address, as the caller wrote it.
func (s *Server) answer(ctx context.Context, asked, question string) (any, error) {
	kind, value, _ := strings.Cut(question, "/")
	switch kind {
	case "domain":
		return s.domain(ctx, asked, value)
	case "nameserver":
		return s.nameserver(ctx, asked, value)
	case "help":
		if value == "" {
			return s.help(), nil
		}
	}
	return nil, errUnsupported
}

// errUnsupported is for questions that RDAP has and we have no answer to (RFC
// 9082, 1), and for those that it does not have.
var errUnsupported = deed.Errorf(deed.CodeNotFound, "we answer domain/{name}, nameserver/{name} and help, and nothing else")

// statuses are the errors that can happen here, as the table of the interface
// document has them, with HTTP's word for each.
var statuses = map[deed.Code]int{
	deed.CodeValidation:  http.StatusBadRequest,
	deed.CodeNotFound:    http.StatusNotFound,
	deed.CodeUnavailable: http.StatusServiceUnavailable,
}

// ourFault is all that a caller learns of an error without a code.
var ourFault = &deed.Error{
	Code: deed.CodeUnavailable, Message: "the service is unavailable: try again in a moment, GET /health says what is wrong", Retry: 2 * time.Second,
}

// fail writes an error in RDAP's shape and ours.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*deed.Error](err)
	if !ok || statuses[e.Code] == 0 {
		e = ourFault
	}
	status, h := statuses[e.Code], w.Header()
	if errors.Is(err, errUnsupported) {
		status = http.StatusNotImplemented
	}
	if status == http.StatusServiceUnavailable {
		s.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "status", status, "requestId", h.Get("X-Request-Id"), "err", err)
	}
	retry := int(e.Retry.Seconds())
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(retry))
	}
	out := api.RDAPError{
		RDAPAnswer: api.RDAPAnswer{Conformance: s.conformance()},
		ErrorCode:  status, Title: http.StatusText(status), Description: []string{e.Message},
		Error: api.Error{Error: http.StatusText(status), Message: e.Message, Code: string(e.Code), RequestID: h.Get("X-Request-Id"), Hint: e.Hint, RetryAfter: retry},
	}
	for _, d := range e.Details {
		out.Details = append(out.Details, api.Detail{Field: d.Field, Reason: d.Reason})
	}
	write(w, status, out)
}

func write(w http.ResponseWriter, status int, v any) {
	raw, err := wirejson.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err)) // text cannot make it fail: only a programmer can
	}
	raw = append(raw, '\n')
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client is gone if this fails
}
