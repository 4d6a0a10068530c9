package email

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
)

// oneMessage is a queue with one message, which remembers its result.
type oneMessage struct{ result *Attempt }

func (q *oneMessage) Due(context.Context, int) ([]string, error) { return []string{"0xaa"}, nil }

func (q *oneMessage) Take(context.Context, deed.Wallet, time.Time, int) (Outgoing, error) {
	return Outgoing{Request: Request{Subscription: Subscription{State: Pending}, Code: "123456"}, N: 7}, nil
}

func (q *oneMessage) Done(ctx context.Context, _ Outgoing, a Attempt) error {
	q.result = &a
	return ctx.Err()
}

// sendFunc is a mail server.
type sendFunc func(ctx context.Context) error

func (f sendFunc) Send(ctx context.Context, _ Message) error { return f(ctx) }

// A mail server that is too slow has failed. When the node stops, nothing is known of the
// mail server, except that it may have accepted the message.
func TestResultsThatAreStored(t *testing.T) {
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	accepts := func(context.Context) error { return nil }
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx          context.Context
		server       sendFunc
		stored, sent bool
	}{
		"too slow":              {late, hangs, true, false},
		"accepted too late":     {late, accepts, true, true},
		"stopped":               {stopped, hangs, false, false},
		"accepted when stopped": {stopped, accepts, true, true},
		"refused":               {t.Context(), func(context.Context) error { return ErrRefused }, true, false},
		"unusable":              {t.Context(), func(context.Context) error { return ErrServer }, true, false},
	} {
		queue := &oneMessage{}
		d := &Dispatcher{Queue: queue, Sender: c.server, Link: func(string) string { return "" }, Now: time.Now}
		err := d.Advance(c.ctx, "0xaa")
		if errors.Is(err, context.Canceled) == c.stored || errors.Is(err, ErrServer) != (name == "unusable") {
			t.Errorf("%s: got %v", name, err)
		}
		if (queue.result != nil) != c.stored {
			t.Errorf("%s: stored %+v, want a result: %t", name, queue.result, c.stored)
		} else if c.stored && (queue.result.Failure == "") != c.sent {
			t.Errorf("%s: stored %+v, want that it was sent: %t", name, queue.result, c.sent)
		}
	}
}
