package webhook

import (
	"net/http"
	"time"
)

// A Failure says why an attempt failed. Owners see it, so the set is closed: no text of
// a receiver or resolver is passed on.
type Failure string

// The failures.
const (
	FailureTimeout    Failure = "timeout"
	FailureConnection Failure = "connection failed"
	FailureAddress    Failure = "address not allowed" // it is not on the public internet
	FailureTLS        Failure = "TLS failed"
	FailureStatus     Failure = "status" // it answered, but not with 2xx
	FailureSecret     Failure = "cannot sign: rotate the secret"
)

// An Outcome is the result of an attempt.
type Outcome struct {
	Status  int     // 0 if there was no answer
	Failure Failure // "" if the message was delivered
}

// OutcomeOf returns the outcome of a response. Redirects are not followed, so they are
// failures like every status other than 2xx.
func OutcomeOf(status int) Outcome {
	if status >= 200 && status < 300 {
		return Outcome{Status: status}
	}
	return Outcome{Status: status, Failure: FailureStatus}
}

// Gone reports whether the receiver wants no more messages.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

// delays are the pauses after each failed attempt of a delivery; the last one
// repeats.
var delays = []time.Duration{
	5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
}

// After returns the delivery after an attempt.
func (d Delivery) After(o Outcome, at time.Time) Delivery {
	d.Attempts++
	d.LastTry, d.Status, d.LastFailure = at, o.Status, o.Failure
	if d.FirstTry.IsZero() {
		d.FirstTry = at
	}
	last := d.FirstTry.Add(giveUpAfter)
	switch {
	case o.Failure == "":
		d.State, d.NextTry = Delivered, time.Time{}
	case !at.Before(last):
		d.State, d.NextTry = Failed, time.Time{}
	default:
		d.NextTry = at.Add(delays[min(d.Attempts, len(delays))-1])
		if d.NextTry.After(last) {
			d.NextTry = last
		}
	}
	return d
}

// TurnsOff reports whether the outcome of an attempt turns off a webhook that has
// failed since a time.
func TurnsOff(o Outcome, failingSince, at time.Time) bool {
	return o.Failure != "" && (o.Gone() || at.Sub(failingSince) >= giveUpAfter)
}

// maxHostDelay is the longest pause of a host that does not answer.
const maxHostDelay = time.Hour

// HostDelay returns the pause of a host after consecutive turns without an answer.
func HostDelay(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	return min(5*time.Second<<min(failures-1, 10), maxHostDelay)
}
