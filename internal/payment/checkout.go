package payment

import (
	"context"
	"errors"
	"fmt"

	"deed.example/deed"
)

// Checkout returns a checkout for one request. The authorization is nil when
// the caller offered none.
func (s *Service) Checkout(a *deed.Authorization) deed.Checkout { return &checkout{s, a} }

// Known says whether the authorization was accepted before. Asking again for
// what was paid for is free, and counts nowhere.
func (s *Service) Known(ctx context.Context, a *deed.Authorization) (bool, error) {
	if a == nil {
		return false, nil
	}
	_, err := s.Store.Payment(ctx, s.id(a))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// Find returns the payment with the ID, or the one it is an alias of.
func (s *Service) Find(ctx context.Context, id string) (deed.Payment, error) {
	p, err := s.Store.Payment(ctx, id)
	if err == nil && p.AliasOf != "" {
		return s.Store.Payment(ctx, p.AliasOf)
	}
	return p, err
}

func (s *Service) id(a *deed.Authorization) string {
	return a.PaymentID(s.Terms.ChainID, s.Terms.Asset)
}

type checkout struct {
	s    *Service
	auth *deed.Authorization
}

// Resume implements deed.Checkout.
func (c *checkout) Resume(ctx context.Context, want deed.Purchase) (deed.Payment, bool, error) {
	if c.auth == nil {
		return deed.Payment{}, false, nil
	}
	p, err := c.s.Store.Payment(ctx, c.s.id(c.auth))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("look for an earlier try: %w", err)
	}
	p, err = c.goOn(ctx, p, want)
	return p, true, err
}

// Collect implements deed.Checkout.
func (c *checkout) Collect(ctx context.Context, q deed.Quote, want deed.Purchase) (deed.Payment, error) {
	if err := c.s.Reserve.Enough(); err != nil {
		return deed.Payment{}, err
	}
	if c.auth == nil {
		return deed.Payment{}, &deed.Error{Code: deed.CodePaymentRequired, Message: fmt.Sprintf("%s costs %s USDC", q.For, q.Amount), Hint: capHint}
	}
	if !q.Accepts(c.auth.Amount) {
		return deed.Payment{}, deed.Errorf(deed.CodePaymentInvalid, "%s costs %s USDC, neither less nor more", q.For, q.Amount)
	}
	if err := c.s.Settler.Check(ctx, *c.auth); err != nil {
		return deed.Payment{}, fmt.Errorf("check the payment: %w", err)
	}
	p, err := c.s.Store.AuthorizePayment(ctx, deed.Payment{ID: c.s.id(c.auth), Auth: *c.auth, Purchase: want})
	if err != nil {
		return p, fmt.Errorf("authorize the payment: %w", err)
	}
	return c.goOn(ctx, p, want)
}

// capHint is for clients that refuse to pay more than a dollar by themselves.
const capHint = "pay with an x402 client (version 1 or 2); most refuse more than 1.00 USDC (version 1: 0.10) until you raise their cap"

// goOn takes a known payment as far as it goes, provided that it was given for
// this very purchase. Its outcome being open is not an error here: the payment
// returned says so.
func (c *checkout) goOn(ctx context.Context, p deed.Payment, want deed.Purchase) (deed.Payment, error) {
	if p.Auth.Amount != c.auth.Amount || p.Auth.PayTo != c.auth.PayTo || p.Purchase.Fingerprint() != want.Fingerprint() {
		return p, deed.Errorf(deed.CodePaymentInvalid, "this payment was given for another request")
	}
	if p.AliasOf != "" {
		p.ID = p.AliasOf
	}
	p, err := c.s.Advance(ctx, p.ID)
	if err != nil && !errors.Is(err, deed.ErrPending) {
		return p, err
	}
	if p.State == deed.PaymentVoid {
		return p, deed.Errorf(deed.CodePaymentInvalid, "this payment is void and nothing was charged: sign a new one")
	}
	return p, nil
}
