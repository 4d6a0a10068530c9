package agent

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed/internal/wirejson"
)

const (
	maxWait   = 30          // seconds
	pollEvery = time.Second // between two looks at a job
)

// A Desk carries out tools. Fill every field.
type Desk struct {
	Caller Caller
	Now    func() time.Time

	// Pause waits, unless ctx ends first.
	Pause func(ctx context.Context, d time.Duration) error

	// Seats has room for as many as may wait for a job at once. Who finds none
	// free is answered at once.
	Seats chan struct{}
}

// A Request is one use of a tool.
type Request struct {
	Arguments []byte // a JSON object
	Bearer    string // access token that came with the request; an argument wins
	Payment   Payment
	From      Origin
}

// Do carries out a tool. What the service or the desk refuses is an answer; an
// error means that there is none.
func (d *Desk) Do(ctx context.Context, t Tool, r Request) (Answer, error) {
	args, no := t.read(r.Arguments)
	if no != nil {
		return *no, nil
	}
	wait, no := patience(args)
	if no != nil {
		return *no, nil
	}
	c, no := t.call(args)
	if no != nil {
		return *no, nil
	}
	c.Bearer, c.Payment, c.From = r.Bearer, r.Payment, r.From
	if token, ok := args.text(argToken); ok {
		c.Bearer = token
	}
	a, err := d.Caller.Call(ctx, c)
	if err != nil || !a.Done() {
		return t.reword(a), err
	}
	if t.finish != nil {
		return t.finish(args, d, a), nil
	}
	if t.Waits && wait > 0 {
		return d.wait(ctx, t, a, wait, r.From)
	}
	return a, nil
}

// patience reads how long the agent wants to wait.
func patience(args arguments) (time.Duration, *Answer) {
	v := args[argWait]
	if v == nil {
		return 0, nil
	}
	var seconds int
	if err := json.Unmarshal(v, &seconds); err != nil || seconds < 0 || seconds > maxWait {
		no := refused(argWait, "is a number from 0 to %d", maxWait)
		return 0, &no
	}
	return time.Duration(seconds) * time.Second, nil
}

// wait looks at the job behind an answer until it has ended or time is up. What
// was paid for is not undone by our giving up, so then the last we know is told.
func (d *Desk) wait(ctx context.Context, t Tool, a Answer, long time.Duration, from Origin) (Answer, error) {
	var first struct {
		JobID  string `json:"jobId"`
		Status string `json:"status"`
	}
	if !a.Done() || json.Unmarshal(a.Body, &first) != nil || first.JobID == "" || ended(first.Status) || t.Paid && a.Status != http.StatusAccepted {
		return a, nil
	}
	select {
	case d.Seats <- struct{}{}:
		defer func() { <-d.Seats }()
	default:
		return a, nil
	}
	until := d.Now().Add(long)
	for d.Now().Before(until) {
		if d.Pause(ctx, min(pollEvery, until.Sub(d.Now()))) != nil {
			break
		}
		look, err := d.Caller.Call(ctx, Call{Method: "GET", Path: "/domains/status/" + first.JobID, From: from})
		var j job
		if err != nil || !look.Done() || json.Unmarshal(look.Body, &j) != nil {
			continue // a look that failed says nothing of the job
		}
		if !t.Paid {
			a = look
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

// A job is what the desk reads of one.
type job struct {
	Status string         `json:"status"`
	Result jsontext.Value `json:"result"`
	failure
}

// A failure is how an order that came to nothing is told.
type failure struct {
	Error   string         `json:"error"`
	Message string         `json:"message"`
	Code    string         `json:"code"`
	JobID   string         `json:"jobId"`
	Refund  jsontext.Value `json:"refund,omitempty"`
}

// outcome is the answer that an order would have given, had its own request
// waited as long. The receipt of the payment stays with it.
func (a Answer) outcome(j job) (Answer, error) {
	a.Status, a.Body = http.StatusCreated, j.Result
	if j.Status != "failed" {
		return a, nil
	}
	raw, err := wirejson.Marshal(j.failure)
	if err != nil {
		return a, fmt.Errorf("tell the failure of %s: %w", j.JobID, err)
	}
	a.Status, a.Body = http.StatusInternalServerError, raw
	return a, nil
}
