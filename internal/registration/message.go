package registration

import (
	"context"
	"fmt"
	"log/slog"

	"deed.example/deed/internal/registrar"
)

// MessageStore stores the messages of registries.
type MessageStore interface {
	// StoreMessage stores the message, once, and makes the name that it is about due,
	// with its open order.
	StoreMessage(ctx context.Context, backend string, m registrar.Message) error
}

// Messages reads what registries have to say. Fill every field.
type Messages struct {
	Backends []registrar.Backend
	Store    MessageStore
	Log      *slog.Logger
}

// maxMessages is how many messages of one registry are read at a time, so that a queue
// without an end does not keep the others from being read again.
const maxMessages = 100

// Read reads the queue of every registry that has one, all of them at once. Each message is
// stored before it is acknowledged. What a message says is not believed: the name is looked
// up.
func (m *Messages) Read(ctx context.Context) error {
	return registrar.AtOnce(m.Backends, func(b registrar.Backend) error {
		queue, ok := b.Registrar.(registrar.MessageQueue)
		if !ok {
			return nil
		}
		if err := m.readQueue(ctx, b.Name, queue); err != nil {
			return fmt.Errorf("read the messages of registrar %s: %w", b.Name, err)
		}
		return nil
	})
}

func (m *Messages) readQueue(ctx context.Context, backend string, queue registrar.MessageQueue) error {
	for range maxMessages {
		more, err := queue.NextMessage(ctx, func(ctx context.Context, msg registrar.Message) error {
			if err := m.Store.StoreMessage(ctx, backend, msg); err != nil {
				return err
			}
			m.Log.Info("message of a registry", "registrar", backend, "id", msg.ID, "kind", string(msg.Kind), "domain", string(msg.Name))
			return nil
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}
