package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// An Error is an error response of the service.
type Error struct {
	Status     int    // HTTP status; 200 for a failed job, and for a page of a proxy
	Code       string // one of the codes above; "" if a proxy responded
	Title      string
	Message    string
	Hint       string   // what to do next, in the words of HTTP
	Next       api.Next // what to do next, for programs
	Details    []api.Detail
	RequestID  string
	DocURL     string // where the service explains the code; may be ""
	RetryAfter time.Duration

	Offer  *Offer      // of a 402
	JobID  string      // of a failed order
	Refund *api.Refund // of a failed order
}

// Error returns the message, prefixed with the code.
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

// CodeOf returns the code of err, or "" if it is not an error of the service.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// An OverCap is the error for an offer above the user's limit. Nothing was
// signed.
type OverCap struct {
	Offer Offer
	Cap   USDC
}

// Error returns a message with both amounts.
func (e *OverCap) Error() string {
	return fmt.Sprintf("it costs %s USDC and at most %s may be paid", e.Offer.Price, e.Cap)
}

// An Unknown is the error for a payment whose outcome was not known when the
// context was done. It is in the Journal: the same call repeats it, and pays
// nothing more.
type Unknown struct {
	Payment string // the value of PAYMENT-SIGNATURE
	Err     error  // of the last attempt
}

// Error returns a message that says what to do.
func (e *Unknown) Error() string {
	return fmt.Sprintf("the payment was sent and what became of it is not known; make the same call again, it does not pay twice: %v", e.Err)
}

// Unwrap returns the error of the last attempt.
func (e *Unknown) Unwrap() error { return e.Err }

// err returns the error of an error response, or nil.
func (a answer) err() error {
	if a.status < 300 {
		return nil
	}
	e := &Error{Status: a.status, RequestID: a.header.Get("X-Request-Id"), Next: api.ParseNext(a.header.Get(api.NextHeader))}
	if n, err := strconv.ParseUint(a.header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(n) * time.Second
	}
	var in api.FailedOrder
	if err := json.Unmarshal(a.body, &in); err != nil || in.Code == "" {
		return e // the body is not from the service
	}
	said := in.Error
	e.Code, e.Title, e.Message, e.Hint, e.Details, e.JobID = said.Code, said.Error, said.Message, said.Hint, said.Details, in.JobID
	e.DocURL = said.DocURL
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

// foreign returns the error of a success that is not from the service, such as a page of a
// proxy, or nil.
func (a answer) foreign() error {
	if a.status < 300 && !jsontext.Value(a.body).IsValid() {
		return &Error{Status: a.status, Message: "the body is not JSON"}
	}
	return nil
}
