package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A client gets the headers of a stream before anything happens that it could be told, and
// HEAD gets nothing else.
func TestHeadersOfAStream(t *testing.T) {
	s, end := quietServer(io.Discard), make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.stream(w, r, func(context.Context, func(string) error) { <-end }); err != nil {
			t.Error(err)
		}
	}))
	defer web.Close()
	defer close(end)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, method, web.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := web.Client().Do(request)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		defer response.Body.Close() // it is not read
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
			t.Errorf("%s: got %d %s", method, response.StatusCode, got)
		}
	}
}

// A stream that had nothing to send for longer than a client may take to read ends like any
// other, and not as if the connection had been lost.
func TestEndOfAQuietStream(t *testing.T) {
	s := quietServer(io.Discard)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.stream(w, r, func(context.Context, func(string) error) {
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(-time.Second)); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Error(err)
		}
	}))
	defer web.Close()
	response, err := web.Client().Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() // it is read below
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Errorf("got %v, want the end", err)
	}
}

// Events are for clients that prefer them; others get JSON.
func TestWhoGetsEvents(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/event-stream": true, "TEXT/Event-Stream": true, "text/event-stream, application/json;q=0.9": true, "text/event-stream, */*": true,
		"": false, "*/*": false, "application/json": false, "text/html": false, "application/json, text/event-stream": false,
		"text/event-stream;q=0.1, application/json": false, "text/event-stream;q=0": false, "text/event-streams": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/domains/status/job", nil)
		r.Header.Set("Accept", accept)
		if got := wantsEvents(r); got != want {
			t.Errorf("%q: got %v, want %v", accept, got, want)
		}
	}
}
