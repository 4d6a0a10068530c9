package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
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
// until the context is done if the service does not respond (WithRetryNotice).
func (c *Client) WatchJob(ctx context.Context, id string) iter.Seq2[api.Job, error] {
	return func(yield func(api.Job, error) bool) {
		w := jobWatch{yield: yield}
		err := c.follow(ctx, watch{
			request: func() request { return request{method: "GET", path: path("domains", "status", id)} },
			event:   w.read,
			answer:  func(a answer) error { return w.read(a.body) },
			over:    func() bool { return w.over },
			pause: func(bool) time.Duration {
				return min(time.Duration(w.last.PollInterval)*time.Millisecond, maxRetryAfter)
			},
		})
		if err != nil {
			yield(w.last, err)
		}
	}
}

// jobWatch is the state of WatchJob.
type jobWatch struct {
	yield func(api.Job, error) bool
	last  api.Job
	seen  bool
	over  bool // the job or the caller is done
}

// read yields a job if it differs from the last one.
func (w *jobWatch) read(raw []byte) error {
	var j api.Job
	if err := json.Unmarshal(raw, &j); err != nil {
		return fmt.Errorf("read a job: %w", err)
	}
	changed := !w.seen || !j.UpdatedAt.Equal(w.last.UpdatedAt) || j.Status != w.last.Status || len(j.Steps) != len(w.last.Steps)
	w.last, w.seen = j, true
	if changed && !w.yield(j, nil) {
		w.over = true
	}
	if j.Status == "completed" || j.Status == "failed" {
		w.over = true
	}
	return nil
}
