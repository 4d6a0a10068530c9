package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
)

const (
	streamEvery = 300 * time.Millisecond // between two looks at a job
	streamBeat  = 15 * time.Second       // between two signs of life
	streamFor   = 10 * time.Minute       // then the caller asks again
	maxStreams  = 512                    // at once, in this process
	maxWatches  = 32                     // of those, for one address
)

// errStreams is for a caller who comes while too many watch.
var errStreams = &deed.Error{Code: deed.CodeUnavailable, Message: "too many callers watch jobs at this moment: poll this job instead, without Accept: text/event-stream", Retry: 2 * time.Second}

func wantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// streamJob writes the job down as an event whenever it has changed, until it is
// at its end (HTML standard, server-sent events).
func (s *Server) streamJob(w http.ResponseWriter, r *http.Request, j api.Job) error {
	caller := clientKey(clientAddr(r, s.Trusted))
	if !s.watching.enter(caller, maxWatches) {
		return errStreams
	}
	defer s.watching.leave(caller)
	defer s.streams.Add(-1)
	if s.streams.Add(1) > maxStreams {
		return errStreams
	}
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Time{}); err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not keep events back
	w.WriteHeader(http.StatusOK)
	ctx, cancel := context.WithTimeout(r.Context(), streamFor)
	defer cancel()
	s.sendEvents(ctx, j, func(text string) error {
		_ = control.SetWriteDeadline(time.Now().Add(streamBeat)) // a reader who stands still is let go
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return control.Flush()
	})
	return nil
}

// sendEvents sends the job and all that becomes of it. The caller is gone when
// sending fails.
func (s *Server) sendEvents(ctx context.Context, j api.Job, send func(text string) error) {
	tick := time.NewTicker(streamEvery)
	defer tick.Stop()
	told := time.Now()
	for next, first := j, true; ; first = false {
		if first || !reflect.DeepEqual(next, j) {
			j, told = next, time.Now()
			if send(fmt.Sprintf("event: job\nid: %s-%d\ndata: %s\n", j.ID, len(j.Steps), encode(j))) != nil || ended(j) {
				return
			}
		} else if time.Since(told) > streamBeat {
			if told = time.Now(); send(": still there\n\n") != nil {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.draining.Load() {
			return // the caller comes back, to another node
		}
		if read, err := s.readJob(ctx, j.ID); err == nil {
			next = read
		}
	}
}

// ended says whether nothing more will happen to the job.
func ended(j api.Job) bool {
	return j.Completed || j.Status == "failed" && (j.Refund == nil || j.Refund.Status == "confirmed")
}
