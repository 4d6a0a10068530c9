package registration_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registration"
)

// A queue calls next for a message.
type queue struct {
	registrar.Registrar
	next func(ctx context.Context) (more bool, err error)
}

func (q queue) NextMessage(ctx context.Context, _ func(context.Context, registrar.Message) error) (bool, error) {
	return q.next(ctx)
}

// A registry that does not respond does not keep the messages of others from being read.
func TestMessagesAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }
	read := false
	last := func(ctx context.Context) (bool, error) {
		defer cancel()
		read = ctx.Err() == nil
		return false, nil
	}
	m := registration.Messages{Log: slog.New(slog.DiscardHandler), Backends: []registrar.Backend{
		{Name: "first", Registrar: queue{next: hangs}}, {Name: "second", Registrar: queue{next: last}},
	}}
	time.AfterFunc(30*time.Second, cancel) // ends a broken run
	if err := m.Read(ctx); err == nil || err.Error() != "read the messages of registrar first: context canceled" || !read {
		t.Errorf("got %v; the second queue was read: %t", err, read)
	}
}
