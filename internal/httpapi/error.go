package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/logcause"
	"deed.example/deed/internal/ratelimit"
)

// statuses is the error table of the interface document, chapter 7, with a short
// title for each code.
var statuses = map[deed.Code]struct {
	status int
	title  string
}{
	deed.CodeValidation:          {http.StatusBadRequest, "Invalid request"},
	deed.CodeTLDNotSupported:     {http.StatusBadRequest, "TLD not supported"},
	deed.CodeTooExpensive:        {http.StatusBadRequest, "Domain too expensive"},
	deed.CodeAuthRequired:        {http.StatusUnauthorized, "Sign-in required"},
	deed.CodeTokenExpired:        {http.StatusUnauthorized, "Token expired"},
	deed.CodeTokenInvalid:        {http.StatusUnauthorized, "Token invalid"},
	deed.CodePaymentRequired:     {http.StatusPaymentRequired, "Payment required"},
	deed.CodePaymentInvalid:      {http.StatusPaymentRequired, "Payment invalid"},
	deed.CodePaymentInsufficient: {http.StatusPaymentRequired, "Insufficient funds"},
	deed.CodeOwnershipDenied:     {http.StatusForbidden, "Not the owner"},
	deed.CodeNotFound:            {http.StatusNotFound, "Not found"},
	deed.CodeDomainUnavailable:   {http.StatusConflict, "Domain unavailable"},
	deed.CodeRateLimited:         {http.StatusTooManyRequests, "Too many requests"},
	deed.CodeRegistrationFailed:  {http.StatusInternalServerError, "Registration failed"},
	deed.CodeDNS:                 {http.StatusInternalServerError, "DNS change failed"},
	deed.CodeUnavailable:         {http.StatusServiceUnavailable, "Service unavailable"},
}

// refusals maps HTTP statuses outside that table to the nearest code.
var refusals = map[int]deed.Code{
	http.StatusNotFound:                    deed.CodeNotFound,
	http.StatusMethodNotAllowed:            deed.CodeNotFound,
	http.StatusRequestEntityTooLarge:       deed.CodeValidation,
	http.StatusUnsupportedMediaType:        deed.CodeValidation,
	http.StatusRequestHeaderFieldsTooLarge: deed.CodeValidation,
}

// A refusal is a deed.Error with an HTTP status other than that of its code.
type refusal struct {
	status int
	error
}

func (r refusal) Unwrap() error { return r.error }

// refuse returns the error for one of the statuses in refusals.
func refuse(status int, format string, args ...any) error {
	return refusal{status, deed.Errorf(refusals[status], format, args...)}
}

// shownPath returns the path of a request for use in a message: escaped, and
// truncated if it is long.
func shownPath(r *http.Request) string {
	const limit = 256
	path := r.URL.EscapedPath()
	if len(path) > limit {
		return path[:limit] + "…"
	}
	return path
}

// errInternal is what a caller sees of an error without a code.
var errInternal = &deed.Error{
	Code:    deed.CodeUnavailable,
	Message: "the service is unavailable: try again in a moment",
	Next:    deed.Next{Action: deed.ActionCheckHealth},
	Retry:   2 * time.Second,
}

// fail writes the error body. An error without a code is internal: the caller
// gets SERVICE_UNAVAILABLE, and the cause goes to the log.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, status := shown(err)
	if status >= 500 && !logcause.CallerIsGone(r.Context(), err) {
		s.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "status", status,
			"requestId", w.Header().Get("X-Request-Id"), "err", err)
	}
	h := w.Header()
	if e.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(e.Retry)))
	}
	if e.Limit > 0 {
		setLimitHeaders(h, &ratelimit.Decision{Limit: deed.Limit{Max: e.Limit}, Reset: s.Now().Add(e.Retry)})
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	delete(h, "Etag")
	h["Cache-Control"] = noStore
	body := s.errorBody(h, status, e)
	s.reply(w, status, &body)
}

// shown returns what the caller sees of an error, and the status of the response: that
// of a refusal, or that of the error's code.
func shown(err error) (*deed.Error, int) {
	e, ok := err.(*deed.Error) // most are not wrapped
	if ok {
		return e, statuses[e.Code].status
	}
	if e, ok = errors.AsType[*deed.Error](err); !ok {
		e = errInternal
	}
	if r, ok := errors.AsType[refusal](err); ok {
		return e, r.status
	}
	return e, statuses[e.Code].status
}

// errorBody returns the body of an error response, and sets the header that goes
// with it.
func (s *Server) errorBody(h http.Header, status int, e *deed.Error) api.Error {
	return errorBody(h, status, e, s.PublicURL)
}

// errorBody does the same for connections that no Server has handled yet.
func errorBody(h http.Header, status int, e *deed.Error, publicURL string) api.Error {
	setNext(h, e.Next)
	out := api.Error{
		Error:      statuses[e.Code].title,
		Message:    e.Message,
		Code:       string(e.Code),
		RequestID:  h.Get("X-Request-Id"),
		DocURL:     api.DocURL(publicURL, string(e.Code)),
		Hint:       hint(e),
		RetryAfter: seconds(e.Retry),
	}
	if status != statuses[e.Code].status {
		out.Error = http.StatusText(status)
	}
	for _, d := range e.Details {
		out.Details = append(out.Details, api.Detail{Field: d.Field, Reason: d.Reason})
	}
	return out
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// panicked returns the error for a recovered panic.
func panicked(v any) error { return fmt.Errorf("panic: %v", v) }
