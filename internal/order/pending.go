package order

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deed.example/deed"
)

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
