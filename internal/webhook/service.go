package webhook

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
)

// Store stores webhooks. A webhook of another wallet is CodeNotFound.
type Store interface {
	// Create stores a webhook, unless its owner has MaxPerWallet already, or has neither
	// a name nor a paid order.
	Create(ctx context.Context, w Webhook) (Webhook, error)

	// List returns the webhooks of a wallet without secrets, oldest first.
	List(ctx context.Context, owner deed.Wallet) ([]Webhook, error)

	// Delete deletes a webhook and its deliveries.
	Delete(ctx context.Context, owner deed.Wallet, id string) error

	// Rotate replaces the secret; the previous one also signs until the given time.
	Rotate(ctx context.Context, owner deed.Wallet, id string, secret deed.Secret, until time.Time) (Webhook, error)
}

// Deliveries stores what was sent and what will be. A webhook of another wallet is
// CodeNotFound.
type Deliveries interface {
	// Page returns a page of the deliveries of a webhook, newest first, and their
	// total number.
	Page(ctx context.Context, owner deed.Wallet, id string, limit, offset int) ([]Delivery, int, error)

	// Test adds a test message. If one is pending already, it returns that one.
	Test(ctx context.Context, owner deed.Wallet, id string) (Delivery, error)

	// Replay makes a delivery pending again. One that is pending stays as it is. It
	// fails with CodeValidation if the webhook is off.
	Replay(ctx context.Context, owner deed.Wallet, id, eventID string) (Delivery, error)
}

// Service manages the webhooks of wallets. Fill every field.
type Service struct {
	Store      Store
	Deliveries Deliveries
	AllowLocal bool // http, and addresses that are not public: for a sandbox
	Now        func() time.Time
}

// Create adds a webhook for future events. Only Create and Rotate return its secret.
func (s *Service) Create(ctx context.Context, owner deed.Wallet, url string) (Webhook, error) {
	host, err := parseTarget(url, s.AllowLocal)
	if err != nil {
		return Webhook{}, err
	}
	w, err := s.Store.Create(ctx, Webhook{Owner: owner, URL: url, Host: host, Secret: newSecret(), Created: s.Now().Truncate(time.Second)})
	return w, wrap(err, "create a webhook of %s", owner)
}

// List returns the webhooks of a wallet without secrets, oldest first.
func (s *Service) List(ctx context.Context, owner deed.Wallet) ([]Webhook, error) {
	list, err := s.Store.List(ctx, owner)
	return list, wrap(err, "read the webhooks of %s", owner)
}

// Delete deletes a webhook and its pending deliveries.
func (s *Service) Delete(ctx context.Context, owner deed.Wallet, id string) error {
	return wrap(s.Store.Delete(ctx, owner, id), "delete webhook %s", deed.Quoted(id))
}

// Rotate gives a webhook a new secret. For a day, messages are signed with both, so
// that there is time to update the receiver.
func (s *Service) Rotate(ctx context.Context, owner deed.Wallet, id string) (Webhook, error) {
	w, err := s.Store.Rotate(ctx, owner, id, newSecret(), s.Now().Add(oldSecretTTL))
	return w, wrap(err, "rotate the secret of webhook %s", deed.Quoted(id))
}

// Page returns a page of the deliveries of a webhook, newest first, and their total
// number.
func (s *Service) Page(ctx context.Context, owner deed.Wallet, id string, limit, offset int) ([]Delivery, int, error) {
	list, total, err := s.Deliveries.Page(ctx, owner, id, limit, offset)
	return list, total, wrap(err, "read the deliveries of webhook %s", deed.Quoted(id))
}

// Test sends a message of type TestType. If it is delivered, a disabled webhook is
// enabled again.
func (s *Service) Test(ctx context.Context, owner deed.Wallet, id string) (Delivery, error) {
	d, err := s.Deliveries.Test(ctx, owner, id)
	return d, wrap(err, "test webhook %s", deed.Quoted(id))
}

// Replay sends an event again, with the same id.
func (s *Service) Replay(ctx context.Context, owner deed.Wallet, id, eventID string) (Delivery, error) {
	d, err := s.Deliveries.Replay(ctx, owner, id, eventID)
	return d, wrap(err, "replay a delivery of webhook %s", deed.Quoted(id))
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
