package chain

import (
	"context"
	"errors"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Cause says what stands in the way of those who wait.
func (s *Settler) Cause() (all error) {
	for _, l := range []*lane{s.payments, s.refunds} {
		l.mu.Lock()
		for _, w := range l.waiting {
			all = errors.Join(all, w.cause)
		}
		l.mu.Unlock()
	}
	return all
}

// Waiting says how many payments and refunds are waited for.
func (s *Settler) Waiting() (n int) {
	for _, l := range []*lane{s.payments, s.refunds} {
		l.mu.Lock()
		n += len(l.waiting)
		l.mu.Unlock()
	}
	return n
}

// ProbeAfter makes the client probe its endpoints sooner.
func (c *Client) ProbeAfter(d time.Duration) { c.endpoints.pause.Store(int64(d)) }

// Span is how many blocks one question for logs spans now.
func (s *Settler) Span() uint64 { return s.span.blocks() }

// HasCode says which accounts have code.
func (c *Client) HasCode(ctx context.Context, accounts []common.Address) ([]bool, error) {
	return c.hasCode(ctx, accounts)
}

// ForgetFees makes the settler ask for the fees anew.
func (s *Settler) ForgetFees() {
	s.feeCache.mu.Lock()
	defer s.feeCache.mu.Unlock()
	s.feeCache.tip, s.feeCache.base = nil, nil
}
