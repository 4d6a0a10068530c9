package httpapi

import (
	"crypto/rand"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
)

// How much a request may say about itself.
const (
	maxHeaderBytes = 16 << 10
	maxHeaders     = 50
)

// door is what every request passes, before its route and after it.
func (s *Server) door(routes http.Handler) http.Handler {
	refuseAtDoor := func(err error) http.Handler {
		return s.handle(func(http.ResponseWriter, *http.Request) error { return err })
	}
	tooMany := refuseAtDoor(refuse(http.StatusRequestHeaderFieldsTooLarge, "send at most %d headers", maxHeaders))
	unclean := refuseAtDoor(refuse(http.StatusNotFound, "there is nothing here: write the path without empty or dotted parts"))

	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := s.Now()
		w := &recorder{ResponseWriter: rw}
		s.greet(w.Header(), r)
		defer func() {
			if v := recover(); v != nil {
				s.caught(w, r, v)
			}
			s.Observe(r.Pattern, w.status, s.Now().Sub(began))
		}()
		switch {
		case headerCount(r.Header) > maxHeaders:
			tooMany.ServeHTTP(w, r)
		case !clean(r):
			unclean.ServeHTTP(w, r)
		default:
			routes.ServeHTTP(w, r)
		}
	})
}

// greet sets the headers of every answer.
func (s *Server) greet(h http.Header, r *http.Request) {
	h.Set("X-Request-Id", requestID(r))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h["Access-Control-Allow-Origin"] = allowOrigin
	h["Access-Control-Expose-Headers"] = exposeHeaders
	if r.Method == http.MethodOptions {
		h["Access-Control-Allow-Methods"] = allowMethods
		h["Access-Control-Allow-Headers"] = allowHeaders
		h["Access-Control-Max-Age"] = allowFor
	}
}

// Pages of any origin may call us: a caller is known by what it signs, never by
// a cookie, so there are no credentials a browser could add.
var (
	allowOrigin   = []string{"*"}
	exposeHeaders = []string{"PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location, ETag, A2A-Extensions, X-Request-Id"}
	allowMethods  = []string{"GET, HEAD, POST, PUT, DELETE, OPTIONS"}
	allowHeaders  = []string{"Authorization, Content-Type, PAYMENT-SIGNATURE, X-PAYMENT, X-Request-Id, If-None-Match, Access-Control-Expose-Headers, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, A2A-Version, A2A-Extensions, Last-Event-ID"}
	allowFor      = []string{"7200"} // two hours; browsers keep it no longer
)

// requestID returns the caller's own id when it is well-formed, so that both
// sides can find the request in their logs, and a new one otherwise.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if len(id) < 1 || len(id) > 64 {
		return newRequestID()
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' && c != '.' {
			return newRequestID()
		}
	}
	return id
}

func newRequestID() string { return rand.Text() }

func headerCount(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

// clean says whether the path is one that a ServeMux takes as it is. Others it
// would redirect, and a client that follows would repeat a POST elsewhere.
func clean(r *http.Request) bool {
	p := r.URL.Path
	return strings.HasPrefix(p, "/") && (path.Clean(p) == p || path.Clean(p)+"/" == p)
}

// caught answers for a handler that panicked, unless it had begun to answer:
// then the connection is cut, so that nobody takes the half for the whole.
func (s *Server) caught(w *recorder, r *http.Request, v any) {
	if v == http.ErrAbortHandler || w.status != 0 {
		s.Log.ErrorContext(r.Context(), "answer cut short", "route", r.Pattern, "panic", v)
		panic(http.ErrAbortHandler)
	}
	s.Log.ErrorContext(r.Context(), "panic", "route", r.Pattern, "panic", v, "stack", string(debug.Stack()))
	s.fail(w, r, panicked(v))
}

// A recorder remembers the status of the answer; 0 when there is none yet.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what is below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
