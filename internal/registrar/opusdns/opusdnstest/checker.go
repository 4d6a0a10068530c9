package opusdnstest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// A Checker stands between a client and a server and compares every request and every
// reply with the vendor's rules.
type Checker struct {
	Next http.Handler

	mu         sync.Mutex
	violations []string        // guarded by mu
	used       map[string]bool // endpoints, guarded by mu
}

// Violations returns what was wrong so far, in requests and in replies.
func (c *Checker) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.violations
}

// Unused returns the endpoints that nobody has called.
func (c *Checker) Unused() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range endpoints {
		if key := e.method + " " + e.path; !c.used[key] {
			all = append(all, key)
		}
	}
	return all
}

func (c *Checker) note(found ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations = append(c.violations, found...)
}

// ServeHTTP implements http.Handler.
func (c *Checker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has left
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	e := find(r.Method, r.URL.Path)
	if e == nil {
		c.note(fmt.Sprintf("%s %s: there is no such endpoint", r.Method, r.URL.Path))
		c.Next.ServeHTTP(w, r)
		return
	}
	c.mu.Lock()
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[e.method+" "+e.path] = true
	c.mu.Unlock()
	c.note(e.checkRequest(r, body)...)
	recorder := &replyRecorder{ResponseWriter: w, status: http.StatusOK}
	c.Next.ServeHTTP(recorder, r)
	if !recorder.hijacked && r.Context().Err() == nil {
		c.note(e.checkReply(recorder)...)
	}
}

// find returns the endpoint of a request.
func find(method, path string) *endpoint {
	parts := strings.Split(path, "/")
	best, fixed := (*endpoint)(nil), -1
	for i, e := range endpoints {
		want := strings.Split(e.path, "/")
		if e.method != method || len(want) != len(parts) {
			continue
		}
		same := 0
		for j := range want {
			if want[j] == parts[j] {
				same++
			} else if want[j] != "{}" || parts[j] == "" {
				same = -1000
			}
		}
		if same > fixed {
			best, fixed = &endpoints[i], same
		}
	}
	return best
}

// checkRequest compares a request with the rules.
func (e *endpoint) checkRequest(r *http.Request, body []byte) (found []string) {
	at := e.method + " " + e.path
	for name, values := range r.URL.Query() {
		of, ok := e.query[name]
		if !ok {
			found = append(found, at+"?"+name+": it is not documented")
			continue
		}
		for _, v := range values {
			found = append(found, of(at+"?"+name, v)...)
		}
	}
	for _, name := range e.needs {
		if !r.URL.Query().Has(name) {
			found = append(found, at+"?"+name+": it is missing")
		}
	}
	if r.Header.Get("X-Api-Key") == "" {
		found = append(found, at+": there is no key")
	}
	if e.in == nil {
		if len(body) > 0 {
			found = append(found, at+": it has no body")
		}
		return found
	}
	if r.Header.Get("Content-Type") != "application/json" {
		found = append(found, at+": the body is not JSON")
	}
	return append(found, checkJSON(e.in, at, body)...)
}

// checkReply compares a reply with the rules. Statuses that are not documented for
// the endpoint are those of faults that any request can meet.
func (e *endpoint) checkReply(r *replyRecorder) []string {
	at := fmt.Sprintf("%s %s → %d", e.method, e.path, r.status)
	of, documented := e.replies[r.status]
	switch r.status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		if !documented {
			of, documented = problem, true
		}
	}
	switch {
	case !documented:
		return []string{at + ": the status is not documented"}
	case of == nil && r.body.Len() > 0:
		return []string{at + ": it has no body"}
	case of == nil:
		return nil
	}
	want := "application/json"
	if r.status >= 400 {
		want = "application/problem+json"
	}
	if got := r.Header().Get("Content-Type"); got != want {
		return []string{fmt.Sprintf("%s: the type is %s, not %s", at, got, want)}
	}
	return checkJSON(of, at, r.body.Bytes())
}

func checkJSON(of schema, at string, raw []byte) []string {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return []string{at + ": not JSON: " + err.Error()}
	}
	return of(at, v)
}

// A replyRecorder keeps a copy of the reply.
type replyRecorder struct {
	http.ResponseWriter
	status   int
	body     bytes.Buffer
	hijacked bool
}

func (r *replyRecorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *replyRecorder) Write(p []byte) (int, error) {
	if r.body.Len() < 1<<24 {
		r.body.Write(p)
	}
	return r.ResponseWriter.Write(p)
}

// Hijack implements http.Hijacker: the server closes a connection without a reply.
func (r *replyRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.hijacked = true
	return r.ResponseWriter.(http.Hijacker).Hijack()
}
