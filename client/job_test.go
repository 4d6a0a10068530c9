package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// faulty makes the registry fail at the next order. Tests that use it must not
// run in parallel.
func faulty(t *testing.T, s *buyer, kind string) {
	t.Helper()
	if _, err := s.SetFaults(t.Context(), api.FaultsRequest{Registrar: kind, Times: new(1)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := s.SetFaults(context.Background(), api.FaultsRequest{Registrar: "none"}); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitForCompletedJob(t *testing.T) {
	s := newBuyer(t)
	order, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	if err != nil {
		t.Fatal(err)
	}
	job, err := s.WaitJob(t.Context(), order.JobID)
	if err != nil || !job.Completed || job.Result == nil || job.Result.Domain != order.Domain {
		t.Errorf("got %+v, %v", job, err)
	}
}

// An order that the registry rejects returns an Error with the refund, and so
// does its job.
func TestRefusedOrder(t *testing.T) {
	s := newBuyer(t)
	faulty(t, s, "refuse")
	_, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	e := refused(t, err, 500, client.CodeRegistrationFailed)
	if e.JobID == "" || e.Refund == nil || e.Refund.Amount != comPrice.String() {
		t.Errorf("got %+v", e)
	}
	job, err := s.WaitJob(t.Context(), e.JobID)
	if refused(t, err, 200, client.CodeRegistrationFailed).Refund == nil || job.Status != "failed" {
		t.Errorf("got %+v", job)
	}
}

func TestUnknownJob(t *testing.T) {
	c := open(t, newWire(t))
	_, err := c.Job(t.Context(), "job_0")
	refused(t, err, 404, client.CodeNotFound)
	_, err = c.WaitJob(t.Context(), "job_0")
	refused(t, err, 404, client.CodeNotFound)
}

// scripted returns a client of a service that responds to each status request
// with the next script: the states of a job, as a stream or not.
func scripted(t *testing.T, scripts ...func(http.ResponseWriter)) *client.Client {
	t.Helper()
	return scriptedWith(t, nil, scripts...)
}

func scriptedWith(t *testing.T, opts []client.Option, scripts ...func(http.ResponseWriter)) *client.Client {
	t.Helper()
	next := make(chan func(http.ResponseWriter), len(scripts))
	for _, s := range scripts {
		next <- s
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { (<-next)(w) }))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const state = `{"id":"j","jobId":"j","status":%q,"steps":[],"poll_interval_ms":1,"updatedAt":"2026-01-02T03:04:0%dZ"}`

func stream(states ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, ": hello\n\n") // a client that is gone makes the test fail
		for i, s := range states {
			fmt.Fprintf(w, "event: job\nid: %d\ndata: "+state+"\n\n", i, s, len(s)%10)
		}
	}
}

func plain(s string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { fmt.Fprintf(w, state, s, len(s)%10) }
}

func broken(status int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(status) }
}

func TestWatchJob(t *testing.T) {
	for name, scripts := range map[string][]func(http.ResponseWriter){
		"stream":                 {stream("pending", "processing", "completed")},
		"polled":                 {plain("pending"), plain("pending"), plain("processing"), plain("completed")},
		"stream that ends":       {stream("pending"), stream("pending", "processing"), plain("completed")},
		"service away meanwhile": {plain("pending"), broken(502), plain("processing"), broken(503), stream("completed")},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for job, err := range scripted(t, scripts...).WatchJob(t.Context(), "j") {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, job.Status)
			}
			if fmt.Sprint(got) != "[pending processing completed]" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestWatchEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := scripted(t, plain("pending"))
	_, err := func() (job api.Job, err error) {
		for job, err = range c.WatchJob(ctx, "j") {
			cancel()
		}
		return job, err
	}()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
