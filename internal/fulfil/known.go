package fulfil

import (
	"context"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// Known is what is known of the payment of a request.
type Known int

const (
	New      Known = iota // it has not come before
	Rejected              // it came before, and this request gets nothing for it
	Accepted              // it was accepted: repeating the request is free and not rate limited
)

// Known looks up whether the payment of a request came before. One that ended without a
// transfer is not accepted, since such a request starts over; nor is an alias of it.
func (s *Service) Known(ctx context.Context, a *settle.Authorization) (Known, error) {
	if a == nil {
		return New, nil
	}
	p, err := s.Store.Payment(ctx, s.id(a))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return New, nil
	}
	signed := p.SignedBy(a.Signature)
	if err == nil && signed && p.AliasOf != "" {
		p, err = s.Store.Payment(ctx, p.AliasOf)
	}
	if err == nil && signed && !p.State.EndedUnpaid() {
		return Accepted, nil
	}
	return Rejected, err
}
