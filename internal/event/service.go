package event

import (
	"context"
	"fmt"

	"deed.example/deed"
)

// Store reads events.
type Store interface {
	// Events returns at most limit events of the owner after number n, in order.
	Events(ctx context.Context, owner deed.Wallet, n int64, limit int) ([]Event, error)
}

// Service reads events for their owners. Fill every field.
type Service struct {
	Store Store
	Pause func(ctx context.Context) error // between two reads of a stream; fails when ctx is done
}

// MaxPage is the maximum length of a page of events.
const MaxPage = 100

// List returns a page of the owner's events after number n, and whether there are
// more.
func (s *Service) List(ctx context.Context, owner deed.Wallet, n int64, limit int) (page []Event, more bool, err error) {
	page, err = s.Store.Events(ctx, owner, n, limit+1)
	if err != nil {
		return nil, false, fmt.Errorf("read the events of %s: %w", owner, err)
	}
	if len(page) > limit {
		return page[:limit], true, nil
	}
	return page, false, nil
}

// Follow calls send with the owner's events after number n, and with each new one,
// until ctx is done or send fails. After each read it calls send with nil, so that
// send can notice that it should stop.
func (s *Service) Follow(ctx context.Context, owner deed.Wallet, n int64, send func(*Event) error) error {
	for {
		page, err := s.Store.Events(ctx, owner, n, MaxPage)
		if err != nil {
			return fmt.Errorf("read the events of %s: %w", owner, err)
		}
		for i := range page {
			if err := send(&page[i]); err != nil {
				return err
			}
			n = page[i].N
		}
		if len(page) == MaxPage {
			continue
		}
		if err := send(nil); err != nil {
			return err
		}
		if err := s.Pause(ctx); err != nil {
			return err
		}
	}
}
