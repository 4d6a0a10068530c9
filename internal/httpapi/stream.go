package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/ratelimit"
)

const (
	streamPollInterval  = 300 * time.Millisecond // between two looks at a job
	streamHeartbeat     = 15 * time.Second       // between two signs of life
	maxStreamDuration   = 10 * time.Minute       // then the caller asks again
	maxStreams          = 512                    // at once, in this process
	maxStreamsPerClient = 32                     // of those, for one address
)

// errStreams is returned while too many streams are open.
var errStreams = &deed.Error{Code: deed.CodeUnavailable, Message: "too many streams are open at this moment: poll instead, without Accept: text/event-stream", Retry: 2 * time.Second}

// wantsEvents reports whether the client prefers events to JSON. Who takes both alike gets
// JSON, as from every other call.
func wantsEvents(r *http.Request) bool {
	return acceptWeight(r, "text/event-stream") > acceptWeight(r, "application/json")
}

// streamJob sends the job as an event whenever it has changed, until it is final
// (HTML standard, server-sent events). An EventSource connects again when a stream ends;
// 204 tells one that has seen the last event not to.
func (s *Server) streamJob(w http.ResponseWriter, r *http.Request, j api.Job) error {
	if ended(j) && r.Header.Get("Last-Event-ID") == eventID(j) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return s.stream(w, r, func(ctx context.Context, send func(text string) error) { s.sendEvents(ctx, j, send) })
}

// stream opens a stream of server-sent events, which f sends until ctx is done or
// sending fails, which means that the client is gone.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, f func(ctx context.Context, send func(text string) error)) error {
	caller := ratelimit.AddressKey(clientAddr(r, s.Trusted))
	if !s.activeStreams.acquire(caller, maxStreamsPerClient) {
		return errStreams
	}
	defer s.activeStreams.release(caller)
	defer s.streamCount.Add(-1)
	if s.streamCount.Add(1) > maxStreams {
		return errStreams
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer events
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxStreamDuration)
	defer cancel()
	send := func(text string) error {
		_ = control.SetWriteDeadline(time.Now().Add(streamHeartbeat)) // drops a client that does not read
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return control.Flush()
	}
	if send("") == nil { // the headers, so that the client does not wait for the first event
		f(ctx, send)
	}
	_ = control.SetWriteDeadline(time.Now().Add(streamHeartbeat)) // net/http has yet to write the end
	return nil
}

// sendEvents sends the job and its changes. It returns when sending fails, which
// means that the client is gone.
func (s *Server) sendEvents(ctx context.Context, j api.Job, send func(text string) error) {
	tick := time.NewTicker(streamPollInterval)
	defer tick.Stop()
	lastSent := time.Now()
	for next, first := j, true; ; first = false {
		if first || !reflect.DeepEqual(next, j) {
			j, lastSent = next, time.Now()
			if send(fmt.Sprintf("event: job\nid: %s\ndata: %s\n", eventID(j), encode(j))) != nil || ended(j) {
				return
			}
		} else if time.Since(lastSent) > streamHeartbeat {
			if lastSent = time.Now(); send(": still there\n\n") != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.draining.Load() {
			return // the client reconnects, to another node
		}
		if read, err := s.readJob(ctx, j.ID); err == nil {
			next = read
		}
	}
}

// eventID returns the id of the event with a job.
func eventID(j api.Job) string {
	if ended(j) {
		return j.ID + "-end"
	}
	return fmt.Sprintf("%s-%d", j.ID, len(j.Steps))
}

// ended reports whether the job will not change any more.
func ended(j api.Job) bool {
	return j.Completed || j.Status == "failed" && (j.Refund == nil || j.Refund.Status == "confirmed")
}
