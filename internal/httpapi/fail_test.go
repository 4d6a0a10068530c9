package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

func quietServer(log io.Writer) *Server {
	return &Server{Now: time.Now, Log: slog.New(slog.NewTextHandler(log, nil)), Observe: func(string, int, time.Duration) {}}
}

func TestErrorWithoutCodeIsUnavailable(t *testing.T) {
	var log bytes.Buffer
	s := quietServer(&log)
	w := httptest.NewRecorder()
	h := s.middleware(s.handle(func(http.ResponseWriter, *http.Request) error { return errors.New("table is on fire") }))
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	body := w.Body.String()
	if w.Code != 503 || !strings.Contains(body, "SERVICE_UNAVAILABLE") || strings.Contains(body, "fire") || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %s %v", w.Code, body, w.Header())
	}
	if id := w.Header().Get("X-Request-Id"); !strings.Contains(log.String(), "fire") || !strings.Contains(log.String(), id) {
		t.Errorf("the log does not contain the cause of %s: %s", id, log.String())
	}
}

// A caller who goes away in the middle of a request is no error of the service.
func TestCallerIsGone(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	h := quietServer(&log).handle(func(_ http.ResponseWriter, r *http.Request) error {
		leave()
		return fmt.Errorf("read names: %w", r.Context().Err())
	})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if log.Len() > 0 {
		t.Errorf("the log says %s", log.String())
	}
}

func TestPanicIsUnavailable(t *testing.T) {
	var log bytes.Buffer
	s := quietServer(&log)
	var observed int
	s.Observe = func(_ string, status int, _ time.Duration) { observed = status }
	w := httptest.NewRecorder()
	s.middleware(s.handle(func(http.ResponseWriter, *http.Request) error { panic("index out of range") })).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 503 || observed != 503 || !strings.Contains(w.Body.String(), "SERVICE_UNAVAILABLE") || strings.Contains(w.Body.String(), "index") {
		t.Errorf("got %d %s, observed %d", w.Code, w.Body, observed)
	}
	if !strings.Contains(log.String(), "index out of range") {
		t.Errorf("the log says %s", log.String())
	}
}

// A truncated response must not look complete.
func TestPanicAfterResponseStartedAbortsConnection(t *testing.T) {
	s := quietServer(io.Discard)
	server := httptest.NewServer(s.middleware(s.handle(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"half":`)) // the response is truncated here
		panic("too late")
	})))
	defer server.Close()
	res, err := http.Get(server.URL)
	if err == nil {
		defer res.Body.Close() // it ends in an error
		_, err = io.ReadAll(res.Body)
	}
	if err == nil {
		t.Error("the client saw a complete response")
	}
}

func TestErrorDetailsReachTheCaller(t *testing.T) {
	s := quietServer(io.Discard)
	w := httptest.NewRecorder()
	s.middleware(s.handle(func(http.ResponseWriter, *http.Request) error {
		return &deed.Error{Code: deed.CodeDomainUnavailable, Message: "taken", Hint: "try another", Details: []deed.Detail{{Field: "domain", Reason: "taken"}}, Retry: 1500 * time.Millisecond}
	})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for _, want := range []string{`"code":"DOMAIN_UNAVAILABLE"`, `"hint":"try another"`, `"details":[{"field":"domain","reason":"taken"}]`, `"retryAfter":2`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("got %s, want %s", w.Body, want)
		}
	}
	if w.Code != 409 || w.Header().Get("Retry-After") != "2" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

func TestBearer(t *testing.T) {
	tests := []struct {
		name   string
		values []string
		want   string // "" is AUTH_REQUIRED
	}{
		{"good", []string{"Bearer abc"}, "abc"},
		{"any letter case", []string{"bearer abc"}, "abc"},
		{"none", nil, ""},
		{"empty", []string{""}, ""},
		{"no token", []string{"Bearer"}, ""},
		{"blank token", []string{"Bearer  "}, ""},
		{"another scheme", []string{"Basic abc"}, ""},
		{"no scheme", []string{"abc"}, ""},
		{"twice", []string{"Bearer abc", "Bearer abc"}, ""},
		{"glued", []string{"Bearerabc"}, ""},
	}
	for _, tt := range tests {
		got, err := bearer(&http.Request{Header: http.Header{"Authorization": tt.values}})
		if got != tt.want || tt.want == "" && deed.CodeOf(err) != deed.CodeAuthRequired {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
}

// An order whose payment is still being settled has no refund: the error is returned, and
// the caller repeats the request.
func TestOrderWithoutRefund(t *testing.T) {
	s, w := quietServer(io.Discard), httptest.NewRecorder()
	broken := errors.New("the database is away")
	err := s.failOrder(w, order.Job{State: order.JobAwaitingPayment}, order.Payment{State: order.PaymentSettling}, broken)
	if err != broken || w.Body.Len() > 0 {
		t.Errorf("got %v %s", err, w.Body)
	}
}
