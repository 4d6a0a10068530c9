package agent

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/api"
	"deed.example/deed/internal/wirejson"
)

const (
	maxWait      = 30          // seconds
	pollInterval = time.Second // of a job
)

// An Executor runs tools. Set every field.
type Executor struct {
	Caller Caller
	Now    func() time.Time

	// Pause sleeps for d; it returns early with an error if ctx is done.
	Pause func(ctx context.Context, d time.Duration) error

	// WaitSlots limits how many calls wait for a job at the same time: its capacity
	// is the limit. A call that finds no free slot returns without waiting.
	WaitSlots chan struct{}

	// Stopping reports whether this process is about to stop. Calls that wait for a job
	// then return its current state, and the agent asks another node.
	Stopping func() bool
}

// A Request is one call of a tool.
type Request struct {
	Arguments []byte // a JSON object
	Bearer    string // access token of the request; the argument access_token takes precedence
	Payment   Payment
	From      Origin
	Asks      bool   // the user can be asked before money is spent
	Agreed    string // the price in USDC that the user agreed to
}

// Do runs a tool. An error of the service and invalid arguments are an Answer; an
// error means that there is none.
func (e *Executor) Do(ctx context.Context, t Tool, r Request) (Answer, error) {
	args, rejected := t.read(r.Arguments)
	if rejected != nil {
		return *rejected, nil
	}
	wait, rejected := parseWait(args)
	if rejected != nil {
		return *rejected, nil
	}
	c, rejected := t.call(args)
	if rejected != nil {
		return *rejected, nil
	}
	c.Bearer, c.Payment, c.From, c.Asks, c.Agreed = r.Bearer, r.Payment, r.From, r.Asks, r.Agreed
	if token, ok := args.text(argToken); ok {
		c.Bearer = token
	}
	a, err := e.Caller.Call(ctx, c)
	if err != nil || !a.Done() {
		return t.forAgents(a), err // a Question is not done either
	}
	if t.finish != nil {
		return t.finish(args, e, a), nil
	}
	if t.Waits && wait > 0 {
		return e.wait(ctx, t, a, wait, r.From)
	}
	return a, nil
}

// parseWait reads how long the agent wants to wait for the job.
func parseWait(args arguments) (time.Duration, *Answer) {
	v := args[argWait]
	if v == nil {
		return 0, nil
	}
	var seconds int
	if err := json.Unmarshal(v, &seconds); err != nil || seconds < 0 || seconds > maxWait {
		rejected := refused(argWait, "is a number from 0 to %d", maxWait)
		return 0, &rejected
	}
	return time.Duration(seconds) * time.Second, nil
}

// wait polls the job that an answer names until the job has ended, the timeout has
// passed or this process stops. That does not cancel the order: wait then returns the
// last known state.
func (e *Executor) wait(ctx context.Context, t Tool, a Answer, timeout time.Duration, from Origin) (Answer, error) {
	var first struct {
		JobID  string `json:"jobId"`
		Status string `json:"status"`
	}
	if !a.Done() || json.Unmarshal(a.Body, &first) != nil || first.JobID == "" || ended(first.Status) || t.Paid && a.Status != http.StatusAccepted {
		return a, nil
	}
	select {
	case e.WaitSlots <- struct{}{}:
		defer func() { <-e.WaitSlots }()
	default:
		return a, nil
	}
	until := e.Now().Add(timeout)
	for e.Now().Before(until) && !e.Stopping() {
		if e.Pause(ctx, min(pollInterval, until.Sub(e.Now()))) != nil {
			break
		}
		polled, err := e.Caller.Call(ctx, Call{Method: "GET", Path: "/domains/status/" + first.JobID, From: from})
		var j job
		if err != nil || !polled.Done() || json.Unmarshal(polled.Body, &j) != nil {
			continue // a failed poll says nothing about the job
		}
		if !t.Paid {
			a = polled
		}
		if ended(j.Status) && t.Paid {
			return a.outcome(j)
		}
		if ended(j.Status) {
			break
		}
	}
	return a, nil
}

func ended(status string) bool { return status == "completed" || status == "failed" }

// A job is the part of a job that the Executor reads.
type job struct {
	Status  string         `json:"status"`
	Result  jsontext.Value `json:"result"`
	Payment api.Payment    `json:"payment"`
	failure
}

// A failure is the error body of a failed order.
type failure struct {
	Error   string         `json:"error"`
	Message string         `json:"message"`
	Code    string         `json:"code"`
	JobID   string         `json:"jobId"`
	Refund  jsontext.Value `json:"refund,omitempty"`
}

// outcome returns the answer that the order itself would have returned, had it
// completed in time. The payment receipt of a says that the payment was pending, if it
// was then.
func (a Answer) outcome(j job) (Answer, error) {
	a.Header = withReceipt(a.Header, j.Payment)
	a.Status, a.Body = http.StatusCreated, j.Result
	if j.Status != "failed" {
		return a, nil
	}
	raw, err := wirejson.Marshal(j.failure)
	if err != nil {
		return a, fmt.Errorf("encode the failure of %s: %w", j.JobID, err)
	}
	a.Status, a.Body = http.StatusInternalServerError, raw
	return a, nil
}
