package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// Job returns the state of an order.
func (c *Client) Job(ctx context.Context, id string) (api.Job, error) {
	return call[api.Job](ctx, c, request{method: "GET", path: path("domains", "status", id)}, nil)
}

// WaitJob waits until a job has ended. A failed job is returned with an Error.
func (c *Client) WaitJob(ctx context.Context, id string) (api.Job, error) {
	var last api.Job
	for job, err := range c.WatchJob(ctx, id) {
		if err != nil {
			return last, err
		}
		last = job
	}
	return last, JobError(last)
}

// JobError returns the error of a failed job, or nil.
func JobError(j api.Job) error {
	if j.Status != "failed" {
		return nil
	}
	return &Error{Status: http.StatusOK, Code: j.Code, Title: j.Error, Message: j.Message, JobID: j.JobID, Refund: j.Refund}
}

// WatchJob yields a job now and whenever it changes, until it has ended. It uses
// the event stream if the service offers one, and polls otherwise. It retries
// until the context is done if the service does not respond.
func (c *Client) WatchJob(ctx context.Context, id string) iter.Seq2[api.Job, error] {
	return func(yield func(api.Job, error) bool) {
		w := watch{yield: yield}
		for wait := firstPause; ; {
			err := c.poll(ctx, id, &w)
			if w.over {
				return
			}
			e, said := errors.AsType[*Error](err)
			switch {
			case err == nil:
				wait = firstPause
			case said && !lost(e) || ctx.Err() != nil:
				yield(w.last, err)
				return
			default:
				w.plain, wait = true, min(2*wait, maxPause) // the service may not support streams
			}
			if err := pause(ctx, max(wait, w.interval())); err != nil {
				yield(w.last, err)
				return
			}
		}
	}
}

// watch is the state of WatchJob.
type watch struct {
	yield func(api.Job, error) bool
	last  api.Job
	seen  bool
	over  bool // the job or the caller is done
	plain bool // poll, do not ask for a stream
}

// emit yields a job if it differs from the last one.
func (w *watch) emit(j api.Job) {
	changed := !w.seen || !j.UpdatedAt.Equal(w.last.UpdatedAt) || j.Status != w.last.Status || len(j.Steps) != len(w.last.Steps)
	w.last, w.seen = j, true
	if changed && !w.yield(j, nil) {
		w.over = true
	}
	if j.Status == "completed" || j.Status == "failed" {
		w.over = true
	}
}

// interval returns the poll interval that the service asks for.
func (w *watch) interval() time.Duration {
	return time.Duration(w.last.PollInterval) * time.Millisecond
}

// streamTimeout is how long a stream may be silent. The service sends a comment
// every 15 seconds.
const streamTimeout = time.Minute

// poll makes one request, and reads the stream to its end if there is one.
func (c *Client) poll(ctx context.Context, id string, w *watch) error {
	r := request{method: "GET", path: path("domains", "status", id), accept: "text/event-stream, application/json;q=0.9"}
	if w.plain {
		r.accept = ""
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alarm := time.AfterFunc(streamTimeout, cancel)
	defer alarm.Stop()
	res, err := c.open(ctx, r, "", "")
	if err != nil {
		return err
	}
	defer res.Body.Close() // it has been read, or the rest is not needed
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		return follow(res.Body, w, func() { alarm.Reset(streamTimeout) })
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	a := answer{res.StatusCode, res.Header, body}
	if err := a.err(); err != nil {
		return err
	}
	job, err := read[api.Job](a)
	if err == nil {
		w.emit(job)
	}
	return err
}

// follow reads an event stream whose events are jobs. It calls alive for every
// line.
func follow(body io.Reader, w *watch, alive func()) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxAnswer)
	data := ""
	for lines.Scan() {
		alive()
		if text, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			data += strings.TrimPrefix(text, " ") + "\n"
			continue
		}
		if lines.Text() != "" || data == "" {
			continue // an empty line ends an event; other lines are ignored
		}
		var job api.Job
		if err := json.Unmarshal([]byte(data), &job); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		data = ""
		if w.emit(job); w.over {
			return nil
		}
	}
	return lines.Err()
}
