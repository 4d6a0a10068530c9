package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// Codes of the interface document, chapter 7.
const (
	CodeValidation          = "VALIDATION_ERROR"
	CodeTLDNotSupported     = "TLD_NOT_SUPPORTED"
	CodeTooExpensive        = "DOMAIN_TOO_EXPENSIVE"
	CodeAuthRequired        = "AUTH_REQUIRED"
	CodeTokenExpired        = "TOKEN_EXPIRED"
	CodeTokenInvalid        = "TOKEN_INVALID"
	CodePaymentRequired     = "PAYMENT_REQUIRED"
	CodePaymentInvalid      = "PAYMENT_INVALID"
	CodePaymentInsufficient = "PAYMENT_INSUFFICIENT"
	CodeOwnershipDenied     = "OWNERSHIP_DENIED"
	CodeNotFound            = "NOT_FOUND"
	CodeDomainUnavailable   = "DOMAIN_UNAVAILABLE"
	CodeRateLimited         = "RATE_LIMITED"
	CodeRegistrationFailed  = "REGISTRATION_FAILED"
	CodeDNS                 = "DNS_ERROR"
	CodeUnavailable         = "SERVICE_UNAVAILABLE"
)

// An Error is what the service said instead of doing what was asked.
type Error struct {
	Status     int    // of HTTP; 200 for a job that failed
	Code       string // one of the codes above; "" when something between us and the service answered
	Title      string
	Message    string
	Hint       string // what to do next
	Details    []api.Detail
	RequestID  string
	RetryAfter time.Duration

	Offer  *Offer      // of a 402: what it would cost
	JobID  string      // of an order that failed
	Refund *api.Refund // of an order that failed
}

// Error returns the message with the code in front of it.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code == "" {
		return fmt.Sprintf("the service answered %d: %s", e.Status, text)
	}
	return e.Code + ": " + text
}

// CodeOf returns the code of err, or "" when the service did not make it.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// An OverCap is an offer that costs more than a person allowed. Nothing was
// signed.
type OverCap struct {
	Offer Offer
	Cap   USDC
}

// Error names both amounts.
func (e *OverCap) Error() string {
	return fmt.Sprintf("it costs %s USDC and at most %s may be paid", e.Offer.Price, e.Cap)
}

// An Unknown is a payment whose outcome was not known when the context ended. It
// is in the Journal: the same call repeats it, and pays nothing more.
type Unknown struct {
	Payment string // the value of PAYMENT-SIGNATURE
	Err     error  // what the last try met
}

// Error says what to do.
func (e *Unknown) Error() string {
	return fmt.Sprintf("the payment was sent and what became of it is not known; make the same call again, it does not pay twice: %v", e.Err)
}

// Unwrap returns what the last try met.
func (e *Unknown) Unwrap() error { return e.Err }

// err returns the error that an answer is, or nil.
func (a answer) err() error {
	if a.status < 300 {
		return nil
	}
	e := &Error{Status: a.status, RequestID: a.header.Get("X-Request-Id")}
	if n, err := strconv.ParseUint(a.header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(n) * time.Second
	}
	var in api.FailedOrder
	if err := json.Unmarshal(a.body, &in); err != nil || in.Code == "" {
		return e // not the service's own words
	}
	said := in.Error
	e.Code, e.Title, e.Message, e.Hint, e.Details, e.JobID = said.Code, said.Error, said.Message, said.Hint, said.Details, in.JobID
	if in.Refund.Status != "" {
		e.Refund = &in.Refund
	}
	if a.status == http.StatusPaymentRequired {
		if offer, err := a.offer(); err == nil {
			e.Offer = &offer
		}
	}
	return e
}
