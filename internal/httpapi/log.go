package httpapi

import (
	"net/http"
	"strings"
	"time"

	"deed.example/deed/internal/order"
)

// logOrder logs which job a request is about. The lines about the job and its payment
// have their ids, and none of the request: most are written after it has ended.
func (s *Server) logOrder(w http.ResponseWriter, r *http.Request, j order.Job) {
	if j.ID != "" {
		s.Log.InfoContext(r.Context(), "order", "requestId", w.Header().Get("X-Request-Id"), "jobId", j.PublicID, "domain", string(j.Purchase.Name),
			"kind", string(j.Purchase.Kind), "owner", string(j.Owner), "state", string(j.State))
	}
}

// logAccess logs a response, if the access log is on.
func (s *Server) logAccess(w *recorder, r *http.Request, took time.Duration) {
	if s.AccessLog {
		s.Log.InfoContext(r.Context(), "access", "method", r.Method, "path", loggedPath(r), "status", w.status, "ms", took.Milliseconds(),
			"client", clientAddr(r, s.Trusted).String(), "requestId", w.Header().Get("X-Request-Id"))
	}
}

// secretPaths begin the paths whose last part is a token.
var secretPaths = []string{"/calendar/", "/email/unsubscribe/"}

// loggedPath returns the path of a request without the token in it.
func loggedPath(r *http.Request) string {
	path := shownPath(r)
	for _, begin := range secretPaths {
		if strings.HasPrefix(path, begin) {
			return begin + "***"
		}
	}
	return path
}
