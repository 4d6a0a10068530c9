package fulfil

import (
	"context"
	"errors"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// UseMandate buys a renewal with a mandate that is due, as Buy does. It fails with
// order.CapTooLow, with order.ErrMandateIdle, with settle.ErrSpent when the
// authorization was used in another way, and as Buy does. Until its payment is stored,
// nothing is written.
func (s *Service) UseMandate(ctx context.Context, m order.Mandate, p order.Purchase) error {
	_, err := s.Buy(ctx, order.Request{Purchase: p}, &mandateCheckout{s, m})
	return err
}

// CheckMandate checks an authorization whose time has not come (see
// settle.MandateVerifier).
func (s *Service) CheckMandate(ctx context.Context, a settle.Authorization) error {
	v, err := s.mandateVerifier()
	if err != nil {
		return err
	}
	_, err = s.Store.Payment(ctx, s.id(&a))
	switch {
	case err == nil:
		return &deed.Error{Code: deed.CodePaymentInvalid, Message: "this authorization was given for another payment: sign one with a new nonce", Err: settle.ErrSpent}
	case deed.CodeOf(err) != deed.CodeNotFound:
		return fmt.Errorf("look up a payment with its nonce: %w", err)
	}
	return v.CheckSigned(ctx, a)
}

func (s *Service) mandateVerifier() (settle.MandateVerifier, error) {
	if v, ok := s.Verifier.(settle.MandateVerifier); ok {
		return v, nil
	}
	return nil, deed.Errorf(deed.CodeUnavailable, "this deployment takes no mandates: renew the name when it is due")
}

// mandateCheckout collects the price of a renewal by its mandate.
type mandateCheckout struct {
	s *Service
	m order.Mandate
}

// Resume implements order.Checkout. A payment with the nonce of a mandate that is still
// active came in another way: its owner submitted it, or paid something else with it.
func (c *mandateCheckout) Resume(ctx context.Context, _ order.Purchase) (order.Payment, bool, error) {
	p, err := c.s.Store.Payment(ctx, c.s.id(&c.m.Auth))
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return p, false, nil
	case err != nil:
		return p, false, fmt.Errorf("look up the payment of the mandate: %w", err)
	case p.Source != order.SourceMandate:
		return p, true, fmt.Errorf("its authorization was used in another way: %w", settle.ErrSpent)
	}
	p, err = c.advance(ctx, p)
	return p, true, err
}

// Collect implements order.Checkout. The price of today is stored with the payment: the
// change is computed from it when the renewal is delivered.
func (c *mandateCheckout) Collect(ctx context.Context, q order.Quote, want order.Purchase) (order.Payment, error) {
	if err := c.s.admitted(ctx, c.m.Owner); err != nil {
		return order.Payment{}, err
	}
	if err := c.s.Reserve.Enough(); err != nil {
		return order.Payment{}, err
	}
	if q.Amount > c.m.Auth.Amount {
		return order.Payment{}, &order.CapTooLow{Price: q.Amount}
	}
	v, err := c.s.mandateVerifier()
	if err != nil {
		return order.Payment{}, err
	}
	if err := c.s.Reverts.admit(ctx, c.s.Verifier, c.m.Owner); err != nil {
		return order.Payment{}, err
	}
	open, err := c.s.Store.OpenNonces(ctx, c.m.Owner)
	if err != nil {
		return order.Payment{}, fmt.Errorf("read the open payments of %s: %w", c.m.Owner, err)
	}
	funds, err := v.CheckDue(ctx, c.m.Auth, open)
	if errors.Is(err, settle.ErrAlreadyPaid) {
		return order.Payment{}, fmt.Errorf("%w: %w", settle.ErrSpent, err) // the watcher refunds it
	}
	if err != nil {
		return order.Payment{}, fmt.Errorf("check the mandate: %w", err)
	}
	want.Facts.Price = q.Amount
	p := order.Payment{ID: c.s.id(&c.m.Auth), Source: order.SourceMandate, Auth: c.m.Auth, Purchase: want, MandateID: c.m.ID, State: order.PaymentSettling}
	p, err = c.s.Store.AuthorizePayment(ctx, p, func(who order.Payer) error {
		return who.Admit(funds, c.m.Owner, c.m.Auth.Amount, c.s.Terms.MaxOpen, c.s.Now())
	})
	if err != nil {
		return p, fmt.Errorf("authorize the payment: %w", err)
	}
	c.s.step("mandate taken")
	return c.advance(ctx, p)
}

// advance settles the payment. A pending outcome is left to the worker.
func (c *mandateCheckout) advance(ctx context.Context, p order.Payment) (order.Payment, error) {
	p, err := c.s.Advance(ctx, p.ID)
	if err != nil && !errors.Is(err, order.ErrPending) {
		return p, err
	}
	return p, nil
}
