// Package worker is an inbound adapter, like HTTP, driven by time: it calls the
// services that advance database rows no request is waiting for any more.
//
// It keeps no state and no deadlines: a row says when it is due, and advancing it
// twice, on two nodes, does no harm. Each kind of row has its own loop and slots,
// so that no kind waits for another. Rows are polled, not queued, because every
// advance is safe to repeat and an idle poll is one read of a small index;
// docs/payments.md says when a queue would be better.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"deed.example/deed/internal/order"
)

const (
	pollInterval = 500 * time.Millisecond
	defaultSlots = 16               // rows advanced concurrently
	rowTimeout   = 15 * time.Second // to advance one row, by default
)

// Rows is a kind of row that the worker advances.
type Rows struct {
	Name    string
	Due     func(ctx context.Context, limit int) ([]string, error)
	Advance func(ctx context.Context, id string) error
	Slots   int           // rows advanced concurrently; 0 means 16
	Timeout time.Duration // to advance one row; 0 means 15 s
	Paced   bool          // nobody waits for them: only one batch is advanced at a time
}

// A Task runs periodically.
type Task struct {
	Name     string
	Interval time.Duration
	Run      func(ctx context.Context) error
}

// Loop advances due rows and runs tasks. Waiting, Due and Failed may be nil.
type Loop struct {
	Rows  []Rows
	Tasks []Task
	Log   *slog.Logger // gets a line for each row, so it should limit them, as logcause does

	// Waiting is called with the cause when a row waits for an external system.
	Waiting func(rows, cause string)

	// Due is called with how many rows a poll found, and Failed for each row and task
	// that failed.
	Due    func(rows string, n int)
	Failed func(rows string)

	// Trace is called before a row is advanced, and end with the outcome. It may be nil.
	Trace func(ctx context.Context, rows, id string) (traced context.Context, end func(error))
}

// Run runs until ctx is done, and returns when all work has ended.
func (l *Loop) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, rows := range l.Rows {
		wg.Go(func() { every(ctx, pollInterval, func() { l.poll(ctx, rows) }) })
	}
	for _, t := range l.Tasks {
		wg.Go(func() {
			every(ctx, t.Interval, func() { l.report(t.Name, "", guard(func() error { return t.Run(ctx) })) })
		})
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

// poll advances the rows that are due now. While there are more than one query
// returns, it goes on at once, unless some row is returned again: then nothing is
// gained by haste.
func (l *Loop) poll(ctx context.Context, rows Rows) {
	limit := 4 * rows.slots()
	for last := []string(nil); ctx.Err() == nil; {
		var ids []string
		err := guard(func() (err error) {
			ids, err = rows.Due(ctx, limit)
			return err
		})
		if err != nil {
			l.report(rows.Name, "", err)
			return
		}
		if l.Due != nil {
			l.Due(rows.Name, len(ids))
		}
		// Other nodes may have read the same rows, if they are late, so each has its own order.
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		l.advance(ctx, rows, ids)
		if rows.Paced || len(ids) < limit || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(last, id) }) {
			return
		}
		last = ids
	}
}

// advance advances rows, as many at a time as there are slots.
func (l *Loop) advance(ctx context.Context, rows Rows, ids []string) {
	slots := make(chan struct{}, rows.slots())
	var wg sync.WaitGroup
	for _, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			one, cancel := context.WithTimeout(ctx, cmp.Or(rows.Timeout, rowTimeout))
			defer cancel()
			l.report(rows.Name, id, l.traced(one, rows, id))
		})
	}
	wg.Wait()
}

// traced advances one row. One that waits for another system has not failed.
func (l *Loop) traced(ctx context.Context, rows Rows, id string) (err error) {
	if l.Trace != nil {
		traced, end := l.Trace(ctx, rows.Name, id)
		defer func() {
			if errors.Is(err, order.ErrPending) {
				end(nil)
			} else {
				end(err)
			}
		}()
		ctx = traced
	}
	return guard(func() error { return rows.Advance(ctx, id) })
}

// guard calls f, and returns its panic as an error. The row stays due, so without this one
// row would end every node, again and again.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

func (r Rows) slots() int {
	if r.Slots == 0 {
		return defaultSlots
	}
	return r.Slots
}

// report logs an error, and counts what waits for an external system and what failed.
func (l *Loop) report(name, id string, err error) {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.Is(err, order.ErrPending):
		cause := order.WaitingFor(err)
		if l.Waiting != nil {
			l.Waiting(name, cause)
		}
		l.Log.Warn("waiting", "rows", name, "id", id, "cause", cause)
	default:
		if l.Failed != nil {
			l.Failed(name)
		}
		l.Log.Error("work failed", "rows", name, "id", id, "err", err)
	}
}
