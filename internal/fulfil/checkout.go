package fulfil

import (
	"context"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// Checkout returns a checkout for one request. The authorization is nil if the
// request has none; signedIn is the wallet of its access token, or ""; isNew says that
// Known has just reported the payment as New.
func (s *Service) Checkout(a *settle.Authorization, signedIn deed.Wallet, isNew bool) order.Checkout {
	return &checkout{s, a, signedIn, isNew}
}

// Find returns the payment with the ID, or the one it is an alias of.
func (s *Service) Find(ctx context.Context, id string) (order.Payment, error) {
	p, err := s.Store.Payment(ctx, id)
	if err == nil && p.AliasOf != "" {
		return s.Store.Payment(ctx, p.AliasOf)
	}
	return p, err
}

func (s *Service) id(a *settle.Authorization) string {
	return a.PaymentID(s.Terms.ChainID, s.Terms.Asset)
}

type checkout struct {
	s        *Service
	auth     *settle.Authorization
	signedIn deed.Wallet
	isNew    bool // the payment was just looked up, and was not found
}

// Resume implements order.Checkout. Only the original signature proves that the
// caller made the payment: payer and nonce are public.
func (c *checkout) Resume(ctx context.Context, want order.Purchase) (order.Payment, bool, error) {
	if c.auth == nil || c.isNew {
		c.isNew = false // from now on it may be there
		return order.Payment{}, false, nil
	}
	p, err := c.s.Store.Payment(ctx, c.s.id(c.auth))
	if deed.CodeOf(err) == deed.CodeNotFound {
		return order.Payment{}, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("look up an earlier request: %w", err)
	}
	if !p.SignedBy(c.auth.Signature) {
		return order.Payment{}, false, nil
	}
	p, err = c.proceed(ctx, p, want)
	return p, true, err
}

// Collect implements order.Checkout.
func (c *checkout) Collect(ctx context.Context, q order.Quote, want order.Purchase) (order.Payment, error) {
	if err := c.s.Reserve.Enough(); err != nil {
		return order.Payment{}, err
	}
	if err := c.admitted(ctx); err != nil {
		return order.Payment{}, err
	}
	if c.auth == nil {
		return order.Payment{}, &deed.Error{Code: deed.CodePaymentRequired, Message: fmt.Sprintf("%s costs %s USDC", q.For, q.Amount), Next: deed.Next{Action: deed.ActionPay}}
	}
	if !q.Accepts(c.auth.Amount) {
		return order.Payment{}, c.wrongAmount(ctx, q)
	}
	open, err := c.s.Store.OpenNonces(ctx, c.auth.Payer)
	if err != nil {
		return order.Payment{}, fmt.Errorf("read the open payments of %s: %w", c.auth.Payer, err)
	}
	p, opened, err := c.checkAndAuthorize(ctx, want, open)
	if len(opened) > 0 {
		p, _, err = c.checkAndAuthorize(ctx, want, opened)
	}
	if errors.Is(err, settle.ErrNoFunds) {
		return c.joinOpen(ctx, want, err)
	}
	return p, err
}

// checkAndAuthorize checks the authorization on the chain, stores the payment and advances
// it. A check without open nonces has not read the whole balance: if the payer has opened
// payments since, it stores nothing and returns their nonces.
func (c *checkout) checkAndAuthorize(ctx context.Context, want order.Purchase, open []string) (p order.Payment, opened []string, err error) {
	funds, err := c.s.Verifier.Check(ctx, *c.auth, open)
	if errors.Is(err, settle.ErrAlreadyPaid) {
		p, err = c.collectPaid(ctx, want)
		return p, nil, err
	}
	if err != nil {
		return order.Payment{}, nil, fmt.Errorf("check the payment: %w", err)
	}
	refused := c.s.Reverts.admit(ctx, c.s.Verifier, c.auth.Payer)
	p, err = c.authorize(ctx, want, func(who order.Payer) error {
		opened = nil // of an earlier run of the transaction
		if refused != nil && !who.Alias {
			return refused
		}
		if len(open) == 0 && len(who.Open) > 0 {
			for _, o := range who.Open {
				opened = append(opened, o.Nonce)
			}
			return errors.New("the payer has opened another payment meanwhile")
		}
		return who.Admit(funds, c.auth.Payer, c.auth.Amount, c.s.Terms.MaxOpen, c.s.Now())
	})
	if err == nil {
		opened = nil
	}
	return p, opened, err
}

// joinOpen returns the open payment of the payer for the same purchase, which may have
// taken the money that this one lacks: a client that has lost its answer signs again.
// Without one it returns the error.
func (c *checkout) joinOpen(ctx context.Context, want order.Purchase, none error) (order.Payment, error) {
	return c.authorize(ctx, want, func(who order.Payer) error {
		if !who.Alias {
			return none
		}
		return who.Admit(settle.Funds{}, c.auth.Payer, c.auth.Amount, c.s.Terms.MaxOpen, c.s.Now())
	})
}

// admitted fails when operators do not let this wallet buy, or nobody.
func (c *checkout) admitted(ctx context.Context) error {
	payer := c.signedIn
	if c.auth != nil {
		payer = c.auth.Payer
	}
	return c.s.admitted(ctx, payer)
}

func (s *Service) admitted(ctx context.Context, payer deed.Wallet) error {
	if s.Admit == nil {
		return nil
	}
	return s.Admit(ctx, payer)
}

// wrongAmount returns the error for an authorization of another amount than the price.
// One that bought something is not offered another payment: after a restore its
// signature may be missing in our database, and the price may have changed since.
func (c *checkout) wrongAmount(ctx context.Context, q order.Quote) error {
	p, err := c.s.Store.Payment(ctx, c.s.id(c.auth))
	switch {
	case err == nil && p.Purchase.Kind != order.PurchaseNothing && !p.State.EndedUnpaid():
		return errOtherSignature
	case err != nil && deed.CodeOf(err) != deed.CodeNotFound:
		return fmt.Errorf("look up the payment: %w", err)
	}
	return &deed.Error{Code: deed.CodePaymentInvalid, Message: fmt.Sprintf("%s costs %s USDC, neither less nor more", q.For, q.Amount), Err: order.ErrWrongAmount}
}

// errOtherSignature is the error for an authorization that we have under another
// signature. Its payer must not be asked to pay again.
var errOtherSignature = &deed.Error{
	Code: deed.CodePaymentInvalid, Err: order.ErrNoOffer,
	Message: "this authorization was given before with another signature: repeat the request exactly as it was",
}

// authorize stores the payment and advances it.
func (c *checkout) authorize(ctx context.Context, want order.Purchase, admit func(order.Payer) error) (order.Payment, error) {
	p, err := c.s.Store.AuthorizePayment(ctx, order.Payment{ID: c.s.id(c.auth), Source: order.SourceX402Exact, Auth: *c.auth, Purchase: want, State: order.PaymentSettling}, admit)
	if err != nil {
		return p, fmt.Errorf("authorize the payment: %w", err)
	}
	if p.Purchase.Kind == order.PurchaseNothing {
		return c.collectPaid(ctx, want) // its transfer was found in between
	}
	return c.proceed(ctx, p, want)
}

// collectPaid handles an authorization whose transfer preceded the request. It is
// public on the chain by then, so it can be used only by its payer, signed in; in
// any other case the transfer is refunded, and after that the payer may pay again.
func (c *checkout) collectPaid(ctx context.Context, want order.Purchase) (order.Payment, error) {
	p, err := c.s.Store.Payment(ctx, c.s.id(c.auth))
	known := err == nil
	if err != nil && deed.CodeOf(err) != deed.CodeNotFound {
		return p, fmt.Errorf("look up the payment: %w", err)
	}
	switch {
	case known && p.Purchase.Kind != order.PurchaseNothing:
		return order.Payment{}, errOtherSignature
	case known && p.State == order.PaymentRefunded:
		return order.Payment{}, deed.Errorf(deed.CodePaymentInvalid, "this authorization was used on the chain before it came with a request, and its money went back to %s: sign a new one", c.auth.Payer)
	case c.signedIn != c.auth.Payer || known && p.State != order.PaymentUnclaimed:
		return order.Payment{}, c.goesBack()
	case known:
		p, err = c.s.Books.ClaimPayment(ctx, order.Payment{ID: p.ID, Source: order.SourceX402Exact, Auth: *c.auth, Purchase: want}, order.Placed{})
		if errors.Is(err, settle.ErrAlreadyPaid) || err == nil && p.Purchase.Kind == order.PurchaseNothing {
			return order.Payment{}, c.goesBack()
		}
		if err != nil {
			return p, fmt.Errorf("claim the payment: %w", err)
		}
		return c.proceed(ctx, p, want)
	}
	return c.authorize(ctx, want, func(order.Payer) error { return nil }) // already paid
}

// goesBack returns the error for an authorization that was already used on the
// chain: the caller must not pay again, and the transfer is refunded.
func (c *checkout) goesBack() error {
	return &deed.Error{
		Code:    deed.CodeUnavailable,
		Message: fmt.Sprintf("this authorization was used on the chain before it came with a request, so its money goes back to %s: do not pay again before it is there", c.auth.Payer),
		Next:    deed.Next{Action: deed.ActionClaimPayment, Wallet: c.auth.Payer, Within: c.s.Terms.ClaimWindow},
		Retry:   time.Minute,
		Err:     errors.Join(order.ErrPending, settle.ErrAlreadyPaid),
	}
}

// proceed advances a known payment as far as possible, provided that it belongs to
// this purchase. A pending outcome is not an error here: the state of the returned
// payment shows it.
func (c *checkout) proceed(ctx context.Context, p order.Payment, want order.Purchase) (order.Payment, error) {
	if p.Auth.Amount != c.auth.Amount || p.Auth.PayTo != c.auth.PayTo || p.Fingerprint != want.Fingerprint() {
		return p, &deed.Error{Code: deed.CodePaymentInvalid, Message: "this payment was given for another request", Err: order.ErrOtherRequest}
	}
	defer c.s.working.begin(p.ID)()
	alias, err := p.AliasOf != "", error(nil)
	if alias {
		p, err = c.s.Store.Payment(ctx, p.AliasOf)
	}
	if err == nil && !waits(p) {
		p, err = c.s.advance(ctx, p)
	}
	if err != nil && !errors.Is(err, order.ErrPending) {
		return p, err
	}
	if alias && p.State.EndedUnpaid() {
		if err := c.checkUnused(ctx); err != nil {
			return p, err
		}
	}
	switch p.State {
	case order.PaymentVoid:
		return p, deed.Errorf(deed.CodePaymentInvalid, "this payment is void and nothing was charged: sign a new one")
	case order.PaymentReleased:
		return p, deed.Errorf(deed.CodePaymentInvalid, "this payment could not be settled and was given up: have the money in the wallet, and sign a new one")
	}
	return p, nil
}

// waits reports whether the payment is left to the worker, which tries again at growing
// intervals: it could not be settled or refunded, which is known at once, and requests
// with a known payment are not counted.
func waits(p order.Payment) bool {
	return p.Tries > 0 && (p.State == order.PaymentRefunding || !p.StuckAt.IsZero())
}

// checkUnused fails when the authorization of an alias was used on the chain, or may
// have been. We do not settle an alias, but its payer or a third party can: then its
// transfer is refunded, and the payer must not be asked to pay again.
func (c *checkout) checkUnused(ctx context.Context) error {
	_, err := c.s.Verifier.Check(ctx, *c.auth, nil)
	switch {
	case errors.Is(err, settle.ErrAlreadyPaid):
		return c.goesBack()
	case err != nil && !settle.Refused(err):
		return order.Pending(fmt.Errorf("check the payment: %w", err))
	}
	return nil
}
