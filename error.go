package deed

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A Code is the machine-readable reason of a failed request. The set is closed: it
// is the error table of the interface document, and each code has exactly one HTTP
// status.
type Code string

// The codes, in the order of the interface document, section 7.
const (
	CodeValidation          Code = "VALIDATION_ERROR"
	CodeTLDNotSupported     Code = "TLD_NOT_SUPPORTED"
	CodeTooExpensive        Code = "DOMAIN_TOO_EXPENSIVE"
	CodeAuthRequired        Code = "AUTH_REQUIRED"
	CodeTokenExpired        Code = "TOKEN_EXPIRED"
	CodeTokenInvalid        Code = "TOKEN_INVALID"
	CodePaymentRequired     Code = "PAYMENT_REQUIRED"
	CodePaymentInvalid      Code = "PAYMENT_INVALID"
	CodePaymentInsufficient Code = "PAYMENT_INSUFFICIENT"
	CodeOwnershipDenied     Code = "OWNERSHIP_DENIED"
	CodeNotFound            Code = "NOT_FOUND"
	CodeDomainUnavailable   Code = "DOMAIN_UNAVAILABLE"
	CodeRateLimited         Code = "RATE_LIMITED"
	CodeRegistrationFailed  Code = "REGISTRATION_FAILED"
	CodeDNS                 Code = "DNS_ERROR"
	CodeUnavailable         Code = "SERVICE_UNAVAILABLE"
)

// An Error is a failure that the caller may see. Every other error is internal: it
// is logged, and the caller only learns that the service is unavailable.
type Error struct {
	Code    Code
	Message string        // one sentence for a human reader, no secrets
	Hint    string        // how to correct the request, in words that hold for every adapter; may be empty
	Next    Next          // what to do next; the adapter words it, in place of Hint
	Details []Detail      // which parts of the input are wrong; may be empty
	Retry   time.Duration // when to try again; zero when waiting does not help
	Limit   int           // the maximum, for a CodeRateLimited that does not count requests
	Err     error         // the cause, for the log; may be nil
}

// A Detail says what is wrong with one part of a request.
type Detail struct {
	Field  string // as the caller wrote it: "domain", "dns_records[2].ttl"
	Reason string
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with the given code and message.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid returns a CodeValidation about one field of the input.
func Invalid(field, format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	return &Error{Code: CodeValidation, Message: field + ": " + reason, Details: []Detail{{field, reason}}}
}

// RateLimited returns a CodeRateLimited for a caller that is at a maximum and must wait. The
// message says for how many seconds (interface document, chapter 7).
func RateLimited(wait time.Duration, limit int, format string, args ...any) error {
	wait = (max(wait, time.Second) + time.Second - 1).Truncate(time.Second) // rounded up, so that a retry after it is allowed
	message := fmt.Sprintf("%s: wait %d seconds", fmt.Sprintf(format, args...), int(wait.Seconds()))
	return &Error{Code: CodeRateLimited, Message: message, Retry: wait, Limit: limit}
}

// CodeOf returns the code of the first Error in err's chain, CodeUnavailable
// when there is none, and "" when err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeUnavailable
}

// Within returns err with its details moved below a field, for a part of a larger
// request: "ttl" of the third change is "changes[2].ttl".
func Within(field string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	moved := *e
	moved.Message = field + ": " + e.Message
	moved.Details = append([]Detail(nil), e.Details...)
	for i := range moved.Details {
		moved.Details[i].Field = field + "." + moved.Details[i].Field
	}
	return &moved
}

// Quoted returns a caller's text for a message: escaped, so that it cannot be
// mistaken for the service's own text, and truncated if it is long.
func Quoted(s string) string {
	const limit = 64
	if len(s) > limit {
		return strconv.QuoteToASCII(s[:limit]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
