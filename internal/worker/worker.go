// Package worker is an inbound adapter, like HTTP: here time calls. It wakes the services
// that advance our rows, for what no request waits for any more.
//
// It holds no truth and no deadline of its own: a row says when it should be
// looked at, and advancing it twice, on two nodes, does no harm. Each kind of
// rows has a loop and slots of its own, so that no kind waits for another. The
// rows are polled instead of being woken through a queue, because every advance
// is safe to repeat and an idle poll is one read of a small index a second;
// docs/payments.md says what speaks for a queue later.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deed.example/deed/internal/order"
)

const (
	pollInterval = 500 * time.Millisecond
	defaultSlots = 16               // rows advanced at the same time
	rowTimeout   = 15 * time.Second // for one of them
)

// Rows are advanced one by one.
type Rows struct {
	Name    string
	Due     func(ctx context.Context, limit int) ([]string, error)
	Advance func(ctx context.Context, id string) error
	Slots   int // advanced at the same time; 0 is 16
}

// A Task is done again and again.
type Task struct {
	Name     string
	Interval time.Duration
	Run      func(ctx context.Context) error
}

// Loop advances what is due. Fill every field but Waiting.
type Loop struct {
	Rows  []Rows
	Tasks []Task
	Log   *slog.Logger

	// Waiting is told why a row waits for the outside world.
	Waiting func(rows, cause string)

	causes causeLog
}

// Run goes on until ctx is done, and returns when nothing is under way.
func (l *Loop) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, rows := range l.Rows {
		wg.Go(func() { every(ctx, pollInterval, func() { l.poll(ctx, rows) }) })
	}
	for _, t := range l.Tasks {
		wg.Go(func() { every(ctx, t.Interval, func() { l.report(t.Name, "", t.Run(ctx)) }) })
	}
	wg.Wait()
}

func every(ctx context.Context, d time.Duration, f func()) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// poll advances all rows that are due now, some at a time.
func (l *Loop) poll(ctx context.Context, rows Rows) {
	slots := make(chan struct{}, rows.slots())
	ids, err := rows.Due(ctx, 4*cap(slots))
	if err != nil {
		l.report(rows.Name, "", err)
		return
	}
	var wg sync.WaitGroup
	for _, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			one, cancel := context.WithTimeout(ctx, rowTimeout)
			defer cancel()
			l.report(rows.Name, id, rows.Advance(one, id))
		})
	}
	wg.Wait()
}

func (r Rows) slots() int {
	if r.Slots == 0 {
		return defaultSlots
	}
	return r.Slots
}

// report logs an error. Of rows that wait for the outside world it says why, once
// a minute for each cause.
func (l *Loop) report(name, id string, err error) {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.Is(err, order.ErrPending):
		cause := order.WaitingFor(err)
		if l.Waiting != nil {
			l.Waiting(name, cause)
		}
		if n, now := l.causes.add(name, cause, time.Now()); now {
			l.Log.Warn("waiting", "rows", name, "id", id, "cause", cause, "times", n)
		}
	default:
		l.Log.Error("work failed", "rows", name, "id", id, "err", err)
	}
}
