// Package work is a way in, like HTTP: here time calls. It wakes the use cases
// that advance our rows, for what no request waits for any more.
//
// It holds no truth and no deadline of its own: a row says when it should be
// looked at, and advancing it twice, on two nodes, does no harm. The rows are
// polled instead of being woken through a queue, because every advance is safe
// to repeat and an idle poll is one read of a small index a second; docs/payments.md
// says what speaks for a queue later.
package work

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deed.example/deed"
)

const (
	pollEvery = 500 * time.Millisecond
	slowPace  = 5 * time.Second
	atOnce    = 16               // rows advanced at the same time
	oneRow    = 15 * time.Second // for one of them
)

// Rows are advanced one by one.
type Rows struct {
	Name    string
	Due     func(ctx context.Context, most int) ([]string, error)
	Advance func(ctx context.Context, id string) error
}

// Loop advances what is due. Fill every field.
type Loop struct {
	Rows  []Rows
	Every []func(ctx context.Context) error // called every few seconds
	Log   *slog.Logger
}

// Run goes on until ctx is done, and returns when nothing is under way.
func (l *Loop) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, rows := range l.Rows {
		wg.Go(func() { every(ctx, pollEvery, func() { l.poll(ctx, rows) }) })
	}
	for _, f := range l.Every {
		wg.Go(func() { every(ctx, slowPace, func() { l.tell("every few seconds", "", f(ctx)) }) })
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
	ids, err := rows.Due(ctx, 4*atOnce)
	if err != nil {
		l.tell(rows.Name, "", err)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			one, cancel := context.WithTimeout(ctx, oneRow)
			defer cancel()
			l.tell(rows.Name, id, rows.Advance(one, id))
		})
	}
	wg.Wait()
}

// tell logs an error that is not just "not yet".
func (l *Loop) tell(name, id string, err error) {
	if err == nil || errors.Is(err, deed.ErrPending) || errors.Is(err, context.Canceled) {
		return
	}
	l.Log.Error("work failed", "rows", name, "id", id, "err", err)
}
