package opusdns

import (
	"context"
	"testing"
	"time"
)

// A lane may send what it is allowed in a second at once, and then waits. The other
// lane does not wait behind it.
func TestPace(t *testing.T) {
	p := newPace(2) // one request per second for each lane
	start := time.Now()
	for i := range 20 {
		at, err := p.reserve(t.Context(), readLane)
		if err != nil {
			t.Fatal(err)
		}
		if least := start.Add(time.Duration(i-1) * time.Second); at.Before(least) {
			t.Errorf("request %d is sent after %s, want %s at least", i, at.Sub(start), least.Sub(start))
		}
	}
	if at, err := p.reserve(t.Context(), orderLane); err != nil || at.After(time.Now()) {
		t.Errorf("an order waits until %s, %v, want no wait", at, err)
	}
}

// A request that would wait for longer than its caller fails at once, and takes no
// place.
func TestPaceDeadline(t *testing.T) {
	p := newPace(2)
	p.pause(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 100 {
		if err := p.wait(ctx, orderLane); err == nil {
			t.Fatal("the request did not wait")
		}
	}
	if err := p.wait(t.Context(), orderLane); err == nil {
		t.Error("a request without a deadline did not wait")
	}
	canceled, stop := context.WithCancel(t.Context())
	stop()
	if err := newPace(2).wait(canceled, orderLane); err == nil {
		t.Error("a request of a caller that has left was sent")
	}
}

// The vendor cannot stop us for longer than the limit.
func TestPause(t *testing.T) {
	p := newPace(1000)
	least := time.Now().Add(time.Second)
	p.pause(time.Second)
	if at, err := p.reserve(t.Context(), readLane); err != nil || at.Before(least) {
		t.Errorf("the next request is sent at %s, %v, want %s at least", at, err, least)
	}
	p.pause(1000 * time.Hour)
	if got := time.Until(p.paused); got > maxPause {
		t.Errorf("got %s, want %s at most", got, maxPause)
	}
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": 0, "-5": 0, "": time.Second, "soon": time.Second, "99999999999999999999": time.Second, "999999": maxPause,
	} {
		if got := retryAfter(header); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
}
