package fulfil

import (
	"context"
	"sync"
	"time"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A request waits for an earlier one with the same payment.
const (
	firstArrivalPoll = 50 * time.Millisecond // until it looks whether that has stored the payment; doubled each time
	arrivalTimeout   = 10 * time.Second
)

// Arrive is Known for a request that is counted against a limit unless its payment is
// accepted. Of requests that come at once with the same payment, the first is New; the
// others wait until it has stored the payment, or has ended, and are not counted then.
// Call end when the request has ended.
func (s *Service) Arrive(ctx context.Context, a *settle.Authorization) (known Known, end func(), err error) {
	if a == nil {
		return New, func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, arrivalTimeout)
	defer cancel()
	key := s.id(a) + " " + order.Payment{Auth: *a}.SignatureKey()
	for interval := firstArrivalPoll; ; interval *= 2 {
		end, other := s.arriving.begin(key)
		known, err = s.Known(ctx, a)
		switch {
		case err != nil || known != New:
			end()
			return known, func() {}, err
		case other == nil:
			return New, end, nil
		}
		select {
		case <-other:
		case <-time.After(interval):
		case <-ctx.Done():
			return New, func() {}, nil // it is counted
		}
	}
}

// arriving are the requests in progress whose payment was new.
type arriving struct {
	mu    sync.Mutex
	first map[string]chan struct{} // by payment and signature, closed at the end; guarded by mu
}

// begin makes a request the first with its payment, until end is called. If there is one
// already, it returns what is closed at its end.
func (a *arriving) begin(key string) (end func(), other <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first, ok := a.first[key]; ok {
		return func() {}, first
	}
	if a.first == nil {
		a.first = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	a.first[key] = done
	return func() { a.end(key, done) }, nil
}

func (a *arriving) end(key string, done chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.first, key)
	close(done)
}
