// Package logcause limits a log to one line for each cause and minute: a database
// whose disk is full makes every loop and every request fail, and would fill the disk
// of the log, too.
//
// A cause is the error at the root of what is logged, without what differs from one
// attempt to the next. Lines of the worker about different kinds of rows are different
// causes: each says what is delayed. Repeated lines are counted, and the next line of
// the cause says how many there were; at the level debug they are all there. Lines
// without an error are never left out.
package logcause

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"sync"
	"time"
)

const (
	interval  = time.Minute
	maxCauses = 200 // remembered at once: error texts are unbounded
	maxText   = 300 // bytes of an error text that distinguish causes
)

// A Handler passes lines on to another one. Make it with New.
type Handler struct {
	next  slog.Handler
	state *state // of all handlers that were derived from one
}

type state struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]*count // guarded by mu
}

type count struct {
	since time.Time
	times int // since then
}

// New returns a handler that passes lines on to next.
func New(next slog.Handler, now func() time.Time) *Handler {
	return &Handler{next: next, state: &state{now: now, seen: map[string]*count{}}}
}

// CallerIsGone reports whether a request with this context failed because its caller is
// gone, which is no error of the service and needs no line.
func CallerIsGone(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{next: h.next.WithAttrs(attrs), state: h.state}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name), state: h.state}
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	cause, rows := causeOf(r)
	if r.Level < slog.LevelWarn || cause == "" {
		return h.next.Handle(ctx, r)
	}
	times, log := h.state.add(r.Message + "\x00" + rows + "\x00" + cause)
	switch {
	case log && times > 1:
		r = r.Clone()
		r.AddAttrs(slog.Int("times", times))
	case !log && h.next.Enabled(ctx, slog.LevelDebug):
		r = r.Clone()
		r.Level = slog.LevelDebug
	case !log:
		return nil
	}
	return h.next.Handle(ctx, r)
}

// add counts a cause. It reports whether to log it now, and how often it has occurred
// since it was last logged.
func (s *state) add(cause string) (times int, log bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	n := s.seen[cause]
	if n == nil {
		if len(s.seen) >= maxCauses {
			clear(s.seen)
		}
		s.seen[cause] = &count{since: now}
		return 1, true
	}
	n.times++
	if age := now.Sub(n.since); age >= 0 && age < interval {
		return n.times, false
	}
	times, n.times, n.since = n.times, 0, now
	return times, true
}

// causeOf returns the cause that a line names and the kind of rows that it is about;
// each may be "".
func causeOf(r slog.Record) (cause, rows string) {
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "rows":
			rows = a.Value.String()
		case "err", "error", "cause", "panic":
			if err, ok := a.Value.Any().(error); ok {
				cause = Of(err)
			} else {
				cause = normalize(a.Value.String())
			}
		}
		return true
	})
	return cause, rows
}

// Of returns the cause of an error: the text of the error at its root, without
// numbers and ids.
func Of(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		return op.Op + " " + op.Addr.String() + " " + normalize(root(op).Error())
	}
	switch r := root(err); r {
	case context.DeadlineExceeded, context.Canceled:
		return normalize(err.Error()) // the root alone does not say of what
	default:
		return normalize(r.Error())
	}
}

// root returns the error that all others in the chain wrap, up to one that wraps
// several.
func root(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}

// variable matches what differs between two errors of one cause.
var variable = regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8,}\b|\b[A-Z2-7]{12,}\b|[0-9]+`)

func normalize(text string) string {
	return variable.ReplaceAllString(text[:min(len(text), maxText)], "…")
}
