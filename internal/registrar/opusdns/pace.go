package opusdns

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A lane is a share of the allowed requests. Orders have a lane of their own, so that
// they never wait behind searches and lists.
type lane int

const (
	orderLane lane = iota // orders, their lookups, and changes of names
	readLane              // searches, lists, prices, messages
	laneCount
)

// maxWait bounds how long a request waits for its turn.
const maxWait = 30 * time.Second

// maxPause bounds how long the vendor can make us wait with Retry-After.
const maxPause = 5 * time.Minute

// A pace limits the rate of requests. It is the generic cell rate algorithm: a lane
// that was idle may send a few requests at once.
type pace struct {
	interval time.Duration // between two requests of one lane
	burst    time.Duration // how far a lane may be ahead

	mu     sync.Mutex
	due    [laneCount]time.Time // when the next request of the lane is due; guarded by mu
	paused time.Time            // no request before this time; guarded by mu
}

func newPace(perSecond int) *pace {
	interval := time.Second * time.Duration(laneCount) / time.Duration(perSecond)
	return &pace{interval: interval, burst: time.Second}
}

// wait waits until a request may be sent. It fails without waiting when that would
// take longer than ctx allows.
func (p *pace) wait(ctx context.Context, l lane) error {
	at, err := p.reserve(ctx, l)
	if err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve returns the time of the next request of the lane, and takes it.
func (p *pace) reserve(ctx context.Context, l lane) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	due := later(p.due[l], now)
	at := later(later(due.Add(-p.burst), p.paused), now)
	limit := now.Add(maxWait)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(limit) {
		limit = deadline
	}
	if at.After(limit) {
		return at, fmt.Errorf("too many requests: the next is due in %s", at.Sub(now).Round(time.Second))
	}
	p.due[l] = due.Add(p.interval)
	return at, nil
}

// pause stops all requests for this long.
func (p *pace) pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = later(p.paused, time.Now().Add(min(max(d, 0), maxPause)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
