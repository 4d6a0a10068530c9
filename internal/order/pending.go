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

// aliasesPerPayment is how often, times the limit of open payments, one that is
// open may be signed anew by a client that lost its answer.
const aliasesPerPayment = 4

// Admit says whether the payer may open another payment of the amount: there must
// be money for it and for all that is open and not yet used, as of the block at
// which the balance was read, and no more than limit payments in all. It fails
// with CodePaymentInsufficient or CodeRateLimited.
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

// ErrPending is in the chain of every error that means "the outcome of the
// payment is not known yet". Its caller repeats the request and signs nothing
// new: whoever pays again may pay twice.
var ErrPending = errors.New("settlement pending")

// ErrNoOffer is in the chain of a CodePaymentInvalid after which a caller must not
// be offered to pay again.
var ErrNoOffer = errors.New("nothing is offered")

// Pending returns an Error for a payment whose settlement is open because of
// cause.
func Pending(cause error) error {
	return &deed.Error{
		Code:    deed.CodeUnavailable,
		Message: "the payment is being settled: repeat this request with the same payment, do not pay again",
		Retry:   2 * time.Second,
		Err:     &pending{cause},
	}
}

// pending is ErrPending with why.
type pending struct{ cause error }

func (e *pending) Error() string { return fmt.Sprintf("%v: %v", ErrPending, e.cause) }

func (e *pending) Unwrap() []error { return []error{ErrPending, e.cause} }

// ids are the parts of a message that differ from payment to payment.
var ids = regexp.MustCompile(`(pay|job)_[0-9a-f]+|0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b`)

// maxCause bounds what is stored and logged of a cause.
const maxCause = 300 // bytes

// WaitingFor returns why something waits, in words that are the same for all that
// wait for the same reason.
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
