package order

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deed.example/deed"
)

// ErrPending is wrapped by every error that means "the outcome of the payment is not
// known yet". The caller must repeat the request with the same payment: signing a
// new one could pay twice.
var ErrPending = errors.New("settlement pending")

// ErrOtherRequest is wrapped by a CodePaymentInvalid error for a payment that was accepted
// with another request.
var ErrOtherRequest = errors.New("the payment belongs to another request")

// ErrNoOffer is wrapped by a CodePaymentInvalid error after which the caller must
// not be offered to pay again.
var ErrNoOffer = errors.New("no payment is offered")

// ErrWrongAmount is wrapped by a CodePaymentInvalid error about a payment of another amount
// than the price.
var ErrWrongAmount = errors.New("it is not the price")

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
