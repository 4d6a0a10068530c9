package httpapi

import (
	"math/rand/v2"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
)

// Limits of the headers of a request.
const (
	maxHeaderBytes = 16 << 10
	maxHeaders     = 50
)

// middleware wraps the routes with what applies to every request: common headers,
// limits of the headers, clean paths, recovery from panics and metrics.
func (s *Server) middleware(routes http.Handler) http.Handler {
	tooMany := s.handle(func(http.ResponseWriter, *http.Request) error {
		return refuse(http.StatusRequestHeaderFieldsTooLarge, "send at most %d headers", maxHeaders)
	})
	unclean := s.handle(func(w http.ResponseWriter, r *http.Request) error {
		if s.wantsMissingPage(r) {
			return s.Page.ServeMissing(w, r)
		}
		return refuse(http.StatusNotFound, "there is nothing here: write the path without empty or dotted parts")
	})

	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := s.Now()
		w := &recorder{ResponseWriter: rw}
		r, traced := s.Tracer.Request(r, fromProxy(r, s.Trusted))
		s.setCommonHeaders(w.Header(), r)
		defer func() {
			if v := recover(); v != nil {
				s.recovered(w, r, v)
			}
			took := s.Now().Sub(began)
			s.Observe(r.Pattern, w.status, took)
			traced.End(r.Pattern, w.status, w.Header().Get("X-Request-Id"))
			s.logAccess(w, r, took)
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

// setCommonHeaders sets the headers that every response has.
func (s *Server) setCommonHeaders(h http.Header, r *http.Request) {
	h["X-Request-Id"] = []string{requestID(r)}
	h["X-Content-Type-Options"] = noSniff
	h["Cache-Control"] = noStore
	h["Access-Control-Allow-Origin"] = allowOrigin
	h["Access-Control-Expose-Headers"] = exposeHeaders
	if r.Method == http.MethodOptions {
		h["Access-Control-Allow-Methods"] = allowMethods
		h["Access-Control-Allow-Headers"] = allowHeaders
		h["Access-Control-Max-Age"] = allowFor
	}
	if r.TransferEncoding != nil {
		h["Connection"] = closeConnection
	}
}

// closeConnection ends the connection of a request in chunks: if it also had a
// Content-Length, which net/http removes, a proxy before us may have seen another end of
// it (RFC 9112, 6.1).
var closeConnection = []string{"close"}

// Pages of any origin may call the API: callers are authenticated by tokens and
// signatures, never by a cookie that a browser would add (CORS).
var (
	allowOrigin   = []string{"*"}
	exposeHeaders = []string{"PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location, ETag, A2A-Extensions, X-Request-Id, Deed-Next"}
	allowMethods  = []string{"GET, HEAD, POST, PUT, DELETE, OPTIONS"}
	allowHeaders  = []string{"Authorization, Content-Type, PAYMENT-SIGNATURE, X-PAYMENT, X-Request-Id, If-None-Match, Access-Control-Expose-Headers, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, A2A-Version, A2A-Extensions, Last-Event-ID"}
	allowFor      = []string{"7200"} // two hours, the most that browsers accept
)

// Values of headers that never change. The slices are shared by all responses: Set
// replaces them, and Add copies them.
var (
	noSniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
	forMinute = []string{"public, max-age=60"}
	typeJSON  = []string{"application/json"}
)

// requestID returns the caller's own request id if it is well-formed, so that
// both sides can find the request in their logs, and a new one otherwise.
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

// newRequestID returns 130 random bits, as crypto/rand.Text does. They are no secret, and
// need no system call.
func newRequestID() string {
	const alphabet, perWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 12
	var id [26]byte
	var bits uint64
	for i := range id {
		if i%perWord == 0 {
			bits = rand.Uint64()
		}
		id[i] = alphabet[bits%32]
		bits /= 32
	}
	return string(id[:])
}

func headerCount(h http.Header) int {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	return n
}

// clean reports whether a ServeMux serves the path without a redirect. A client
// that followed the redirect would repeat a POST at another path.
func clean(r *http.Request) bool {
	p := r.URL.Path
	return strings.HasPrefix(p, "/") && (path.Clean(p) == p || path.Clean(p)+"/" == p)
}

// recovered sends the error response for a handler that panicked. If the response
// has already begun, it aborts the connection instead, so that no client takes a
// truncated response for a complete one.
func (s *Server) recovered(w *recorder, r *http.Request, v any) {
	if v == http.ErrAbortHandler || w.status != 0 {
		s.Log.ErrorContext(r.Context(), "response aborted", "route", r.Pattern, "panic", v)
		panic(http.ErrAbortHandler)
	}
	s.Log.ErrorContext(r.Context(), "panic", "route", r.Pattern, "panic", v, "stack", string(debug.Stack()))
	s.fail(w, r, panicked(v))
}

// A recorder records the status of the response; 0 until it is written.
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

// Unwrap gives http.ResponseController access to the underlying writer.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
