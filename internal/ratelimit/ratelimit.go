// Package ratelimit limits the calls of each caller with fixed windows.
//
// Short windows are counted in the shared cache, for all nodes together. When the
// cache does not answer, this process counts by itself, so that a cache outage is not
// an error for callers. The daily window is counted in the database, so that a
// restart does not reset it; without the database the calls it limits could not be
// served anyway. A caller over that limit is refused for a few seconds without asking the
// database.
package ratelimit

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"deed.example/deed"
)

// A Decision is the result for one call. It is sent with every response to a limited
// call, allowed or not.
type Decision struct {
	Limit     deed.Limit
	Remaining int
	Reset     time.Time
}

// Limiter applies limits. Fill every field; Shared and Local may be the same.
type Limiter struct {
	Shared       deed.Counter // for all nodes
	Local        deed.Counter // for this process, when Shared does not answer
	Durable      deed.Counter // for limits that survive a restart
	Now          func() time.Time
	OnCacheError func(error) // called each time Shared did not answer

	resets  atomic.Int64 // part of the keys of short windows
	refused refused      // by the durable counter
}

// A Resetter is a counter whose counts can be deleted.
type Resetter interface {
	Reset(ctx context.Context) error
}

// Reset gives every caller a fresh window, in the windows of all limits. It is for
// sandboxes: the short windows of this process only start anew.
func (l *Limiter) Reset(ctx context.Context) error {
	if r, ok := l.Durable.(Resetter); ok {
		if err := r.Reset(ctx); err != nil {
			return fmt.Errorf("reset the limits: %w", err)
		}
	}
	l.resets.Add(1)
	l.refused.clear()
	return nil
}

// Spend counts one call by caller. When the caller is over the limit it fails
// with CodeRateLimited; the decision is valid in both cases, and nil when the
// count is not known.
func (l *Limiter) Spend(ctx context.Context, lim deed.Limit, caller string) (*Decision, error) {
	d, n, err := l.count(ctx, lim, caller, deed.Counter.Count)
	if err != nil || n <= lim.Max {
		return d, err
	}
	reset := d.Reset
	wait := max(time.Second, reset.Sub(l.Now()))
	wait = (wait + time.Second - 1).Truncate(time.Second) // rounded up, so that a retry after it is allowed
	return d, &deed.Error{
		Code:    deed.CodeRateLimited,
		Message: fmt.Sprintf("%d calls are allowed in %s: wait %d seconds, until %s", lim.Max, lim.Period(), int(wait.Seconds()), reset.UTC().Format("15:04:05 UTC")),
		Retry:   wait,
	}
}

// Peek returns the decision without counting a call.
func (l *Limiter) Peek(ctx context.Context, lim deed.Limit, caller string) (*Decision, error) {
	d, _, err := l.count(ctx, lim, caller, deed.Counter.Peek)
	return d, err
}

// counterFunc is Count or Peek.
type counterFunc func(c deed.Counter, ctx context.Context, key string, window time.Duration) (int, time.Time, error)

func (l *Limiter) count(ctx context.Context, lim deed.Limit, caller string, q counterFunc) (*Decision, int, error) {
	counter, key := l.Shared, lim.Name+":"+caller
	if lim.Durable {
		if reset, found := l.refused.find(key, l.Now()); found {
			return &Decision{Limit: lim, Reset: reset}, lim.Max + 1, nil
		}
		counter = l.Durable
	} else if n := l.resets.Load(); n > 0 {
		key += "#" + strconv.FormatInt(n, 10)
	}
	n, reset, err := q(counter, ctx, key, lim.Window)
	if err != nil && !lim.Durable {
		l.OnCacheError(err)
		n, reset, err = q(l.Local, ctx, key, lim.Window)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("count %s: %w", lim.Name, err)
	}
	if lim.Durable && n > lim.Max {
		l.refused.add(key, reset, l.Now())
	}
	return &Decision{Limit: lim, Remaining: max(0, lim.Max-n), Reset: reset}, n, nil
}
