package apitest_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"deed.example/deed/internal/apitest"
)

// serve starts a server with the handler, and returns a validating client.
func serve(t *testing.T, handler http.HandlerFunc) (*recorder, *http.Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	rec := &recorder{}
	return rec, apitest.Client(rec, server.Client().Transport), server.URL
}

func TestStreamArrivesWhileItRuns(t *testing.T) {
	read := make(chan struct{})
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), "Content-Type: text/event-stream\nX-Request-Id: req_1\n")
		io.WriteString(w, "data: {}\n\n")
		w.(http.Flusher).Flush()
		select { // the stream stays open until its first event has been read
		case <-read:
		case <-r.Context().Done():
		}
	})
	res, err := client.Get(base + "/domains/status/job_1")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	close(read)
	if err != nil || line != "data: {}\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if len(rec.failures) > 0 {
		t.Errorf("got failures %q", rec.failures)
	}
}

func TestUndocumentedStreamFails(t *testing.T) {
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), "Content-Type: text/event-stream\nX-Request-Id: req_1\n")
	})
	res, err := client.Get(base + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := strings.Join(rec.failures, "\n"); !strings.Contains(got, `content type "text/event-stream" is not documented`) {
		t.Errorf("got failures %q", got)
	}
}

func TestBrokenAnswerReachesTheCaller(t *testing.T) {
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), plain+"Content-Length: 100\n")
		io.WriteString(w, `{"status"`)
	})
	res, err := client.Get(base + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if string(got) != `{"status"` || err == nil {
		t.Errorf("got %q and error %v, want what was sent and an error", got, err)
	}
	if len(rec.failures) > 0 {
		t.Errorf("got failures %q for what nobody could judge", rec.failures)
	}
}

func TestUnreadAnswerIsChecked(t *testing.T) {
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), plain)
		io.WriteString(w, `{}`)
	})
	res, err := client.Get(base + "/livez")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(rec.failures) != 1 {
		t.Errorf("got failures %q, want one", rec.failures)
	}
}

func TestStreamedRequestIsChecked(t *testing.T) {
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		setHeaders(w.Header(), limited)
		io.WriteString(w, `{"accessToken":"a.b.c","refreshToken":"d"}`)
	})
	body, writer := io.Pipe() // unlike a string, a pipe cannot be read twice
	go func() {
		io.WriteString(writer, `{"refresh`)
		io.WriteString(writer, `_token":"d"}`)
		writer.Close()
	}()
	res, err := client.Post(base+"/auth/refresh", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := strings.Join(rec.failures, "\n"); !strings.Contains(got, "request body: missing property 'refreshToken'") {
		t.Errorf("got failures %q", got)
	}
}

func TestManyCallersShareAClient(t *testing.T) {
	rec, client, base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header(), plain)
		io.WriteString(w, `{"status":"ok"}`)
	})
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			res, err := client.Get(base + "/livez")
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		})
	}
	callers.Wait()
	if len(rec.failures) > 0 {
		t.Errorf("got failures %q", rec.failures)
	}
}
