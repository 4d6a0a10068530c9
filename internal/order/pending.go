package order

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
)

// aliasesPerPayment, times the limit of open payments, is how often a client that
// lost its answer may sign an open payment again.
const aliasesPerPayment = 4

// Admit checks whether the payer may open another payment of the amount: the balance
// must cover it and all open payments whose nonce is unused, as of the block of the
// balance, and there may be at most limit of them. It fails with
// CodePaymentInsufficient or CodeRateLimited.
func (p Payer) Admit(f settle.Funds, w deed.Wallet, amount deed.USDC, limit int, now time.Time) error {
	if now.Before(p.RefusedUntil) {
		return &deed.Error{
			Code: deed.CodeRateLimited, Limit: MaxReverts,
			Message: fmt.Sprintf("payments of %s failed on the chain three times in a day: it can pay again after %s", w, p.RefusedUntil.UTC().Format(time.RFC3339)),
			Retry:   p.RefusedUntil.Sub(now),
		}
	}
	count, left := 1, f.Balance-amount
	for _, o := range p.Open {
		if !f.Used[o.Nonce] {
			count++
			left -= o.Amount
		}
	}
	switch {
	case count > limit, p.Aliases > aliasesPerPayment*limit:
		return &deed.Error{
			Code: deed.CodeRateLimited, Limit: limit,
			Message: fmt.Sprintf("%s has %d payments that are not settled yet, which is the limit: nothing was charged, try again when one of them has ended", w, limit),
			Retry:   5 * time.Second,
		}
	case left < 0:
		return deed.Errorf(deed.CodePaymentInsufficient, "the wallet %s has %s USDC, of which %s are promised in other payments, and %s are asked",
			w, f.Balance, f.Balance-amount-left, amount)
	}
	return nil
}

// ErrPending is wrapped by every error that means "the outcome of the payment is not
// known yet". The caller must repeat the request with the same payment: signing a
// new one could pay twice.
var ErrPending = errors.New("settlement pending")

// ErrNoOffer is wrapped by a CodePaymentInvalid error after which the caller must
// not be offered to pay again.
var ErrNoOffer = errors.New("no payment is offered")

// Pending returns an Error for a payment whose settlement is pending because of
// cause.
func Pending(cause error) error {
	return &deed.Error{
		Code:    deed.CodeUnavailable,
		Message: "the payment is being settled: repeat this request with the same payment, do not pay again",
		Retry:   2 * time.Second,
		Err:     &pending{cause},
	}
}

// pending is ErrPending with its cause.
type pending struct{ cause error }

func (e *pending) Error() string { return fmt.Sprintf("%v: %v", ErrPending, e.cause) }

func (e *pending) Unwrap() []error { return []error{ErrPending, e.cause} }

// ids matches the parts of a message that differ between payments.
var ids = regexp.MustCompile(`(pay|job)_[0-9a-f]+|0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b`)

// maxCause bounds the length of a stored or logged cause.
const maxCause = 300 // bytes

// WaitingFor returns the cause of a pending error as text without ids, so that it is
// the same for everything that waits for the same reason.
func WaitingFor(err error) string {
	if p, ok := errors.AsType[*pending](err); ok {
		err = p.cause
	}
	text := ids.ReplaceAllString(err.Error(), "…")
	if len(text) > maxCause {
		text = text[:maxCause]
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
